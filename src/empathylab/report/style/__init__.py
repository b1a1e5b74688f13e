"""The section on style."""
