"""Emoji as people see them, and which ones respondents use.

A face with a skin tone, a family joined from several people, a flag made of two letters and a digit
on a keycap are one emoji each (Unicode Technical Standard 51). Signs that are text by default, like
© or →, are emoji only where the writer asked for the picture (U+FE0F); the hearts, suns and faces
among the old symbols and dingbats (U+2600–27BF) count without it, too, and nothing counts where the
writer asked for text (U+FE0E).
"""

from __future__ import annotations

import numpy as np
import polars as pl

from empathylab.stats.arrays import Numbers
from empathylab.style.responses import require_columns
from empathylab.style.text.tokens import KEYCAP

_TAGGED = r"\x{1F3F4}[\x{E0020}-\x{E007E}]+\x{E007F}"
# Unassigned places among the pictographs are kept for emoji of the years to come.
_PICTURE = (
    r"(?:\p{Extended_Pictographic}(?:\x{FE0F}|\p{Emoji_Modifier})"
    r"|[[\p{Emoji_Presentation}--\p{RI}][[\x{2600}-\x{27BF}]&&\p{Emoji}]"
    r"[[\x{1F300}-\x{1FAFF}]&&\p{Extended_Pictographic}]])"
)
_JOINED = rf"{_PICTURE}(?:\x{{200D}}(?:{_PICTURE}|\p{{Extended_Pictographic}}))*"
EMOJI = rf"{KEYCAP}|\p{{RI}}\p{{RI}}|{_TAGGED}|{_JOINED}"
"""One emoji, for the Rust engine; signs that ask for text must be gone before it is used."""
_AS_TEXT = r"(?s:.)\x{FE0E}"


def emoji_column(pieces: pl.Series) -> Numbers:
    """For each piece, how many emoji it has."""
    counts: Numbers = emoji_lists(pieces).list.len().to_numpy().astype(np.int64)
    return counts


def emoji_lists(texts: pl.Series) -> pl.Series:
    """The emoji of each text, in order."""
    return texts.str.replace_all(_AS_TEXT, " ").str.extract_all(EMOJI)


def emoji_counts(
    frame: pl.DataFrame, *, respondent: str = "respondent", text: str = "text"
) -> pl.DataFrame:
    """Which emoji each respondent uses, the most common first.

    Columns `respondent`, `emoji`, `count`, `responses` (that have it) and `per_response` (the count
    over all responses of the respondent that are there; missing texts are left out).
    """
    require_columns(frame, [respondent, text], "responses")
    taken = frame.select(
        pl.col(respondent).cast(pl.String).alias("respondent"), pl.col(text).cast(pl.String)
    ).drop_nulls()
    sizes = taken.group_by("respondent").len("all")
    used = (
        taken.select("respondent", emoji=emoji_lists(taken[text]))
        .with_row_index("response")
        .explode("emoji")
        .drop_nulls("emoji")
    )
    counts = used.group_by("respondent", "emoji").agg(
        pl.len().cast(pl.Int64).alias("count"),
        pl.col("response").n_unique().cast(pl.Int64).alias("responses"),
    )
    rates = counts.join(sizes, on="respondent").with_columns(
        (pl.col("count") / pl.col("all")).alias("per_response")
    )
    ordered = rates.sort("respondent", "count", "emoji", descending=[False, True, False])
    return ordered.drop("all")
