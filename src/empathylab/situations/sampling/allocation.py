"""How many to draw from each stratum, so that the counts are as even as the supply allows.

With one balance this is water-filling: every value gets the same, one that has too little gives
what it has, and the others share the rest; counts differ by at most one between values that have
more to give. With several, the first named comes first: the counts of each are made as even as they
can be without undoing those before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from heapq import heapify, heappop, heappush

from empathylab.errors import InputError

Cell = tuple[str, ...]
Order = Callable[[Cell], str]


def allocate(supply: Mapping[Cell, int], count: int, order: Order) -> dict[Cell, int]:
    """How many each cell gives; `order` decides between cells that are equally good.

    A cell is the value of each balance, in the order of their importance.
    """
    available = sum(supply.values())
    if count > available:
        raise InputError(
            f"{count} situations were requested, but only {available} are left after the "
            "exclusions",
            remedy=f"Ask for at most {available}, or relax a rule.",
        )
    depth = len(next(iter(supply), ()))
    filling = _Filling(dict(supply), order)
    for _ in range(count):
        filling.add_one()
    for place in range(1, depth):
        filling.even_out(place)
    return filling.taken


class _Filling:
    """The cells being filled, with the counts of every value."""

    def __init__(self, supply: dict[Cell, int], order: Order) -> None:
        self.supply = supply
        self.taken = dict.fromkeys(supply, 0)
        self._ranks = {cell: order(cell) for cell in supply}
        self._values = {value: order((value,)) for cell in supply for value in cell}
        self._open: dict[str, list[Cell]] = {}
        for cell in sorted(supply):
            if supply[cell]:
                self._open.setdefault(cell[0] if cell else "", []).append(cell)
        self._least = [(0, self._values.get(first, ""), first) for first in self._open]
        heapify(self._least)
        self._totals: list[dict[str, int]] = [
            dict.fromkeys((cell[place] for cell in supply), 0)
            for place in range(len(next(iter(supply), ())))
        ]

    def add_one(self) -> None:
        """Takes one more, from the cell whose values have the least so far."""
        total, rank, first = heappop(self._least)
        cell = min(self._open[first], key=self._cell_rank)
        self._move(cell, 1)
        if self.taken[cell] == self.supply[cell]:
            self._open[first].remove(cell)
        if self._open[first]:
            heappush(self._least, (total + 1, rank, first))

    def _cell_rank(self, cell: Cell) -> tuple[object, ...]:
        later = (self._totals[place][cell[place]] for place in range(1, len(cell)))
        return (*later, self.taken[cell], self._ranks[cell])

    def _move(self, cell: Cell, step: int) -> None:
        self.taken[cell] += step
        for place, value in enumerate(cell):
            self._totals[place][value] += step

    def even_out(self, place: int) -> None:
        """Moves single draws between the values at the place while that makes them more even.

        A draw moves to a cell that agrees in all that comes before, maybe pushing another on: the
        shortest such chain from the fullest value to one with at least two less.
        """
        while chain := self._chain(place):
            for source, target in chain:
                self._move(source, -1)
                self._move(target, 1)

    def _chain(self, place: int) -> list[tuple[Cell, Cell]]:
        totals = self._totals[place]
        ranked = sorted(totals, key=lambda value: (-totals[value], self._values[value]))
        moves = self._moves(place)
        for start in ranked:
            previous: dict[str, tuple[str, tuple[Cell, Cell]]] = {}
            waiting = deque([start])
            while waiting:
                value = waiting.popleft()
                if totals[value] <= totals[start] - 2:
                    return _path(previous, start, value)
                for other, move in moves.get(value, {}).items():
                    if other != start and other not in previous:
                        previous[other] = (value, move)
                        waiting.append(other)
        return []

    def _moves(self, place: int) -> dict[str, dict[str, tuple[Cell, Cell]]]:
        """From which value to which a draw can move, and by which cells."""
        groups: dict[Cell, list[Cell]] = {}
        for cell in sorted(self.supply, key=self._ranks.__getitem__):
            groups.setdefault(cell[:place], []).append(cell)
        moves: dict[str, dict[str, tuple[Cell, Cell]]] = {}
        for cells in groups.values():
            full = [cell for cell in cells if self.taken[cell]]
            room = [cell for cell in cells if self.taken[cell] < self.supply[cell]]
            for source in full:
                reached = moves.setdefault(source[place], {})
                for target in room:
                    if target[place] != source[place]:
                        reached.setdefault(target[place], (source, target))
        return moves


def _path(
    previous: Mapping[str, tuple[str, tuple[Cell, Cell]]], start: str, end: str
) -> list[tuple[Cell, Cell]]:
    moves = []
    while end != start:
        end, move = previous[end]
        moves.append(move)
    return moves[::-1]
