"""New arms for an existing study."""
