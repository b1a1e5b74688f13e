"""Looks at a study before it is closed: which look this is, and the level at which it is tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from empathylab.analysis.results import ALPHA
from empathylab.errors import InputError
from empathylab.stats.sequential import spending_boundaries


@dataclass(frozen=True, slots=True)
class Look:
    """One of the looks that the study declared."""

    number: int
    of: int
    fraction: float
    """Of the planned ratings."""
    alpha: float
    """The two-sided level of this look, so that all of them together keep 5%."""
    z: float
    spending: str

    def __str__(self) -> str:
        return (
            f"look {self.number} of {self.of}, {100 * self.fraction:.0f}% of the planned ratings, "
            f"tested at {self.alpha:.2g}"
        )


def current_look(declared: Mapping[str, Any] | None, ratings: int, *, running: bool) -> Look | None:
    """The look that a study with so many rated replies is at; None where it declared none.

    A closed study is at its last look, however many ratings it has. An error where a running one
    has not reached its first.
    """
    if declared is None:
        return None
    planned, at = int(declared["ratings"]), [float(item) for item in declared["at"]]
    fraction = min(ratings / planned, 1.0)
    if running:
        reached = sum(fraction >= item for item in at)
        if reached == 0:
            first = -(-at[0] * planned // 1)
            raise InputError(
                f"the first look declared comes at {first:.0f} rated replies",
                got=f"{ratings} rated replies",
                remedy="Wait until then: an earlier look has no level to test at.",
            )
        # The level follows from the ratings that are there, not from those planned for this look.
        fractions = [*at[: reached - 1], fraction]
    else:
        reached, fractions, fraction = len(at), [*at[:-1], 1.0], 1.0
    spending = str(declared.get("spending", "obrien-fleming"))
    last = spending_boundaries(fractions, alpha=ALPHA, spending=spending)[-1]  # type: ignore[arg-type]
    return Look(reached, len(at), fraction, last.p, last.z, spending)
