"""Pairwise preferences: comparisons and Bradley–Terry strengths."""
