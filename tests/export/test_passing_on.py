"""Rows as they may be passed on: nobody's identity, no exact times, no secrets."""

from __future__ import annotations

from typing import Any

import pytest

from empathylab.export.passing_on import without_identities
from empathylab.store.transfer import Records

WHEN = "2026-03-04T15:26:53+00:00"
PERSON, SIMULATED = 1, 2


@pytest.fixture
def passed_on() -> Records:
    return without_identities(lab_rows(launched_at=None))


def lab_rows(*, launched_at: str | None) -> Records:
    given: dict[str, list[dict[str, Any]]] = {
        "studies": [
            {
                "id": 1,
                "name": "warmth",
                "version": 1,
                "protocol": {},
                "secret": "abc",
                "launched_at": launched_at,
                "closed_at": WHEN,
                "revision": 3,
            }
        ],
        "raters": [
            _rater(PERSON, "5f1e anna", {"age": 31}),
            _rater(SIMULATED, "bot", {"marks": {"world": "simulated"}}),
        ],
        "ratings": [
            {"id": rater, "rater_id": rater, "rated_at": WHEN} for rater in (PERSON, SIMULATED)
        ],
        "administrations": [
            {"id": rater, "rater_id": rater} for rater in (PERSON, SIMULATED, None)
        ],
        "item_answers": [{"administration_id": number} for number in (PERSON, SIMULATED)],
        "responses": [{"id": 1, "details": {"rater": "5f1e anna", "sample": 0}}],
        "runs": [{"id": 1, "settings": {"endpoint": "https://me:secret@host/v1"}}],
    }
    return given


def _rater(number: int, name: str, details: dict[str, Any]) -> dict[str, Any]:
    return {"id": number, "study_id": 1, "name": name, "kind": "person", "details": details}


def test_ratings_keep_their_day_and_lose_their_time(passed_on: Records) -> None:
    assert [row["rated_at"] for row in passed_on["ratings"]] == ["2026-03-04T00:00:00+00:00"]


def test_simulated_raters_and_what_they_gave_are_left_out(passed_on: Records) -> None:
    assert [row["id"] for row in passed_on["raters"]] == [PERSON]
    assert [row["rater_id"] for row in passed_on["ratings"]] == [PERSON]
    assert [row["rater_id"] for row in passed_on["administrations"]] == [PERSON, None]
    assert [row["administration_id"] for row in passed_on["item_answers"]] == [PERSON]


def test_raters_of_a_file_are_numbered_and_those_of_a_launched_study_keep_their_pseudonyms(
    passed_on: Records,
) -> None:
    assert [row["name"] for row in passed_on["raters"]] == ["rater-0001"]
    launched = without_identities(lab_rows(launched_at=WHEN))
    assert [row["name"] for row in launched["raters"]] == ["5f1e anna"]


def test_nothing_names_a_person_or_lets_anybody_in(passed_on: Records) -> None:
    [study], [response] = passed_on["studies"], passed_on["responses"]
    assert "anna" not in str(passed_on)
    assert (study["secret"], study["closed_at"]) == (None, None)
    assert response["details"] == {"sample": 0}
    assert passed_on["runs"][0]["settings"] == {"endpoint": "https://host/v1"}
