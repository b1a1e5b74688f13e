"""The sections on the whole lab: overview, methods and data."""
