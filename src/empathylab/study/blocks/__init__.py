"""The block types of a study and what their pages accept."""
