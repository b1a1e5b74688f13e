"""The runner against a scripted model and a real endpoint."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from empathylab.errors import (
    EndpointUnreachable,
    InputError,
    LabError,
    ModelSetup,
    ModelUnavailable,
    RateLimited,
    RequestRejected,
    RunInUse,
)
from empathylab.models import (
    Completion,
    EndpointModel,
    Message,
    Parameters,
    Price,
    Prices,
    ScriptedModel,
    TokenAlternatives,
    Usage,
)
from empathylab.runs import Job, Limits, Plan, Tally, run
from empathylab.store import Lab, responses_frame, runs_frame
from empathylab.store.queries import failures_frame, outcomes_frame
from empathylab.store.schema import answers
from tests.helpers.endpoint import Served, served
from tests.helpers.plans import plan_of

QUICK = Limits(attempts=2, timeout=60)


def endpoint_model(endpoint: Served) -> EndpointModel:
    return EndpointModel("test/one", model="one", base_url=endpoint.base_url)


def questions(count: int) -> list[str]:
    return [f"question {number}" for number in range(count)]


def stored(lab: Lab) -> list[tuple[str, str]]:
    frame = lab.frame(sa.select(answers.c.key, answers.c.text).order_by(answers.c.key))
    return list(frame.iter_rows())


def test_every_answer_is_stored_once_with_what_it_means(lab: Lab, endpoint: Served) -> None:
    job = Job(endpoint_model(endpoint), [plan_of(lab, questions(120))])
    [tally] = run(lab, [job])
    assert (tally.done, tally.asked, tally.missing) == (120, 120, 0)
    assert dict(stored(lab))["q7"] == "Answer to: question 7"
    assert responses_frame(lab).height == 120
    assert set(endpoint.counts()["calls"].values()) == {1}


def test_everything_needed_to_repeat_an_answer_is_stored(lab: Lab) -> None:
    answer = Completion(
        "yes",
        finish_reason="stop",
        usage=Usage(12, 3),
        reported_model="one-2026",
        logprobs=(TokenAlternatives("yes", -0.1, {"yes": -0.1, "no": -2.3}),),
    )
    run(lab, [Job(ScriptedModel([answer]), [plan_of(lab, ["why?"], temperature=0.7)])])
    [row] = lab.frame(sa.select(answers)).iter_rows(named=True)
    assert row["messages"] == '[{"role": "user", "content": "why?"}]'
    assert '"temperature": 0.7' in row["parameters"]
    assert (row["prompt_tokens"], row["completion_tokens"]) == (12, 3)
    assert (row["finish_reason"], row["reported_model"]) == ("stop", "one-2026")
    assert (
        row["logprobs"] == '[["yes", -0.1, {"no": -2.3, "yes": -0.1}]]'
        or row["logprobs"] == '[["yes", -0.1, {"yes": -0.1, "no": -2.3}]]'
    )
    assert row["asked_at"] <= row["answered_at"]
    assert row["latency"] >= 0
    [settings] = runs_frame(lab)["settings"]
    assert "scripted/test" in settings


def test_the_same_command_again_asks_nothing(lab: Lab) -> None:
    model = ScriptedModel(["a"])
    run(lab, [Job(model, [plan_of(lab, questions(5))])])
    [tally] = run(lab, [Job(model, [plan_of(lab, questions(5))])])
    assert len(model.calls) == 5
    assert (tally.already, tally.asked) == (5, 0)
    assert runs_frame(lab).height == 1


def test_only_what_failed_is_asked_again(lab: Lab) -> None:
    failing = {"question 3"}

    def script(messages: tuple[Message, ...], _parameters: Parameters) -> str | Exception:
        question = messages[-1].content
        return RequestRejected("too odd") if question in failing else f"re: {question}"

    model = ScriptedModel(script)
    [tally] = run(lab, [Job(model, [plan_of(lab, questions(5))])])
    assert (tally.asked, tally.missing, dict(tally.failures)) == (4, 1, {"rejected": 1})
    assert failures_frame(lab)["count"].to_list() == [1]
    assert runs_frame(lab)["finished_at"].to_list() == [None]
    failing.clear()
    [tally] = run(lab, [Job(model, [plan_of(lab, questions(5))])])
    assert (tally.already, tally.asked, tally.missing) == (4, 1, 0)
    assert failures_frame(lab).is_empty()
    assert runs_frame(lab)["finished_at"].null_count() == 0


def test_identical_requests_at_temperature_0_are_reused(lab: Lab) -> None:
    model = ScriptedModel(["a"])
    run(lab, [Job(model, [plan_of(lab, questions(3), temperature=0)])])
    [tally] = run(lab, [Job(model, [plan_of(lab, questions(5), temperature=0)])])
    assert (tally.reused, tally.asked) == (3, 2)
    assert len(model.calls) == 5
    assert runs_frame(lab)["reused"].to_list() == [0, 3]


def test_requests_at_other_temperatures_are_asked_again(lab: Lab) -> None:
    model = ScriptedModel(["a"])
    run(lab, [Job(model, [plan_of(lab, questions(3), temperature=0.5)])])
    [tally] = run(lab, [Job(model, [plan_of(lab, questions(4), temperature=0.5)])])
    assert (tally.reused, tally.asked) == (0, 4)


def test_fresh_asks_everything_again_once(lab: Lab) -> None:
    model = ScriptedModel(["a"])
    plan = plan_of(lab, questions(3), temperature=0)
    run(lab, [Job(model, [plan])])
    [tally] = run(lab, [Job(model, [plan], fresh=True)])
    assert (tally.asked, tally.reused, tally.already) == (3, 0, 0)
    assert runs_frame(lab).height == 2


def interrupted_fresh_run(lab: Lab) -> Plan:
    """The plan of two runs: the first is finished, the fresh one lacks one of three answers."""
    plan = plan_of(lab, questions(3), temperature=0)
    run(lab, [Job(ScriptedModel(["a"]), [plan])])
    broken = ScriptedModel(["b", RequestRejected("no"), "b"], concurrency=1)
    run(lab, [Job(broken, [plan], fresh=True)])
    return plan


def test_a_fresh_run_does_not_go_on_with_an_interrupted_one(lab: Lab) -> None:
    plan = interrupted_fresh_run(lab)
    [tally] = run(lab, [Job(ScriptedModel(["c"]), [plan], fresh=True)])
    assert (tally.already, tally.reused, tally.asked) == (0, 0, 3)
    assert runs_frame(lab).height == 3


def test_an_interrupted_fresh_run_is_resumed_without_old_answers(lab: Lab) -> None:
    plan = interrupted_fresh_run(lab)
    [tally] = run(lab, [Job(ScriptedModel(["b"]), [plan])])
    assert (tally.already, tally.reused, tally.asked) == (2, 0, 1)
    assert runs_frame(lab).height == 2


def test_two_plans_of_one_model_run_in_turn(sqlite_lab: Lab) -> None:
    model = ScriptedModel(["a"])
    plans = [plan_of(sqlite_lab, questions(3)), plan_of(sqlite_lab, ["x", "y"])]
    tallies = run(sqlite_lab, [Job(model, plans)])
    assert [tally.asked for tally in tallies] == [3, 2]


def test_several_models_run_side_by_side(lab: Lab) -> None:
    order: list[str] = []

    def noting(name: str) -> ScriptedModel:
        def script(_messages: tuple[Message, ...], _parameters: Parameters) -> str:
            order.append(name)
            return "a"

        return ScriptedModel(script, name=name, latency=0.1, concurrency=1)

    models = [noting(f"scripted/{number}") for number in range(4)]
    tallies = run(lab, [Job(model, [plan_of(lab, questions(3))]) for model in models])
    assert [tally.asked for tally in tallies] == [3, 3, 3, 3]
    assert len(set(order[:4])) == 4  # each has answered once before any answers twice


def test_one_models_wrong_setup_does_not_stop_the_others(sqlite_lab: Lab) -> None:
    good = ScriptedModel(["a"], name="scripted/good", latency=0.05, concurrency=1)
    bad = ScriptedModel([ModelSetup("no key", remedy="Set it.")], name="scripted/bad")
    plan = plan_of(sqlite_lab, questions(6))
    with pytest.raises(ModelSetup, match="no key"):
        run(sqlite_lab, [Job(good, [plan]), Job(bad, [plan])])
    assert len(stored(sqlite_lab)) == 6


def test_an_endpoint_that_misbehaves_in_every_way_is_counted_right(sqlite_lab: Lab) -> None:
    asked = [
        "plain",
        "[limit 1 1] rate limited once",
        "[fail 500 1] fails once",
        "[truncate 1] half an answer once",
        "[drop 1] connection dropped once",
        "[stall 1] no answer, once",
        "[say] empty",
        "[refuse] refused",
        "[fail 500] always fails",
    ]
    with served() as endpoint:
        model = endpoint_model(endpoint)
        limits = Limits(attempts=3, timeout=10, concurrency=20)
        [tally] = run(sqlite_lab, [Job(model, [plan_of(sqlite_lab, asked)], limits)])
        calls = endpoint.counts()["calls"]
    assert dict(tally.outcomes) == {"valid": 6, "empty": 1, "refusal": 1}
    assert dict(tally.failures) == {"HTTP 500": 1}
    assert (tally.done, tally.missing) == (8, 1)
    assert [calls[question] for question in asked] == [1, 2, 2, 2, 2, 2, 1, 1, 3]
    assert tally.retries == 5 + 2
    kept = {row["outcome"]: row["count"] for row in outcomes_frame(sqlite_lab).to_dicts()}
    assert kept == {"valid": 6, "empty": 1, "refusal": 1}
    assert failures_frame(sqlite_lab).select("kind", "count").rows() == [("HTTP 500", 1)]


def test_retry_after_is_obeyed(sqlite_lab: Lab) -> None:
    begun = time.monotonic()
    with served() as endpoint:
        plan = plan_of(sqlite_lab, ["[limit 1 1] busy"])
        run(sqlite_lab, [Job(endpoint_model(endpoint), [plan])])
    assert time.monotonic() - begun >= 1.0


def test_a_rate_limit_quiets_the_whole_model(sqlite_lab: Lab) -> None:
    times: list[float] = []
    begun = time.monotonic()

    def script(_messages: tuple[Message, ...], _parameters: Parameters) -> str | Exception:
        times.append(time.monotonic() - begun)
        return RateLimited("busy", retry_after=0.6) if len(times) == 1 else "a"

    model = ScriptedModel(script, concurrency=1)
    run(sqlite_lab, [Job(model, [plan_of(sqlite_lab, questions(4))])])
    assert all(moment >= 0.55 for moment in times[1:])


def test_a_wrong_key_ends_the_run_and_stays_secret(sqlite_lab: Lab) -> None:
    with served(key="right") as endpoint:
        model = EndpointModel(
            "test/one", model="one", base_url=endpoint.base_url, key="wr0ng-key-value", key_env="K"
        )
        with pytest.raises(ModelSetup, match="refuses access.*Check the key in K") as caught:
            run(sqlite_lab, [Job(model, [plan_of(sqlite_lab, questions(50))])])
    assert "wr0ng" not in str(caught.value)


def test_an_unknown_model_ends_the_run(sqlite_lab: Lab) -> None:
    with served() as endpoint:
        plan = plan_of(sqlite_lab, ["[fail 404] no such model"])
        with pytest.raises(ModelSetup, match="does not have this model"):
            run(sqlite_lab, [Job(endpoint_model(endpoint), [plan])])


def test_an_unreachable_endpoint_is_one_sentence_soon(sqlite_lab: Lab) -> None:
    model = EndpointModel("test/one", model="one", base_url="http://127.0.0.1:1/v1")
    with pytest.raises(EndpointUnreachable, match="cannot connect"):
        run(sqlite_lab, [Job(model, [plan_of(sqlite_lab, questions(500))])])
    # After the first that failed three times, not after all 500 had their six attempts.
    assert failures_frame(sqlite_lab)["count"].sum() <= 16


def test_requests_that_are_all_rejected_end_the_run(sqlite_lab: Lab) -> None:
    model = ScriptedModel([RequestRejected("HTTP 400: no such parameter")], concurrency=2)
    with pytest.raises(ModelSetup, match="first 5 requests all failed.*no such parameter"):
        run(sqlite_lab, [Job(model, [plan_of(sqlite_lab, questions(500))])])
    assert len(model.calls) < 10


def test_failures_between_answers_do_not_end_the_run(sqlite_lab: Lab) -> None:
    model = ScriptedModel(["a", *[RequestRejected("no")] * 9], concurrency=1)
    [tally] = run(sqlite_lab, [Job(model, [plan_of(sqlite_lab, questions(100))])])
    assert (tally.asked, tally.failed) == (10, 90)


def test_concurrency_stays_within_its_limit(sqlite_lab: Lab) -> None:
    with served(latency=0.02) as endpoint:
        limits = Limits(concurrency=7)
        plan = plan_of(sqlite_lab, questions(100))
        run(sqlite_lab, [Job(endpoint_model(endpoint), [plan], limits)])
        assert endpoint.counts()["most_under_way"] == 7


def test_requests_per_minute_are_kept(sqlite_lab: Lab) -> None:
    begun = time.monotonic()
    limits = Limits(requests_per_minute=600)
    run(sqlite_lab, [Job(ScriptedModel(["a"]), [plan_of(sqlite_lab, questions(11))], limits)])
    assert time.monotonic() - begun >= 1.0


def test_tokens_per_minute_are_kept(sqlite_lab: Lab) -> None:
    begun = time.monotonic()
    used = Completion("a", usage=Usage(50, 50))
    limits = Limits(tokens_per_minute=60_000, concurrency=1)
    run(sqlite_lab, [Job(ScriptedModel([used]), [plan_of(sqlite_lab, questions(11))], limits)])
    assert time.monotonic() - begun >= 1.0  # 10 intervals of 100 tokens at 1,000 a second


PRICES = Prices({"scripted/test": Price(1_000_000.0, 1_000_000.0)}, "2026")


def test_a_cap_on_money_stops_cleanly_before_it_is_passed(lab: Lab) -> None:
    # Each answer costs 1 + 1 dollars; a request may cost 9 (estimate) + 10 before it is answered.
    answer = Completion("a", usage=Usage(1, 1))
    plan = plan_of(lab, questions(40), max_tokens=10)
    job = Job(ScriptedModel([answer]), [plan], Limits(max_cost=50))
    [tally] = run(lab, [job], prices=PRICES)
    assert tally.stopped == "cap"
    assert tally.cost == 2 * tally.asked <= 50
    assert 16 <= tally.asked < 40
    again = Job(ScriptedModel([answer]), [plan], Limits(max_cost=50))
    [second] = run(lab, [again], prices=PRICES)
    assert second.asked == 0  # what earlier sessions spent counts
    [third] = run(lab, [Job(ScriptedModel([answer]), [plan])], prices=PRICES)
    assert third.missing == 0


def test_a_cap_on_tokens_holds_for_all_plans_together(sqlite_lab: Lab) -> None:
    answer = Completion("a", usage=Usage(5, 5))
    plans = [
        plan_of(sqlite_lab, questions(10), max_tokens=5),
        plan_of(sqlite_lab, questions(20), max_tokens=5),
    ]
    limits = Limits(max_total_tokens=150)
    tallies = run(sqlite_lab, [Job(ScriptedModel([answer]), plans, limits)])
    assert [tally.stopped for tally in tallies] == [None, "cap"]
    assert sum(tally.asked for tally in tallies) * 10 <= 150


def test_answers_taken_from_another_run_do_not_count_towards_the_cap(sqlite_lab: Lab) -> None:
    # Each answer uses 10 tokens, and may use 7 + 5 before it is there.
    model = ScriptedModel([Completion("a", usage=Usage(5, 5))], concurrency=1)
    first = plan_of(sqlite_lab, questions(5), temperature=0, max_tokens=5)
    run(sqlite_lab, [Job(model, [first])])
    second = plan_of(sqlite_lab, questions(10), temperature=0, max_tokens=5)
    [begun] = run(sqlite_lab, [Job(model, [second], Limits(max_total_tokens=25))])
    assert (begun.reused, begun.asked, begun.stopped) == (5, 2, "cap")
    [resumed] = run(sqlite_lab, [Job(model, [second], Limits(max_total_tokens=55))])
    assert (resumed.asked, resumed.missing) == (3, 0)


def test_a_cap_on_tokens_counts_the_most_that_a_request_can_use(sqlite_lab: Lab) -> None:
    # Every answer uses 7 + 13 tokens, as estimated: the seventh fits under 150, the eighth not.
    answer = Completion("a", usage=Usage(7, 13))
    plan = plan_of(sqlite_lab, questions(20), max_tokens=13)
    limits = Limits(max_total_tokens=150, concurrency=1)
    [tally] = run(sqlite_lab, [Job(ScriptedModel([answer]), [plan], limits)])
    assert (tally.stopped, tally.asked) == ("cap", 7)


def test_requests_under_way_count_towards_the_cap_on_tokens(sqlite_lab: Lab) -> None:
    answer = Completion("a", usage=Usage(7, 13))
    plan = plan_of(sqlite_lab, questions(20), max_tokens=13)
    limits = Limits(max_total_tokens=150, concurrency=20)
    [tally] = run(sqlite_lab, [Job(ScriptedModel([answer]), [plan], limits)])
    assert (tally.stopped, tally.asked) == ("cap", 7)


def test_a_cap_on_money_without_a_price_is_refused(sqlite_lab: Lab) -> None:
    model = ScriptedModel(["a"], name="unknown/model")
    with pytest.raises(InputError, match="no price is known.*--prices"):
        run(sqlite_lab, [Job(model, [plan_of(sqlite_lab, ["q"])], Limits(max_cost=1))])


@pytest.mark.parametrize(
    "wrong",
    [
        Limits(concurrency=0),
        Limits(timeout=-1),
        Limits(attempts=0),
        Limits(timeout=float("nan")),
        Limits(max_cost=-1),
        Limits(max_total_tokens=0),
    ],
)
def test_limits_of_zero_are_refused(sqlite_lab: Lab, wrong: Limits) -> None:
    with pytest.raises(InputError, match="must be a number above 0"):
        run(sqlite_lab, [Job(ScriptedModel(["a"]), [plan_of(sqlite_lab, ["q"])], wrong)])


def test_the_observer_sees_only_what_is_durable(sqlite_lab: Lab, tmp_path: Path) -> None:
    behind: list[int] = []
    with sqlite3.connect(tmp_path / "lab" / "lab.sqlite") as reader:

        def observe(tally: Tally) -> None:
            [durable] = reader.execute("SELECT count(*) FROM answers").fetchone()
            behind.append(durable - tally.done)

        run(
            sqlite_lab,
            [Job(ScriptedModel(["a"]), [plan_of(sqlite_lab, questions(60))])],
            observe=observe,
        )
    reader.close()
    assert min(behind) >= 0
    assert behind[-1] == 0


def test_a_full_disk_ends_the_run_and_keeps_what_was_counted(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(sqlite_lab, questions(400))
    seen: list[int] = []
    with sqlite_lab.reading() as connection:
        pages = connection.execute(sa.text("PRAGMA page_count")).scalar_one()

    @sa.event.listens_for(sqlite_lab.engine, "begin")
    def _small_disk(connection: sa.Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 30}")

    def long_answer(_messages: object, _parameters: object) -> str:
        return "word " * 400

    with pytest.raises(LabError, match="disk is full"):
        run(
            sqlite_lab,
            [Job(ScriptedModel(long_answer, concurrency=4), [plan])],
            observe=lambda tally: seen.append(tally.done),
        )
    assert len(stored(sqlite_lab)) == max(seen) > 0


def test_a_run_under_way_is_refused_to_a_second_process(lab: Lab) -> None:
    plan = plan_of(lab, questions(2))

    def nested(_messages: object, _parameters: object) -> str:
        import threading

        caught: list[BaseException] = []

        def second() -> None:
            try:
                run(lab, [Job(ScriptedModel(["b"]), [plan])])
            except RunInUse as error:
                caught.append(error)

        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        assert "another process is working on" in str(caught[0])
        return "a"

    [tally] = run(lab, [Job(ScriptedModel(nested, concurrency=1), [plan])])
    assert tally.asked == 2


def test_an_endpoint_that_goes_away_ends_the_run_and_it_can_go_on(sqlite_lab: Lab) -> None:
    plan = plan_of(sqlite_lab, questions(6))
    gone = ModelUnavailable("refused", "unreachable")
    model = ScriptedModel(["a", "a", *[gone] * 20], concurrency=1)
    with pytest.raises(EndpointUnreachable, match="run the same command again to resume"):
        run(sqlite_lab, [Job(model, [plan], QUICK)])
    [tally] = run(sqlite_lab, [Job(ScriptedModel(["a"]), [plan])])
    assert (tally.already, tally.missing) == (2, 0)


def test_two_requests_with_the_same_key_are_a_mistake(sqlite_lab: Lab) -> None:
    from empathylab.runs import Plan, Request

    twice = [Request("q", (Message("user", "x"),), Parameters())] * 2
    with pytest.raises(ValueError, match="same key"):
        Plan("test", {}, twice, plan_of(sqlite_lab, ["q"]).interpreter)


def test_characters_that_databases_refuse_lose_no_answer(lab: Lab) -> None:
    odd = ["fine", "half a pair \ud83d", "a null \x00 inside", "fine 🙂"]
    model = ScriptedModel(odd, concurrency=1)
    [tally] = run(lab, [Job(model, [plan_of(lab, questions(4))])])
    assert tally.asked == 4
    assert [text for _, text in stored(lab)] == [
        "fine",
        "half a pair ?",
        "a null \ufffd inside",
        "fine 🙂",
    ]


def test_a_reused_refusal_stays_a_refusal(lab: Lab) -> None:
    model = ScriptedModel([Completion("", refusal="Our policy does not allow this.")])
    run(lab, [Job(model, [plan_of(lab, questions(2), temperature=0)])])
    [tally] = run(lab, [Job(model, [plan_of(lab, questions(3), temperature=0)])])
    assert tally.reused == 2
    assert dict(tally.outcomes) == {"refusal": 3}


def test_caps_hold_where_the_endpoint_does_not_count(lab: Lab) -> None:
    model = ScriptedModel([Completion("words " * 20)], concurrency=1)
    plan = plan_of(lab, questions(50), max_tokens=40)
    [tally] = run(lab, [Job(model, [plan], Limits(max_total_tokens=400))])
    assert tally.stopped == "cap"
    assert tally.estimated == tally.asked < 15


def test_a_wrong_key_in_mid_run_keeps_what_is_under_way(sqlite_lab: Lab) -> None:
    def script(messages: tuple[Message, ...], _parameters: Parameters) -> str | Exception:
        failed = ModelSetup("no access any more", remedy="Renew the key.")
        return failed if messages[-1].content == "question 10" else "a"

    model = ScriptedModel(script, concurrency=10, latency=0.05)
    with pytest.raises(ModelSetup, match="no access any more"):
        run(sqlite_lab, [Job(model, [plan_of(sqlite_lab, questions(500))])])
    assert len(model.calls) < 60
    assert len(stored(sqlite_lab)) == len(model.calls) - 1


def test_what_was_reused_costs_nothing_and_an_unknown_price_stays_unknown(lab: Lab) -> None:
    model = ScriptedModel([Completion("a", usage=Usage(10, 10))], name="unknown/model")
    run(lab, [Job(model, [plan_of(lab, questions(2), temperature=0)])])
    run(lab, [Job(model, [plan_of(lab, questions(4), temperature=0)])])
    frame = runs_frame(lab)
    assert frame["cost"].to_list() == [None, None]
    assert frame["prompt_tokens"].to_list() == [20, 20]


def test_many_models_on_one_lab_do_not_run_out_of_connections(lab: Lab) -> None:
    models = [ScriptedModel(["a"], name=f"scripted/{number}") for number in range(12)]
    plans = [plan_of(lab, ["x"]), plan_of(lab, ["y"])]
    tallies = run(lab, [Job(model, plans) for model in models])
    assert sum(tally.asked for tally in tallies) == 24


def test_an_endpoint_that_asks_for_a_day_is_not_waited_for_nor_hurried(sqlite_lab: Lab) -> None:
    script = ["a", RateLimited("quota used up", retry_after=86_400), "a"]
    model = ScriptedModel(script, concurrency=1)
    [tally] = run(sqlite_lab, [Job(model, [plan_of(sqlite_lab, questions(3))])])
    assert (tally.asked, dict(tally.failures)) == (2, {"rate limit": 1})
    assert len(model.calls) == 3
