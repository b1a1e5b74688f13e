"""The frame of responses that the style analyses start from."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from empathylab.errors import InputError, UnknownName

RESPONDENT, SITUATION, TEXT = "respondent", "situation", "text"


class Responses(NamedTuple):
    """Responses with something in them, and how many had nothing."""

    frame: pl.DataFrame
    """Columns `response` (row number in the frame given), `respondent`, `situation`, `text`."""
    dropped: int

    @property
    def respondents(self) -> list[str]:
        """The different respondents, in the order of their first response."""
        return [str(name) for name in self.frame[RESPONDENT].unique(maintain_order=True)]


def usable_responses(
    frame: pl.DataFrame,
    *,
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    text: str = TEXT,
) -> Responses:
    """The responses under the usual column names, without those that lack a value or are blank."""
    columns = {RESPONDENT: respondent, SITUATION: situation, TEXT: text}
    require_columns(frame, list(columns.values()), "responses")
    taken = frame.select(
        pl.col(given).cast(pl.String).alias(name) for name, given in columns.items()
    ).with_row_index("response")
    kept = taken.drop_nulls().filter(pl.col(TEXT).str.strip_chars() != "")
    return Responses(kept, frame.height - kept.height)


def require_columns(frame: pl.DataFrame, columns: list[str], what: str) -> None:
    """Raises where the frame lacks a column, and says which ones it has."""
    for column in columns:
        if column not in frame.columns:
            raise InputError(
                f"there is no column {column!r}",
                where=what,
                got=", ".join(frame.columns) or "no columns",
                remedy="Name the column in the file, or say which column contains it.",
            )


def require_respondent(name: str, known: list[str]) -> None:
    """Raises where no respondent has that name, with the nearest names that exist."""
    if name not in known:
        raise UnknownName("respondent", name, known)


def require_several(responses: Responses, purpose: str) -> None:
    """Raises where there is no other respondent to compare with."""
    if len(responses.respondents) < 2:
        raise InputError(
            f"{purpose} needs two respondents or more",
            where="responses",
            got=", ".join(responses.respondents) or "none",
            remedy="Add the responses of another respondent.",
        )
