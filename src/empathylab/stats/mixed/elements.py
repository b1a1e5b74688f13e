"""What the gradient needs of the inverse of the random effects' matrix."""

from __future__ import annotations

from typing import NamedTuple

from empathylab.stats.arrays import Array


class Elements(NamedTuple):
    """Elements of D⁻¹ for each rating of a stack."""

    leaf: Array
    """Of its leaf with itself."""
    crossed: list[Array]
    """Of its level in each core grouping with its leaf."""
    cored: list[list[Array]]
    """Of its levels in each pair of core groupings."""
