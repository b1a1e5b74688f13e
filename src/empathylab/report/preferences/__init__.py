"""Whose replies people prefer, as the report shows it."""
