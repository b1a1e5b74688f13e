"""Results of analyses, kept in the lab and read again while data, options and code are the same."""

from empathylab.analysis.cache.results import cached, cached_when_closed

__all__ = ["cached", "cached_when_closed"]
