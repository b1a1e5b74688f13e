"""Scales before and after situations, compared with people."""
