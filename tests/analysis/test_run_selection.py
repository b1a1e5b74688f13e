"""Of several runs that asked the same, one is shown, and which one is explicit."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import polars as pl

from empathylab.analysis.run_selection import (
    hidden_sentences,
    run_label,
    run_matrix,
    selected_runs,
)


def runs(*rows: tuple[int, str, str, dict[str, Any]], pinned: tuple[int, ...] = ()) -> pl.DataFrame:
    """Runs in the order of their use: number, respondent, protocol, settings."""
    numbers, respondents, protocols, settings = zip(*rows, strict=True)
    at = [datetime(2026, 1, 1, tzinfo=UTC) if number in pinned else None for number in numbers]
    return pl.DataFrame(
        {
            "run": numbers,
            "respondent": respondents,
            "protocol": protocols,
            "settings": [json.dumps(setting) for setting in settings],
            "pinned_at": pl.Series(at, dtype=pl.Datetime("us", "UTC")),
        }
    )


def panas(situations: int = 3, mode: str = "structured") -> dict[str, Any]:
    return {"scale": "panas", "mode": mode, "situation_ids": [str(n) for n in range(situations)]}


def test_of_two_runs_that_asked_the_same_the_last_is_kept() -> None:
    found = selected_runs(runs((1, "a/b", "appraise", panas()), (2, "a/b", "appraise", panas())))
    assert found["run"].to_list() == [2]


def test_the_last_is_by_use_and_not_by_number() -> None:
    found = selected_runs(runs((2, "a/b", "appraise", panas()), (1, "a/b", "appraise", panas())))
    assert found["run"].to_list() == [1]


def test_a_later_run_over_fewer_situations_does_not_replace_the_result() -> None:
    found = selected_runs(runs((1, "a/b", "appraise", panas(24)), (2, "a/b", "appraise", panas(8))))
    assert found["run"].to_list() == [1]


def test_a_later_run_in_another_mode_does_not_replace_the_result() -> None:
    rows = (1, "a/b", "appraise", panas()), (2, "a/b", "appraise", panas(mode="free"))
    assert selected_runs(runs(*rows))["run"].to_list() == [1]


def test_a_larger_run_in_another_mode_does() -> None:
    rows = (1, "a/b", "appraise", panas()), (2, "a/b", "appraise", panas(9, "free"))
    assert selected_runs(runs(*rows))["run"].to_list() == [2]


def test_a_pinned_run_comes_first() -> None:
    rows = (1, "a/b", "appraise", panas(24)), (2, "a/b", "appraise", panas(1, "free"))
    assert selected_runs(runs(*rows, pinned=(2,)))["run"].to_list() == [2]


def test_runs_that_are_asked_for_come_before_pinned_ones() -> None:
    rows = (1, "a/b", "appraise", panas(24)), (2, "a/b", "appraise", panas(1, "free"))
    assert selected_runs(runs(*rows, pinned=(1,)), first=[2])["run"].to_list() == [2]


def test_a_run_that_was_hardly_begun_does_not_count_as_large() -> None:
    frame = runs((1, "a/b", "appraise", panas(8)), (2, "a/b", "appraise", panas(24)))
    assert selected_runs(frame.with_columns(answered=pl.Series([12, 2])))["run"].to_list() == [1]


def test_other_respondents_protocols_and_instruments_are_all_kept() -> None:
    frame = runs(
        (4, "a/b", "appraise", {"scale": "panas"}),
        (3, "a/b", "appraise", {"scale": "teq"}),
        (2, "a/b", "respond", {"situations": "dialogues"}),
        (1, "c/d", "appraise", {"scale": "panas"}),
    )
    found = selected_runs(frame)
    assert found["run"].to_list() == [1, 2, 3, 4]
    assert found.columns == frame.columns


def test_a_label_says_what_tells_runs_apart() -> None:
    settings = panas(2, "free") | {"template": {"id": "listener", "version": 2}, "temperature": 0.7}
    assert run_label(settings) == "free, 2 situations, listener@2, temperature 0.7"


def test_the_matrix_names_every_run_and_why_it_is_not_shown() -> None:
    frame = runs(
        (1, "a/b", "appraise", panas(24)),
        (2, "a/b", "appraise", panas(8)),
        (3, "c/d", "appraise", panas(8)),
        (4, "c/d", "appraise", panas(8, "free")),
        (5, "c/d", "appraise", panas(8)),
        (6, "a/b", "appraise", panas(24)),
        (7, "e/f", "appraise", panas(1)),
        (8, "e/f", "appraise", panas(9)),
        pinned=(7,),
    ).with_columns(name=pl.lit(None, dtype=pl.String), planned=30, answered=30)
    rows = run_matrix(frame)
    assert [(row.run, row.shown) for row in rows] == [
        *((1, False), (2, False), (6, True)),
        *((3, False), (4, False), (5, True)),
        *((7, True), (8, False)),
    ]
    assert [row.reason for row in rows if row.reason] == [
        "Run 1 is not shown: run 6 was used last.",
        "Run 2 is not shown: run 6 has answers to 24 situations, not 8.",
        "Run 3 is not shown: run 5 was used last.",
        "Run 4 is not shown: run 5 is in the mode that was used first, structured.",
        "Run 8 is not shown: run 7 is pinned.",
    ]
    shown = {row.run for row in rows if row.shown}
    assert shown == set(selected_runs(frame)["run"])
    [asked] = [row for row in run_matrix(frame, first=[2]) if row.run == 6]
    assert asked.reason == "Run 6 is not shown: run 2 was asked for."


def test_runs_that_are_hidden_for_the_same_reason_are_named_together() -> None:
    frame = runs(
        *((run, "a/b", "respond", panas(8)) for run in (1, 2, 3)),
        (4, "c/d", "respond", panas(8)),
        (5, "c/d", "respond", panas(8)),
    ).with_columns(name=pl.lit(None, dtype=pl.String), planned=30, answered=30)
    assert hidden_sentences(run_matrix(frame)) == [
        "Runs 1 and 2 are not shown: run 3 was used last.",
        "Run 4 is not shown: run 5 was used last.",
    ]
