"""Scores by the rubric, and the runs that all results rest on, as the report shows them."""
