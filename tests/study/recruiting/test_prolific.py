"""Prolific's API: paging, failures that pass, failures that do not, and a token nobody sees."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from empathylab.errors import InputError, UserError
from empathylab.study.recruiting.prolific import Prolific, Submission
from tests.study.recruiting.prolific_server import STUDY, TOKEN, Platform, prolific, submission


def listed(platform: Platform, study: str = STUDY, **options: Any) -> list[Submission] | None:
    return asyncio.run(platform.client(**options).submissions(study))


def many(count: int) -> list[dict[str, Any]]:
    return [submission(f"p{number}", "ACTIVE") for number in range(count)]


def test_a_submission_has_a_person_a_status_an_id_and_a_beginning() -> None:
    with prolific(submission("ann", "TIMED-OUT", "s1", "2026-03-01T09:00:00Z")) as platform:
        assert listed(platform) == [Submission("ann", "TIMED-OUT", "s1", "2026-03-01T09:00:00Z")]


@pytest.mark.parametrize("count", [0, 1, 199, 200, 201, 650])
def test_all_pages_are_read_once(count: int) -> None:
    with prolific(*many(count)) as platform:
        platform.most = 200
        assert len(listed(platform) or []) == count
        assert len(platform.requests) == max(1, -(-count // 200))


def test_a_list_that_comes_out_too_short_is_an_error() -> None:
    with prolific(*many(250)) as platform:
        platform.most = 100  # less than was asked for, without a word
        with pytest.raises(UserError, match="150 of 250 submissions"):
            listed(platform)


def test_the_token_follows_no_link_to_elsewhere() -> None:
    with prolific(*many(300)) as platform:
        platform.most = 200
        assert len(listed(platform) or []) == 300  # the links to the next page lead elsewhere
        platform.orders = ["elsewhere"]
        with pytest.raises(UserError, match="HTTP 302"):
            listed(platform)


def test_an_unknown_study_is_none() -> None:
    with prolific() as platform:
        assert listed(platform, "nothing") is None


@pytest.mark.parametrize("study", ["../users/me", "a/b?c=d#e", "..", "", "a b", "x" * 200])
def test_an_id_that_leads_elsewhere_is_not_asked_for(study: str) -> None:
    with prolific() as platform:
        assert listed(platform, study) is None
        with pytest.raises(InputError, match="no such submission"):
            asyncio.run(platform.client().approve(study))
        assert platform.requests == []


def test_a_person_whom_prolific_no_longer_names_is_nobody() -> None:
    with prolific({**submission("ann", "RETURNED", "s1"), "participant_id": None}) as platform:
        assert [item.participant for item in listed(platform) or []] == [""]


@pytest.mark.parametrize(
    "orders",
    [["500"], ["429 0", "503", "502"], ["drop"], ["429 Thu, 01 Jan 1970 00:00:00 GMT"]],
)
def test_failures_that_pass_are_tried_again(orders: list[str]) -> None:
    with prolific(*many(3)) as platform:
        platform.orders = list(orders)
        assert len(listed(platform) or []) == 3
        assert len(platform.requests) == len(orders) + 1


def test_a_slow_answer_is_tried_again() -> None:
    with prolific(*many(3)) as platform:
        platform.orders = ["slow 4"]
        assert len(listed(platform, timeout=2) or []) == 3


def test_it_waits_as_long_as_it_is_asked_to() -> None:
    with prolific(*many(3)) as platform:
        platform.orders = ["429 0.3"]
        began = time.monotonic()
        listed(platform)
        assert time.monotonic() - began >= 0.3


def test_it_does_not_wait_for_ever() -> None:
    with prolific() as platform:
        platform.orders = ["429 3600"]
        with pytest.raises(UserError, match="asks to wait 3600 s"):
            listed(platform)
        assert len(platform.requests) == 1


def test_a_failure_that_stays_is_said_after_four_attempts() -> None:
    with prolific() as platform:
        platform.orders = ["500"] * 9
        with pytest.raises(UserError, match=r"HTTP 500.*Nothing was changed here"):
            listed(platform)
        assert len(platform.requests) == 4


@pytest.mark.parametrize(
    "order",
    [
        "text",
        "list []",
        "list null",
        "list 7",
        'list {"results": 3}',
        'list {"results": [3]}',
        'list {"results": [{"id": "x"}]}',
        'list {"results": [{"participant_id": "ann", "status": null}]}',
        "list " + "[" * 100_000,
    ],
)
def test_an_answer_that_is_none_is_an_error(order: str) -> None:
    with prolific() as platform:
        platform.orders = [order]
        with pytest.raises(UserError, match="cannot be read"):
            listed(platform)


def test_nobody_there_is_said_without_the_request() -> None:
    client = Prolific(TOKEN, base_url="http://127.0.0.1:9/api", attempts=2, pause=0.01)
    with pytest.raises(UserError, match="no connection") as caught:
        asyncio.run(client.submissions(STUDY))
    assert TOKEN not in str(caught.value)


def test_a_wrong_token_is_said_once_and_not_shown() -> None:
    with prolific() as platform:
        client = Prolific("another-token-entirely", base_url=platform.address)
        with pytest.raises(InputError, match="refuses the token") as caught:
            asyncio.run(client.submissions(STUDY))
        assert "another-token-entirely" not in str(caught.value)
        assert len(platform.requests) == 1


def test_the_client_does_not_show_its_token() -> None:
    assert TOKEN not in repr(Prolific(TOKEN))
    assert repr(Prolific(TOKEN)) == "Prolific(base_url='https://api.prolific.com/api/v1')"


@pytest.mark.parametrize("token", ["", "short", "two words here", "line\nbreak-in-it", "żółć-żółć"])
def test_what_cannot_be_a_token_is_refused_without_showing_it(token: str) -> None:
    with pytest.raises(InputError, match="is not a token") as caught:
        Prolific(token)
    assert not token or token not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    ["http://api.prolific.com/api", "ftp://127.0.0.1/", "nonsense", "https://me:pw@api.test/"],
)
def test_the_token_goes_over_tls_only(address: str) -> None:
    with pytest.raises(InputError, match="must begin with https"):
        Prolific(TOKEN, base_url=address)


def test_the_token_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROLIFIC_API_TOKEN", raising=False)
    with pytest.raises(InputError, match="PROLIFIC_API_TOKEN"):
        Prolific.from_environment()
    with prolific(*many(2)) as platform:
        monkeypatch.setenv("PROLIFIC_API_TOKEN", f" {TOKEN}\n")
        monkeypatch.setenv("PROLIFIC_BASE_URL", platform.address)
        assert len(asyncio.run(Prolific.from_environment().submissions(STUDY)) or []) == 2


def test_a_message_is_sent() -> None:
    with prolific() as platform:
        asyncio.run(platform.client().send_message(STUDY, "ann", "Thank you"))
        expected = {"recipient_id": "ann", "body": "Thank you", "study_id": STUDY}
        assert platform.messages == [expected]


def test_a_message_waits_for_the_rate_limit() -> None:
    with prolific() as platform:
        platform.orders = ["429 0"]
        asyncio.run(platform.client().send_message(STUDY, "ann", "Thank you"))
        assert len(platform.messages) == 1


@pytest.mark.parametrize("order", ["500", "drop", "503"])
def test_a_message_that_may_have_gone_out_is_not_sent_again(order: str) -> None:
    with prolific() as platform:
        platform.orders = [order]
        with pytest.raises(UserError):
            asyncio.run(platform.client().send_message(STUDY, "ann", "Thank you"))
        assert len(platform.requests) == 1


def test_a_submission_is_approved() -> None:
    with prolific() as platform:
        platform.orders = ["500"]
        asyncio.run(platform.client().approve("session-ann"))
        assert platform.approved == ["session-ann"]


def test_what_cannot_be_approved_is_said() -> None:
    with prolific() as platform:
        platform.orders = ["404", "400"]
        with pytest.raises(InputError, match="no such submission"):
            asyncio.run(platform.client().approve("nobody"))
        with pytest.raises(UserError, match="HTTP 400"):
            asyncio.run(platform.client().approve("nobody"))
