"""Respondents measured against a study: arms of one writer, and arms rated at different times."""

from __future__ import annotations

from pathlib import Path

import pytest

from empathylab.analysis.benchmark.frames import measured_replies, reference_ratings
from empathylab.analysis.benchmark.leaderboard import leaderboard
from empathylab.analysis.benchmark.prose import rests_on
from empathylab.analysis.benchmark.result import measure
from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.study.added_arms.instruments import measured_study
from tests.judging.measured import PROMPT, STUDY, add_replies, released_lab, situation_ids, two_arms
from tests.study.archived import released


def test_one_who_wrote_two_arms_has_a_line_for_each(sqlite_lab: Lab, tmp_path: Path) -> None:
    two_arms(sqlite_lab, tmp_path)
    reference = reference_ratings(sqlite_lab, STUDY)
    assert set(reference.respondents) == {"human", "gpt (gpt)", "gpt (llama)", "mixtral"}
    assert reference.arms["gpt (llama)"] == ("llama", "gpt")
    for name in ("gpt (gpt)", "gpt (llama)"):
        mine = measured_replies(sqlite_lab, reference, name, PROMPT)
        rated = reference.people.filter(respondent=name)["response"]
        assert {item.response for item in mine} == set(rated)
    board = leaderboard(sqlite_lab, reference, measured_study(sqlite_lab, STUDY))
    lines = {entry.respondent: entry for entry in board.entries}
    assert set(lines) == set(reference.respondents)
    assert all(line.measurement.basis == "people" for line in lines.values())
    assert lines["gpt (llama)"].replies == 48


def test_one_line_that_fails_takes_no_other_with_it(
    sqlite_lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released_lab(sqlite_lab, tmp_path)
    add_replies(sqlite_lab, "new/model", dict.fromkeys(situation_ids(sqlite_lab), "I see."))
    reference = reference_ratings(sqlite_lab, STUDY)

    def fails(*_arguments: object) -> None:
        raise InputError("this cannot be predicted", where="here", remedy="Look.")

    monkeypatch.setattr("empathylab.analysis.benchmark.entries.EntryBuilder._by_models", fails)
    board = leaderboard(sqlite_lab, reference, measured_study(sqlite_lab, STUDY))
    assert {entry.respondent for entry in board.entries} == set(reference.respondents)
    assert any(
        "new/model is excluded: " in note and "this cannot be predicted" in note
        for note in board.notes
    )


def test_arms_rated_at_different_times_are_said_with_who_rated_them(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    released(sqlite_lab, tmp_path)
    reference = reference_ratings(sqlite_lab, STUDY)
    found = measure(sqlite_lab, reference, "gpt", "a/judge", PROMPT).measurement
    said = rests_on(found)
    assert "were not rated together (gpt on 2023-11-21 and people on 2023-11-20)" in said[1]
    assert said[2].startswith("The raters of the arms were compared")
    board = leaderboard(sqlite_lab, reference, measured_study(sqlite_lab, STUDY))
    assert "were not rated together (people on 2023-11-20" in board.notes[0]
    # Below ranks of people's ratings, a sentence about a prompt needs its subject.
    assert board.caveats[0].startswith("Prompt for new models: The release does not hold")
    assert board.notes[1].startswith(
        "The raters of the arms were compared (6 of people and 6 of gpt"
    )


def test_nothing_is_said_where_no_day_is_known(sqlite_lab: Lab, tmp_path: Path) -> None:
    released(sqlite_lab, tmp_path, dated=False)
    reference = reference_ratings(sqlite_lab, STUDY)
    assert measure(sqlite_lab, reference, "gpt", "a/judge", PROMPT).measurement.notes == ()
