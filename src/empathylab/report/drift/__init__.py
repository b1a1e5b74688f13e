"""The page on changes."""
