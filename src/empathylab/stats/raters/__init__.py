"""Raters: whether arms had comparable ones, and declared exclusion rules."""
