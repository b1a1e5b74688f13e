"""Preregistration: a study's plan before the data, and what was done differently."""
