"""Texts cut into pieces and counted with arrays."""
