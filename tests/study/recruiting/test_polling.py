"""Hearing from Prolific while a study is served: nobody notices when it fails."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import pytest

from empathylab.store import Lab, schema
from empathylab.study.recruiting import polling
from empathylab.study.recruiting.polling import start_polling
from empathylab.study.recruiting.prolific import Prolific
from empathylab.study.session.service import Page
from tests.study.recruiting.examples import rating, recruiting, sent, served
from tests.study.recruiting.prolific_server import TOKEN, prolific, submission
from tests.study.service_examples import rows_of, step_on


def until(true: Callable[[], bool]) -> None:
    """Waits for something that must come true."""
    for _ in range(1000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come true")


def test_a_returned_place_is_freed_while_the_study_is_served(lab: Lab) -> None:
    service, _ = served(lab, recruiting("prolific"))
    rating(service, "ann")
    with prolific(submission("ann", "ACTIVE")) as platform:
        running = start_polling(service, every=0.02, client=platform.client())
        assert running is not None
        until(lambda: len(platform.requests) >= 2)
        platform.studies = {name: [submission("ann", "RETURNED")] for name in platform.studies}
        until(lambda: rows_of(lab, schema.slots)[0]["status"] == "returned")
        running.stop()
    assert service.actions.audit()[-1].who == "prolific"


def test_trouble_is_said_once_and_that_it_is_over_too(
    sqlite_lab: Lab, caplog: pytest.LogCaptureFixture
) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    person = rating(service, "ann-on-prolific")
    with prolific(submission("ann-on-prolific", "ACTIVE")) as platform:
        platform.orders = ["500"] * 4
        with caplog.at_level(logging.INFO, "empathylab.study.recruiting"):
            running = start_polling(service, every=0.02, client=platform.client(attempts=1))
            assert running is not None
            until(lambda: len(platform.requests) >= 7)
            running.stop()
    said = [record.getMessage() for record in caplog.records]
    assert [item for item in said if "cannot be reached" in item] == [
        (
            "Prolific cannot be reached; the study continues without it: "
            "the API does not respond as expected (HTTP 500)"
        )
    ]
    assert said.count("Prolific can be reached again") == 1
    for secret in (TOKEN, "ann-on-prolific", person):
        assert secret not in caplog.text


@pytest.mark.parametrize("trouble", ["wrong token", "nobody there", "slow", "malformed"])
def test_raters_go_on_whatever_is_wrong_with_prolific(sqlite_lab: Lab, trouble: str) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    person = rating(service, "ann")
    with prolific() as platform:
        client = platform.client(attempts=1)
        if trouble == "wrong token":
            client = Prolific("not-the-right-token", base_url=platform.address)
        elif trouble == "nobody there":
            client = Prolific(TOKEN, base_url="http://127.0.0.1:9", attempts=1)
        else:
            platform.orders = ["slow 0.3" if trouble == "slow" else "text"] * 100
        running = start_polling(service, every=0.01, client=client)
        assert running is not None
        while step_on(service, person) is not None:
            pass
        assert isinstance(service.view(sent(service, "bob")), Page)
        running.stop()
    assert service.actions.status().outcomes == {"completed": 1}


def test_a_failure_that_nobody_thought_of_does_not_end_it(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    rounds = []

    def fail(*_: object, **__: object) -> None:
        rounds.append(1)
        raise ZeroDivisionError("with somebody's id in it")

    monkeypatch.setattr(polling, "pull", fail)
    running = start_polling(service, every=0.01, client=Prolific(TOKEN))
    assert running is not None
    until(lambda: len(rounds) > 3)
    running.stop()
    assert [record.getMessage() for record in caplog.records] == [
        "Prolific cannot be reached; the study continues without it: ZeroDivisionError"
    ]


def test_of_several_processes_one_at_a_time_asks(lab: Lab) -> None:
    service, _ = served(lab, recruiting("prolific"))
    rating(service, "ann")
    with prolific(submission("ann", "RETURNED")) as platform:
        with lab.exclusive("prolific small@1", what="the sync with Prolific"):
            running = start_polling(service, every=0.02, client=platform.client())
            assert running is not None
            time.sleep(0.2)
            assert platform.requests == []
        until(lambda: rows_of(lab, schema.slots)[0]["status"] == "returned")
        running.stop()


def test_it_stops_without_waiting_for_the_next_round(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    with prolific() as platform:
        running = start_polling(service, every=3600, client=platform.client())
        assert running is not None
        running.stop()
        assert not running._thread.is_alive()


def test_without_a_token_or_off_prolific_nothing_is_started(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("PROLIFIC_API_TOKEN", raising=False)
    service, _ = served(sqlite_lab, recruiting("prolific"))
    assert start_polling(service) is None
    assert caplog.records == []
    monkeypatch.setenv("PROLIFIC_API_TOKEN", "two words")
    assert start_polling(service) is None
    assert "is not a token" in caplog.text
    assert "two words" not in caplog.text


def test_other_platforms_are_not_polled(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("mturk"))
    assert start_polling(service, client=Prolific(TOKEN)) is None
