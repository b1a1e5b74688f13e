"""Comparisons of two replies, checked and coded: what Bradley–Terry strengths start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from empathylab.errors import InputError
from empathylab.stats.arrays import Array, Codes

OUTCOMES = ("first", "second", "tie")


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Comparisons in codes, and the distinct ordered pairs among them."""

    names: tuple[str, ...]
    first: Codes
    second: Codes
    outcome: Codes
    """0 first, 1 second, 2 tie."""
    pairs: Codes
    """Distinct (first, second), one per row."""
    pair_of: Codes

    def counts(self) -> Array:
        """Of each ordered pair: how often each outcome came."""
        table = np.zeros((len(self.pairs), 3))
        np.add.at(table, (self.pair_of, self.outcome), 1)
        return table

    def tallies(self) -> tuple[Codes, Codes, Codes]:
        """Of each respondent: wins, losses and ties."""
        k = len(self.names)

        def count(codes: Codes) -> Codes:
            return np.bincount(codes, minlength=k)

        first, second, tie = (self.outcome == item for item in range(3))
        wins = count(self.first[first]) + count(self.second[second])
        losses = count(self.second[first]) + count(self.first[second])
        return wins, losses, count(self.first[tie]) + count(self.second[tie])


def comparisons(frame: pl.DataFrame, first: str, second: str, outcome: str) -> Comparisons:
    """The frame's comparisons, coded; raises InputError for one that cannot be."""
    if len(frame) == 0:
        raise InputError("there are no comparisons", remedy="Give rows that compare two replies.")
    left, right = frame[first].cast(pl.String), frame[second].cast(pl.String)
    outcomes = _places(frame[outcome].cast(pl.String), left, right)
    strange = ~outcomes.is_in(list(OUTCOMES))
    if strange.any():
        row = int(strange.arg_true()[0])
        raise InputError(
            f"{outcome!r} must be first, second, tie, or the name of one of the two",
            where=f"comparison {row + 1}",
            got=outcomes[row],
            remedy="Write first or second for the preferred reply, or tie.",
        )
    same = (left == right).arg_true()
    if len(same):
        raise InputError(
            "a comparison needs two different respondents",
            where=f"comparison {int(same[0]) + 1}",
            got=left[int(same[0])],
            remedy="Leave such rows out.",
        )
    both = pl.concat([left.rename(""), right.rename("")])
    names = both.unique().sort().to_list()
    codes = both.rank("dense").cast(pl.Int64).to_numpy() - 1
    a, b = codes[: len(left)], codes[len(left) :]
    keys, pair_of = np.unique(a * len(names) + b, return_inverse=True)
    place = {name: number for number, name in enumerate(OUTCOMES)}
    coded = outcomes.replace_strict(place, return_dtype=pl.Int64).to_numpy()
    return Comparisons(
        names=tuple(names),
        first=a,
        second=b,
        outcome=coded,
        pairs=np.column_stack(np.divmod(keys, len(names))),
        pair_of=pair_of,
    )


def _places(outcomes: pl.Series, left: pl.Series, right: pl.Series) -> pl.Series:
    """The outcomes, where the name of the preferred respondent becomes first or second."""
    names = pl.DataFrame({"outcome": outcomes, "left": left, "right": right})
    named = ~pl.col("outcome").is_in(list(OUTCOMES))
    return names.select(
        pl.when(named & (pl.col("outcome") == pl.col("left")))
        .then(pl.lit("first"))
        .when(named & (pl.col("outcome") == pl.col("right")))
        .then(pl.lit("second"))
        .otherwise(pl.col("outcome"))
    ).to_series()


def require_connected(games: Comparisons) -> None:
    """Raises InputError where respondents fall into groups that were never compared."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    k = len(games.names)
    ones = np.ones(len(games.pairs))
    graph = coo_array((ones, (games.pairs[:, 0], games.pairs[:, 1])), shape=(k, k))
    islands, label = connected_components(graph, directed=False)
    if islands > 1:
        raise InputError(
            f"the comparisons fall into {islands} groups that were never compared with each other",
            got=" | ".join(_members(games.names, label, item) for item in range(islands)),
            remedy="Compare across the groups, or analyse each by itself.",
        )


def require_finite(games: Comparisons, *, order_effect: bool) -> None:
    """Raises InputError where the likelihood has no highest point at finite strengths."""
    tied, won = games.outcome == 2, games.outcome == 0
    if tied.all():
        raise InputError(
            "every comparison is a tie", remedy="Collect comparisons that were decided."
        )
    # A tie speaks for both sides.
    winner = np.concatenate([np.where(won, games.first, games.second), games.first[tied]])
    loser = np.concatenate([np.where(won, games.second, games.first), games.second[tied]])
    _refuse_perfect(games, winner, loser)
    decided = games.outcome[~tied]
    if order_effect and len(np.unique(decided)) == 1:
        raise InputError(
            f"the reply shown {OUTCOMES[int(decided[0])]} was always preferred, so the order "
            "effect has no finite estimate",
            remedy="Leave the order effect out, and do not trust these preferences.",
        )


def _refuse_perfect(games: Comparisons, winner: Codes, loser: Codes) -> None:
    """Raises InputError where some respondents won, or lost, all comparisons with the rest."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    k = len(games.names)
    graph = coo_array((np.ones(len(winner)), (winner, loser)), shape=(k, k))
    count, label = connected_components(graph, connection="strong")
    if count == 1:
        return
    perfect = []
    for group in range(count):
        inside = label == group
        lost = bool((inside[loser] & ~inside[winner]).any())
        won = bool((inside[winner] & ~inside[loser]).any())
        if lost != won:
            perfect.append((int(inside.sum()), lost, group))
    # There is always one such group; the smallest is the most informative.
    _, lost, group = min(perfect)
    raise InputError(
        f"{_members(games.names, label, group)} {'lost' if lost else 'won'} every comparison with "
        "the others, so strengths have no finite estimate",
        remedy="Leave it out, collect more comparisons, or give a prior of 0.5.",
    )


def _members(names: Sequence[str], label: Codes, group: int) -> str:
    return ", ".join(name for name, one in zip(names, label, strict=True) if one == group)
