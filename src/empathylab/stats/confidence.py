"""The confidence of intervals."""

from __future__ import annotations

from empathylab.errors import InputError


def require_confidence(confidence: float) -> None:
    """Raises InputError unless the confidence is a proportion."""
    if not 0 < confidence < 1:
        raise InputError(
            "`confidence` must be between 0 and 1", got=confidence, remedy="For example: 0.95."
        )
