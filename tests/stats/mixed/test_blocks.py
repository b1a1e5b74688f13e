"""The random effects' matrix, against the same matrix in full."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from empathylab.stats.arrays import Array, Codes
from empathylab.stats.mixed import stacks
from empathylab.stats.mixed.blocks import Blocks
from empathylab.stats.mixed.components import independent_batches, level_components

Design = tuple[list[Codes], list[int]]


def in_full(design: Design, weight: Array, sd: Array) -> tuple[Array, Array]:
    """D, and Z Λ."""
    codes, sizes = design
    loading = np.concatenate(
        [sd[number] * np.eye(size)[codes[number]] for number, size in enumerate(sizes)], axis=1
    )
    return np.eye(sum(sizes)) + loading.T @ (weight[:, None] * loading), loading


def relabelled(codes: list[Codes]) -> Design:
    found = [np.unique(code, return_inverse=True) for code in codes]
    return [inverse.astype(np.int64) for _, inverse in found], [len(levels) for levels, _ in found]


def separate_pairs() -> Design:
    part, place = np.divmod(np.arange(80), 20)
    return relabelled([part * 2 + place // 10, part * 10 + place % 10])


def uneven() -> Design:
    generator = np.random.default_rng(1)
    part = generator.integers(0, 15, 150)
    return relabelled([part * 10 + generator.integers(0, 3, 150), part * 10 + part % 7 % 4])


def one_grouping() -> Design:
    return relabelled([np.random.default_rng(2).integers(0, 9, 50)])


def three_crossed() -> Design:
    generator = np.random.default_rng(3)
    return relabelled([generator.integers(0, size, 120) for size in (9, 12, 5)])


def large_and_sparse() -> Design:
    generator = np.random.default_rng(4)
    return relabelled([generator.integers(0, size, 1_400) for size in (300, 450, 4)])


def large_and_full() -> Design:
    rater, item = np.divmod(np.arange(70 * 90), 90)
    return relabelled([rater, item])


DESIGNS = [
    separate_pairs,
    uneven,
    one_grouping,
    three_crossed,
    large_and_sparse,
    large_and_full,
]


@pytest.mark.parametrize("make", DESIGNS)
def test_blocks_give_the_determinant_solution_and_inverse_of_the_full_matrix(
    make: Callable[[], Design],
) -> None:
    codes, sizes = make()
    generator = np.random.default_rng(7)
    weight = generator.uniform(0.05, 0.5, len(codes[0]))
    sd = generator.uniform(0.3, 1.5, len(codes))
    matrix, loading = in_full((codes, sizes), weight, sd)
    found = Blocks(codes, sizes).factor(weight, [np.array([[item]]) for item in sd])
    assert found.log_determinant == pytest.approx(np.linalg.slogdet(matrix)[1])
    right = generator.normal(size=sum(sizes))
    assert found.solve(right) == pytest.approx(np.linalg.solve(matrix, right))
    reached = np.linalg.solve(matrix, loading.T).T
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    for number, row in enumerate(found.inverse_rows()):
        rows = reached[np.arange(len(row)), offsets[number] + codes[number]]
        assert row[:, 0] == pytest.approx(rows)


def test_a_large_component_with_few_pairs_is_kept_sparse() -> None:
    codes, sizes = large_and_sparse()
    assert any(stack.sparse is not None for stack in stacks.Levels(codes, sizes).stacks)


def test_components_of_many_shapes_share_a_few_stacks() -> None:
    codes, sizes = relabelled([np.repeat(np.arange(40), np.arange(1, 41)), np.arange(820)])
    assert len(stacks.Levels(codes, sizes).stacks) < 15


def test_batches_hold_every_rating_once_and_share_no_level() -> None:
    part, place = np.divmod(np.arange(40_000), 20)
    codes, sizes = relabelled([part * 2 + place // 10, part * 10 + place % 10])
    batches = independent_batches(level_components(codes, sizes), codes[0])
    assert len(batches) > 2
    assert np.sort(np.concatenate(batches)).tolist() == list(range(40_000))
    for code in codes:
        assert sum(len(np.unique(code[rows])) for rows in batches) == len(np.unique(code))


def test_a_fully_crossed_design_is_one_batch() -> None:
    codes, sizes = large_and_full()
    assert len(independent_batches(level_components(codes, sizes), codes[0])) == 1
