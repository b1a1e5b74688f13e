"""A study's data as tables with a dictionary."""
