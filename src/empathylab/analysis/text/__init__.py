"""Numbers and statistics as text: the one place where results are rounded."""
