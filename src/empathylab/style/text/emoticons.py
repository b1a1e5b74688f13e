"""Emoticons: faces typed with ordinary characters."""

from __future__ import annotations

import numpy as np
import polars as pl

from empathylab.stats.arrays import Numbers

_WESTERN = r"[>}]?[:;=][\-'’^o]?[)(\]\[DPpOo/\\|*3S$]+|[8B]-[)(D]"
_BACKWARDS = r"[(\[][\-'^]?[:;=]"
_EASTERN = r"\(?[\^>T;oO0\-uU][_.\-]{1,3}[\^<T;oO0\-uU]\)?|¯\\_\(ツ\)_/¯"
_OTHER = r"</?3+|[xX]D+|\\o/"
_FACE = rf"(?:{_WESTERN}|{_BACKWARDS}|{_EASTERN}|{_OTHER})"
# A face stands alone or behind a word; at a word's end only the most common are distinguished from
# text.
_ALONE = rf"^(?:{_FACE})+[.,!?…]*$"
_BEHIND = r"[\p{L}.!?,…*](?:[:;=]-?[)(D]|<3)[.,!?…]*$"
# A word in letters, a number or a rule of dashes is none, though it may look like one.
_NONE = r"^[\p{L}\p{N}.\-]+$|^[\-_.]+$|://"
_YET_ONE = r"^(?:[xX]D+|T[_.]T|o[_.]O|O[_.]o|-_+-)$"
_PERHAPS = rf"{_WESTERN}|{_BACKWARDS}|[_.\-][\^<T;oO0\-uU]|ツ|{_OTHER}"


def emoticon_column(pieces: pl.Series) -> Numbers:
    """For each piece, how many emoticons it has."""
    places = pieces.str.contains(_PERHAPS).arg_true()
    column = np.zeros(len(pieces), dtype=np.int64)
    perhaps = pieces.gather(places)
    none = perhaps.str.contains(_NONE) & ~perhaps.str.contains(_YET_ONE)
    alone = perhaps.str.contains(_ALONE)
    inside = perhaps.str.count_matches(_FACE).cast(pl.Int64)
    counts = pl.select(
        pl.when(none)
        .then(0)
        .when(alone)
        .then(inside)
        .otherwise(perhaps.str.contains(_BEHIND).cast(pl.Int64))
    ).to_series()
    column[places.to_numpy()] = counts.to_numpy()
    return column
