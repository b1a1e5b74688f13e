"""The section on ratings."""
