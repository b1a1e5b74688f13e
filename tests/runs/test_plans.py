"""Retries: what is asked after an answer that cannot be used."""

from __future__ import annotations

import dataclasses

import pytest

from empathylab.models import Message, Parameters, ScriptedModel
from empathylab.runs import Plan, Request
from empathylab.runs.ledger import Asked, open_run
from empathylab.store import Lab
from tests.helpers.plans import Recorder


def request(temperature: float | None = 0.7, seed: int | None = 5) -> Request:
    return Request("q", (Message("user", "why?"),), Parameters(temperature=temperature, seed=seed))


def plan(lab: Lab, retries: int) -> Plan:
    return Plan("test", {}, [request()], Recorder(lab), retries=retries)


def test_a_retry_has_a_key_and_a_seed_of_its_own() -> None:
    second = request().again()
    third = second.again()
    assert [value.key for value in (second, third)] == ["q/retry-1", "q/retry-2"]
    assert [value.parameters.seed for value in (second, third)] == [10_005, 20_005]
    assert (third.retry, third.messages) == (2, request().messages)


def test_a_retry_knows_what_was_asked_before_it() -> None:
    third = request().again().again()
    assert (third.first_key, third.earlier_keys) == ("q", ("q", "q/retry-1"))
    assert (request().first_key, request().earlier_keys) == ("q", ())


def test_without_a_seed_none_is_made_up() -> None:
    assert request(seed=None).again().parameters.seed is None


def test_retries_come_to_an_end(sqlite_lab: Lab) -> None:
    chosen, one = plan(sqlite_lab, 2), request()
    second = chosen.again(one, "empty")
    assert second is not None
    third = chosen.again(second, "refusal")
    assert third is not None
    assert chosen.again(third, "empty") is None


def test_a_usable_answer_stands(sqlite_lab: Lab) -> None:
    assert plan(sqlite_lab, 2).again(request(), "valid") is None


@pytest.mark.parametrize(("temperature", "again"), [(0.0, False), (None, True), (0.1, True)])
def test_a_model_that_does_not_sample_is_not_asked_again(
    sqlite_lab: Lab, temperature: float | None, again: bool
) -> None:
    found = plan(sqlite_lab, 1).again(request(temperature), "empty")
    assert (found is not None) == again


def test_retries_do_not_change_which_run_it_is(sqlite_lab: Lab) -> None:
    asked = Asked("scripted/test")
    first, more = plan(sqlite_lab, 0), plan(sqlite_lab, 3)
    known = asked.fingerprints(first)
    assert asked.run_fingerprint(first, known) == asked.run_fingerprint(more, known)


def test_a_repeat_is_another_request_though_it_asks_the_same() -> None:
    repeated = dataclasses.replace(request(), repeat=1)
    assert repeated.fingerprint("a model") != request().fingerprint("a model")


def test_a_fresh_shard_joins_only_a_run_that_was_begun_afresh(sqlite_lab: Lab) -> None:
    model = ScriptedModel(["a"])

    def opened(*, fresh: bool) -> int:
        asked, chosen = Asked(model.identity), plan(sqlite_lab, 0)
        known = asked.fingerprints(chosen)
        return open_run(sqlite_lab, model, chosen, asked, known, fresh=fresh, joins=True).id

    unfinished = opened(fresh=False)
    fresh = opened(fresh=True)
    assert fresh != unfinished
    assert opened(fresh=True) == fresh
