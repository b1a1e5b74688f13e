"""Where ratings and levels lie among components that are worked on together.

Within a component, the grouping with most levels gives the leaves and the others the core.
Components of one shape form a stack of matrices; smaller ones are padded where shapes are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.arrays import Codes, Indices
from empathylab.stats.mixed.components import level_components
from empathylab.stats.mixed.sparse_blocks import SparsePattern, sparse_pattern

_EXACT_SHAPES = 8
"""Distinct shapes up to which no component is padded."""
_LARGE = 64
"""Core levels above which a component stands alone."""


class Stack(NamedTuple):
    """Components of one shape: where each rating and each level lies in the stacked arrays."""

    components: int
    core: int
    leaves: int
    ratings: Indices | slice
    """Which ratings belong here."""
    leaf: Indices
    """Per rating: its place among components × leaves."""
    crossed: list[Indices]
    """Per core grouping and rating: its place among components × core × leaves."""
    cored: list[list[Indices]]
    """Per pair of core groupings and rating: its place among components × core × core."""
    leaf_levels: Indices
    """Global number of the level at each leaf place used."""
    leaf_places: Indices
    core_levels: Indices
    core_places: Indices
    sparse: SparsePattern | None
    """Of one large component in which few of the pairs of levels share a rating."""


class Levels:
    """The groupings' levels, numbered in one row, and the stacks they fall into."""

    def __init__(self, codes: Sequence[Codes], sizes: Sequence[int]) -> None:
        self.groups = len(codes)
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.leaf = int(np.argmax(sizes))
        self.core = [number for number in range(len(codes)) if number != self.leaf]
        self.levels = [
            one.astype(np.intp) + self.offsets[number] for number, one in enumerate(codes)
        ]
        self.n = len(codes[0])
        count, component = level_components(codes, sizes)
        self.stacks = _component_stacks(self, count, np.concatenate(component))


def _ranked(labels: Indices, count: int) -> tuple[Indices, Indices]:
    """Each member's rank within its label, and how many members each label has."""
    sizes = np.bincount(labels, minlength=count)
    order = np.argsort(labels, kind="stable")
    firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    ranks = np.empty(len(labels), dtype=np.intp)
    ranks[order] = np.arange(len(labels)) - np.repeat(firsts, sizes)
    return ranks, sizes


def _rounded_up(sizes: Indices) -> Indices:
    """Sizes padded to a few steps, each about a third larger than the one before."""
    steps = [0]
    while steps[-1] < sizes.max(initial=0):
        steps.append(max(steps[-1] + 1, int(steps[-1] * 1.34)))
    return np.asarray(steps, dtype=np.intp)[np.searchsorted(steps, sizes)]


def _component_stacks(groupings: Levels, count: int, component: Indices) -> list[Stack]:
    leaf_levels = np.arange(
        groupings.offsets[groupings.leaf], groupings.offsets[groupings.leaf + 1]
    )
    core_levels = np.concatenate(
        [np.arange(groupings.offsets[g], groupings.offsets[g + 1]) for g in groupings.core]
        or [np.empty(0, dtype=np.intp)]
    ).astype(np.intp)
    rank = np.zeros(int(groupings.offsets[-1]), dtype=np.intp)
    rank[leaf_levels], leaf_sizes = _ranked(component[leaf_levels], count)
    rank[core_levels], core_sizes = _ranked(component[core_levels], count)
    shapes = np.column_stack([core_sizes, leaf_sizes, np.zeros(count, dtype=np.intp)])
    if len(np.unique(shapes, axis=0)) > _EXACT_SHAPES:
        shapes[:, :2] = np.column_stack([_rounded_up(core_sizes), _rounded_up(leaf_sizes)])
    large = np.flatnonzero(core_sizes > _LARGE)
    shapes[large] = np.column_stack([core_sizes[large], leaf_sizes[large], large + 1])
    kinds, kind = np.unique(shapes, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    place, _ = _ranked(kind, len(kinds))
    stacks = []
    for number, (core, leaves, _) in enumerate(kinds.tolist()):
        members = kind[component] == number
        stacks.append(
            _stack(
                groupings,
                int((kind == number).sum()),
                core,
                leaves,
                members,
                place[component],
                rank,
                (leaf_levels, core_levels),
            )
        )
    return stacks


def _stack(
    groupings: Levels,
    count: int,
    core: int,
    leaves: int,
    members: NDArray[np.bool_],
    place: Indices,
    rank: Indices,
    levels: tuple[Indices, Indices],
) -> Stack:
    of_leaf = groupings.levels[groupings.leaf]
    ratings: Indices | slice = slice(None)
    if not members.all():
        ratings = np.flatnonzero(members[of_leaf])
        of_leaf = of_leaf[ratings]
    of_core = [groupings.levels[number][ratings] for number in groupings.core]
    at = place[of_leaf]
    leaf_levels, core_levels = (part[members[part]] for part in levels)
    crossed = [(at * core + rank[item]) * leaves + rank[of_leaf] for item in of_core]
    cored = [[(at * core + rank[item]) * core + rank[two] for two in of_core] for item in of_core]
    alone = count == 1 and core > _LARGE
    return Stack(
        components=count,
        core=core,
        leaves=leaves,
        ratings=ratings,
        leaf=at * leaves + rank[of_leaf],
        crossed=crossed,
        cored=cored,
        leaf_levels=leaf_levels,
        leaf_places=place[leaf_levels] * leaves + rank[leaf_levels],
        core_levels=core_levels,
        core_places=place[core_levels] * core + rank[core_levels],
        sparse=sparse_pattern(crossed, cored, core, leaves) if alone else None,
    )
