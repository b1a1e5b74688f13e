"""Results of analyses, kept in the lab and read again while data, options and code are the same."""

from empathylab.analysis.cache.results import cached

__all__ = ["cached"]
