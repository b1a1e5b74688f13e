"""Responses written for these tests, simple enough to count by hand."""

from __future__ import annotations

import polars as pl

SITUATIONS = 12
_PLACES = ("home", "work", "school", "town")


def responses(*names: str) -> pl.DataFrame:
    """Twelve situations, answered by `warm` (exclaims, 😊), `dry` and anyone who else is named."""
    rows = []
    for number in range(SITUATIONS):
        place = _PLACES[number % len(_PLACES)]
        texts = {
            "warm": f"I'm so sorry to hear that! Your week at {place} sounds hard! 😊",
            "dry": f"My own week at {place} was long. What did you do then?",
        }
        texts |= dict.fromkeys(names, f"Perhaps try {place} again, maybe soon.")
        rows += [
            {"respondent": name, "situation": f"s{number}", "text": text}
            for name, text in texts.items()
        ]
    return pl.DataFrame(rows)


def ratings(frame: pl.DataFrame) -> pl.DataFrame:
    """Three raters' ratings of each response, from 1 to 3."""
    rows = [
        {**row, "rater": f"r{rater}", "rating": 1.0 + (number + rater) % 3}
        for number, row in enumerate(frame.select("respondent", "situation").to_dicts())
        for rater in range(3)
    ]
    return pl.DataFrame(rows)
