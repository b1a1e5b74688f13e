"""Blocks for participants who are helped: they tell, are answered, and say how it felt."""
