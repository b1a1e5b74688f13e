"""Cumulative link (ordinal) mixed models."""
