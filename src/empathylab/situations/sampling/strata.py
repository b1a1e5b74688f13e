"""What a draw can be balanced over: emotions, valence, topics, and bands of length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from empathylab.errors import InputError, UnknownName
from empathylab.situations.sampling.exclusions import opening_text
from empathylab.situations.sets import Situation
from empathylab.words import count_words

BALANCES = ("emotion", "valence", "topic", "factor", "length")
_LABELS = {name: name for name in ("emotion", "valence", "topic", "factor")}


@dataclass(frozen=True, slots=True)
class Bands:
    """Lengths in words, cut at upper bounds; the last band has none."""

    bounds: tuple[int, ...]

    def of(self, words: int) -> str:
        """The band's name, such as `11–20 words`."""
        low = 0
        for bound in self.bounds:
            if words <= bound:
                return f"{low}–{bound} words"
            low = bound + 1
        return f"{low} words or more"


def check_balance(balance: Sequence[str]) -> None:
    """Raises for what a draw cannot be balanced over."""
    for name in balance:
        if name not in BALANCES:
            raise UnknownName("balance", name, BALANCES)
    if len(set(balance)) < len(balance):
        raise InputError(
            "the sample is balanced over the same variable twice",
            got=", ".join(balance),
            remedy="Name each once.",
        )


def length_bands(situations: Iterable[Situation], bands: int | Sequence[int]) -> Bands:
    """Bands at the given bounds; for a number of bands, bounds that share out the situations.

    Situations of one length are never parted, so that bands can be fewer and uneven.
    """
    if not isinstance(bands, int):
        return Bands(_checked(tuple(bands)))
    if bands < 1:
        raise InputError(
            "there must be at least one length band", got=bands, remedy="Give --bands 3."
        )
    lengths = sorted(count_words(opening_text(situation)) for situation in situations)
    cuts = (
        {lengths[len(lengths) * part // bands - 1] for part in range(1, bands)} if lengths else ()
    )
    return Bands(tuple(sorted(cut for cut in cuts if cut < lengths[-1])))


def _checked(bounds: tuple[int, ...]) -> tuple[int, ...]:
    if not bounds or min(bounds) < 1 or list(bounds) != sorted(set(bounds)):
        raise InputError(
            "the bounds of length bands must be increasing numbers of words",
            got=", ".join(map(str, bounds)),
            remedy="For example: --bands 10,20,40.",
        )
    return bounds


def unlabelled(situations: Iterable[Situation], balance: Sequence[str]) -> list[str]:
    """The ids of the situations that lack a label the draw is balanced over."""
    names = [name for name in balance if name in _LABELS]
    return [
        situation.id
        for situation in situations
        if not all(getattr(situation, name) for name in names)
    ]


def stratum(situation: Situation, balance: Sequence[str], bands: Bands) -> tuple[str, ...]:
    """The situation's value for each balance."""
    return tuple(
        bands.of(count_words(opening_text(situation)))
        if name == "length"
        else getattr(situation, name)
        for name in balance
    )


def marginal(counts: Mapping[tuple[str, ...], int], place: int) -> dict[str, int]:
    """The counts by the value of one balance."""
    totals: dict[str, int] = {}
    for cell, count in counts.items():
        totals[cell[place]] = totals.get(cell[place], 0) + count
    return totals
