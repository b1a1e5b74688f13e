"""In which place someone saw what they rated or answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from empathylab.store.studies.archive import Rows
from empathylab.study.session.launched import Launched


def batch_positions(launched: Launched, places: Rows) -> dict[tuple[str, int], int]:
    """By person and response, its place in the person's batch."""
    found = {}
    for place in places:
        batches = launched.slots.get(place.arm or "", ())
        if place.slot is None or place.slot >= len(batches):
            continue
        for number, item in enumerate(batches[place.slot].items, start=1):
            response = launched.responses.get((item.situation, item.arm or place.arm))
            if response is not None:
                found[place.person, response.response] = number
    return found


def order_positions(rated: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
    """By rater and response, its place among the rater's ratings in the order they were given."""
    found: dict[tuple[str, int], int] = {}
    seen: Counter[str] = Counter()
    for rater, response in rated:
        if (rater, response) not in found:
            seen[rater] += 1
            found[rater, response] = seen[rater]
    return found


def numbered(pages: Rows) -> Iterator[tuple[int, Any]]:
    """Answered pages with their numbers in the order in which each person answered."""
    seen: Counter[str] = Counter()
    for page in pages:
        seen[page.person] += 1
        yield seen[page.person], page
