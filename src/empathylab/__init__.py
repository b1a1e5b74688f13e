"""EmpathyLab measures how empathetic a language model is."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
