"""Completion codes and participant groups on Prolific: shown first, sent only when asked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from empathylab.cli.app import app
from empathylab.errors import InputError, UserError
from empathylab.store import Lab
from empathylab.study.admin.reviews import Reviews
from empathylab.study.blocks.interface import Outcome
from empathylab.study.design.recruitment import Recruitment, ScreenOut
from empathylab.study.recruiting.prolific_setup import completion_codes
from tests.study.examples import altered
from tests.study.recruiting.examples import CODES, finished, rating, recruiting, served
from tests.study.recruiting.prolific_server import STUDY, TOKEN, Platform, prolific

PAID = {"screen_out": ScreenOut(reward=20, slots=30), "groups": {"completed": "619e049f7648"}}


def command(platform: Platform, lab: Path, *given: str) -> tuple[int, str]:
    variables = {"PROLIFIC_API_TOKEN": TOKEN, "PROLIFIC_BASE_URL": platform.address}
    result = CliRunner().invoke(app, ["study", *given, "--lab", str(lab)], env=variables)
    return result.exit_code, result.output


def test_codes_say_what_prolific_does_at_each() -> None:
    codes = {
        code["code"]: code for code in completion_codes(recruiting("prolific", recruitment=PAID))
    }
    assert codes[CODES["completed"]] == {
        "code": CODES["completed"],
        "code_type": "COMPLETED",
        "actions": [
            {"action": "MANUALLY_REVIEW"},
            {"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": "619e049f7648"},
        ],
    }
    assert codes[CODES["screened-out"]] == {
        "code": CODES["screened-out"],
        "code_type": "FIXED_SCREENOUT",
        "actions": [
            {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 20, "slots": 30}
        ],
    }
    assert codes[CODES["no-consent"]]["actions"][0]["action"] == "REQUEST_RETURN"
    assert codes[CODES["failed-attention"]]["actions"] == [{"action": "MANUALLY_REVIEW"}]
    assert len(codes) == len(CODES)


def test_every_outcome_with_a_code_has_an_action() -> None:
    codes = {outcome: outcome.upper() for outcome in get_args(Outcome)}
    study = altered(
        recruiting("prolific"), recruitment=Recruitment(platform="prolific", codes=codes)
    )
    found = {code["code"].lower(): code for code in completion_codes(study)}
    assert found.keys() == set(codes)
    assert {outcome: code["code_type"] for outcome, code in found.items()} == {
        **dict.fromkeys(codes, "OTHER"),
        "completed": "COMPLETED",
        "no-consent": "NO_CONSENT",
        "failed-attention": "FAILED_ATTENTION_CHECK",
    }
    returned = {
        "no-consent": "You chose not to take part.",
        "failed-comprehension": "The instructions were not clear to you.",
        "screened-out": "This study is for a different group of people.",
        "full": "The study is full.",
        "timed-out": "You reached the time limit of the study.",
        "withdrawn": "You left the study.",
    }
    for outcome, code in found.items():
        reason = returned.get(outcome)
        asked = {"action": "REQUEST_RETURN", "return_reason": reason}
        assert code["actions"] == [asked if reason else {"action": "MANUALLY_REVIEW"}], outcome


def test_without_a_payment_people_who_are_screened_out_return_their_submission() -> None:
    (found,) = [
        code
        for code in completion_codes(recruiting("prolific"))
        if code["code"] == CODES["screened-out"]
    ]
    assert found["code_type"] == "OTHER"
    assert found["actions"][0]["action"] == "REQUEST_RETURN"


@pytest.mark.parametrize(
    ("platform", "codes", "message"),
    [("open", {}, "only Prolific"), ("prolific", {"completed": "A"}, "code for 'screened-out'")],
)
def test_a_payment_needs_prolific_and_the_code(
    platform: str, codes: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        Recruitment.model_validate(
            {"platform": platform, "codes": codes, "screen_out": {"reward": 20, "slots": 3}}
        )
    assert message in str(error.value.errors()[0]["ctx"])  # type: ignore[attr-defined]


def test_codes_are_sent_only_when_asked(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific", recruitment=PAID))
    with prolific() as platform:
        folder = sqlite_lab.folder
        code, shown = command(platform, folder, "prolific-codes", "small")
        assert (code, platform.requests) == (0, [])
        assert '"slots": 30' in shown
        assert "Nothing was sent" in shown
        missing = command(platform, folder, "prolific-codes", "small", "--send")
        assert (missing[0], platform.requests) == (2, [])
        command(platform, folder, "prolific-codes", "small", "--prolific-study", STUDY, "--send")
        assert platform.codes == {STUDY: completion_codes(service.study)}
        assert platform.requests == [("PATCH", f"/api/v1/studies/{STUDY}/")]


def test_a_group_gets_who_completed_and_was_not_rejected(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    for name in ("ann", "bob"):
        finished(service, name)
    rating(service, "cat")
    bad = finished(service, "dan")
    Reviews(sqlite_lab, service.launched.row).reject(bad, "Not read", who="me")
    made = ("prolific-group", "small", "--create", "Wave one", "--workspace", "w1")
    with prolific() as platform:
        code, shown = command(platform, sqlite_lab.folder, *made)
        assert (code, platform.requests, platform.groups) == (0, [], {})
        assert "2 people" in shown
        assert "ann" not in shown
        for again in (made, ("prolific-group", "small", "--group", "group1")):
            assert command(platform, sqlite_lab.folder, *again, "--send")[0] == 0
        assert platform.groups == {"group1": ["ann", "bob"]}
        unknown = command(platform, sqlite_lab.folder, *made[:2], "--group", "none", "--send")
        assert unknown[0] == 2
    audit = [item.details for item in service.actions.audit() if "group" in item.action]
    assert audit == [{"group": "group1", "people": 2}] * 2


def test_failures_are_sentences_and_make_no_second_group() -> None:
    with prolific() as platform:
        client = platform.client()
        platform.orders = ["500"]
        with pytest.raises(UserError, match="HTTP 500"):
            asyncio.run(client.create_group("Wave", "w1"))
        assert len(platform.requests) == 1
        platform.groups["g"] = []
        platform.orders = ["500", "429 0"]
        asyncio.run(client.add_to_group("g", [f"p{number}" for number in range(450)]))
        assert len(platform.groups["g"]) == 450
        for group in ("../users/me", "a b", ""):
            with pytest.raises(InputError, match="participant group"):
                asyncio.run(client.add_to_group(group, ["p"]))
        with pytest.raises(InputError, match="no such study"):
            asyncio.run(client.set_completion_codes("unknown", []))
