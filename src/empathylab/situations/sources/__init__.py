"""Situations, replies and ratings from published files and from tables of your own."""
