"""Blocks for participants who are helped: they tell something, are answered, and say how it felt."""
