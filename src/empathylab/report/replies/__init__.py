"""The section on replies."""
