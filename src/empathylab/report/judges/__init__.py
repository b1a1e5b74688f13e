"""The section on judges."""
