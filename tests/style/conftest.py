"""Responses that several tests of style use."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

_ARMS = ("human", "chatgpt_empathy")


def _published(folder: Path) -> pl.DataFrame:
    table = pl.read_csv(folder / "welivita" / "dataset_and_ratings.csv", infer_schema_length=None)
    return table.with_row_index("situation_number")


@pytest.fixture(scope="session")
def welivita_responses(shared_data: Path) -> pl.DataFrame:
    """The responses of people and of GPT-4 to the same 2,000 situations."""
    table = _published(shared_data)
    return pl.concat(
        table.select(
            respondent=pl.lit(arm), situation="situation_number", text=pl.col(f"response_{arm}")
        )
        for arm in _ARMS
    )


@pytest.fixture(scope="session")
def welivita_ratings(shared_data: Path) -> pl.DataFrame:
    """One rating of each of these responses, 1 Bad to 3 Good."""
    table = _published(shared_data)
    return pl.concat(
        table.select(
            respondent=pl.lit(arm),
            situation="situation_number",
            rating=pl.col(f"rating_{arm}"),
            rater=pl.col(f"annotator_{arm}"),
        )
        for arm in _ARMS
    )
