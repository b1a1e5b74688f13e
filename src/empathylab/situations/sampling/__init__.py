"""Balanced samples from sets of situations."""
