"""Of several runs that asked the same, the last is shown."""

from __future__ import annotations

import json

import polars as pl

from empathylab.analysis.run_selection import selected_runs


def runs(*rows: tuple[int, str, str, dict[str, str]]) -> pl.DataFrame:
    """Runs in the order of their use: number, respondent, protocol, settings."""
    numbers, respondents, protocols, settings = zip(*rows, strict=True)
    return pl.DataFrame(
        {
            "run": numbers,
            "respondent": respondents,
            "protocol": protocols,
            "settings": [json.dumps(setting) for setting in settings],
        }
    )


def test_of_two_runs_that_asked_the_same_the_last_is_kept() -> None:
    panas = {"scale": "panas"}
    found = selected_runs(runs((1, "a/b", "appraise", panas), (2, "a/b", "appraise", panas)))
    assert found["run"].to_list() == [2]


def test_the_last_is_by_use_and_not_by_number() -> None:
    panas = {"scale": "panas"}
    found = selected_runs(runs((2, "a/b", "appraise", panas), (1, "a/b", "appraise", panas)))
    assert found["run"].to_list() == [1]


def test_other_respondents_protocols_and_instruments_are_all_kept() -> None:
    found = selected_runs(
        runs(
            (4, "a/b", "appraise", {"scale": "panas"}),
            (3, "a/b", "appraise", {"scale": "teq"}),
            (2, "a/b", "respond", {"situations": "dialogues"}),
            (1, "c/d", "appraise", {"scale": "panas"}),
        )
    )
    assert found["run"].to_list() == [1, 2, 3, 4]
    assert "instrument" not in found.columns
