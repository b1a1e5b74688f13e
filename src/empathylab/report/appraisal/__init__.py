"""The section on scales."""
