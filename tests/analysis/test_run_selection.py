"""Of several runs that asked the same, one is shown, and which one is explicit."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import polars as pl

from empathylab.analysis.run_selection import run_label, selected_runs


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
