"""What can be seen of a study while it runs."""

from __future__ import annotations

import math
import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from empathylab.store import Lab, schema
from empathylab.study import Study
from empathylab.study.admin import monitoring as watching
from empathylab.study.admin.monitoring import StudyStatus, read_status
from empathylab.study.design.definition import Quota
from empathylab.study.session.service import StudyService
from empathylab.study.session.visits import AttentionCount
from tests.study.examples import altered, appraisal, between
from tests.study.service_examples import START, Clock, opened, rows_of, someone, step_on, walk


def watched(service: StudyService) -> StudyStatus:
    return read_status(service.lab, service.launched, service.now())


def trusting(study: Study, minutes: int) -> Study:
    limits = altered(study.time_limits, abandon_after=minutes)
    return altered(study, time_limits=limits)


def lively(lab: Lab) -> tuple[StudyService, Clock]:
    """People in every state: finished, live, late, gone, withdrawn, excluded, no consent."""
    service, clock = opened(lab)
    late, gone = someone(service, "late"), someone(service, "gone")
    walk(service, late, until="rate")
    step_on(service, gone)
    clock.skip(minutes=61)
    for number in range(3):
        walk(service, someone(service, f"finished {number}"))
    walk(service, someone(service, "live"), until="scale")
    left = someone(service, "left")
    walk(service, left, until="comment")
    service.leave(left, delete=False)
    refusing = someone(service, "refusing")
    service.submit(refusing, "consent", {"agree": "no"}, {})
    out = someone(service, "out")
    walk(service, out)
    service.actions.exclude(out, "asleep")
    inattentive = someone(service, "inattentive")
    walk(service, inattentive, until="attention")
    service.submit(inattentive, "attention", {"question": "1"}, {})
    walk(service, someone(service, "bot", world="simulated"))
    someone(service, "tester", world="test")
    return service, clock


def test_the_numbers_are_those_of_the_study(lab: Lab) -> None:
    service, _ = lively(lab)
    found, status = watched(service), service.actions.status()
    assert (found.arrivals, found.opened, found.ratings) == (10, 0, 6)
    assert (found.simulated, found.tests) == (1, 1)
    assert found.outcomes == {"completed": 4, "no-consent": 1, "withdrawn": 1}
    assert found.drop_outs == {"demographics": 1, "rate": 1, "comment": 1}
    states: Counter[str] = Counter()
    for arm in found.arms:
        states.update({"live": arm.live, "finished": arm.finished, **arm.others})
    assert states == {"live": 2, "finished": 3, "late": 2, "withdrawn": 1, "excluded": 1}
    assert status.arms == found.arms
    assert status.seconds == {time.block: time.median for time in found.times}
    assert (status.seconds["scale"], status.seconds["rate"]) == (3.0, 0.0)
    service.actions.close()
    assert service.actions.status().seconds["rate"] == 3.0
    assert found.attention == {"attention": AttentionCount(6, 1)}
    assert (found.finished, found.unreviewed) == (3, 3)


def test_a_study_nobody_came_to_is_all_noughts(lab: Lab) -> None:
    service, _ = opened(lab)
    found = watched(service)
    assert (found.arrivals, found.opened, found.here, found.finished, found.ratings) == (0,) * 5
    assert found.by_time.counts == ()
    assert found.times == ()
    assert [arm.n for arm in found.balance[0].arms] == [0, 0]
    assert found.balance[0].verdict == "too few"


def test_arrivals_are_counted_by_the_finest_unit_that_fits_without_gaps(lab: Lab) -> None:
    service, clock = opened(lab)
    step_on(service, someone(service, "first"))
    clock.skip(hours=3)
    for name in ("second", "third"):
        step_on(service, someone(service, name))
    hours = watched(service).by_time
    assert (hours.unit, [count for _, count in hours.counts]) == ("hour", [1, 0, 0, 2])
    assert hours.counts[0][0] == START
    clock.skip(days=10)
    step_on(service, someone(service, "fourth"))
    days = watched(service).by_time
    assert (days.unit, len(days.counts)) == ("day", 11)
    assert [count for _, count in days.counts if count] == [3, 1]
    clock.skip(days=100)
    assert watched(service).by_time.unit == "week"


def test_quotas_show_who_is_held_and_who_is_wanted(lab: Lab) -> None:
    quota = Quota(by="sex", counts={"female": 6, "male": 4}, others=2)
    service, _ = opened(lab, between(quotas=(quota,)))
    walk(service, someone(service, "ann"), until="rate")
    walk(service, someone(service, "bob"))
    found = {quota.kind: (quota.held, quota.limit) for quota in watched(service).quotas}
    assert found == {"female": (0, 6), "male": (2, 4), "others": (0, 2)}


def answer_scales(lab: Lab, service: StudyService, means: dict[str, float], n: int) -> None:
    """Raters of each arm who answered the TEQ, with items about so high."""
    draw = random.Random(3)
    places: list[dict[str, Any]] = []
    pages: list[dict[str, Any]] = []
    for arm, mean in means.items():
        for slot in range(n):
            number = len(places) + 1
            places.append(
                {
                    "id": number,
                    "study_id": service.launched.row,
                    "person": f"{arm} {slot}",
                    "world": "person",
                    "arm": arm,
                    "slot": slot,
                    "status": "finished",
                    "traits": {},
                    "language": "en",
                    "outcome": "completed",
                    "arrived_at": START,
                    "claimed_at": START,
                    "seen_at": START,
                    "draft": {},
                }
            )
            for page in (1, 2):
                items = range(8 * page - 7, 8 * page + 1)
                given = {f"item-{item}": _answer(draw, mean, item) for item in items}
                pages.append(
                    {
                        "place_id": number,
                        "step": f"scale/{page}",
                        "given": given,
                        "shown_at": START,
                        "answered_at": START,
                        "timing": {"seconds": 1.0},
                        "corrections": 0,
                    }
                )
    with lab.writing() as connection:
        connection.execute(schema.slots.insert(), places)
        connection.execute(schema.page_answers.insert(), pages)


def _answer(draw: random.Random, mean: float, item: int) -> int:
    from empathylab.scales import builtin_scale

    teq = builtin_scale("teq")
    value = min(4, max(0, round(draw.gauss(mean, 1))))
    return 4 - value if item in teq.reversed else value


@pytest.mark.parametrize(
    ("second", "n", "verdict"),
    [(2.0, 400, "alike"), (3.0, 30, "different"), (2.0, 12, "unclear"), (2.0, 1, "too few")],
)
def test_the_raters_of_the_arms_are_compared(
    sqlite_lab: Lab, second: float, n: int, verdict: str
) -> None:
    service, _ = opened(sqlite_lab, between(ratings_per_response=2000))
    answer_scales(sqlite_lab, service, {"one": 2.0, "two": second}, n)
    (balance,) = watched(service).balance
    assert (balance.scale, balance.subscale, balance.verdict) == ("teq", "total", verdict)
    assert [arm.n for arm in balance.arms] == [n, n]
    assert balance.arms[0].mean == pytest.approx(32, abs=8)


def test_a_half_answered_scale_counts_nowhere(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    walk(service, person, until="scale")
    step_on(service, person)
    (balance,) = watched(service).balance
    assert [arm.n for arm in balance.arms] == [0, 0]
    step_on(service, person)
    (balance,) = watched(service).balance
    assert sum(arm.n for arm in balance.arms) == 1
    assert next(arm.mean for arm in balance.arms if arm.n) == 32


def test_a_scale_after_the_situation_is_no_balance(lab: Lab) -> None:
    service, _ = opened(lab, appraisal())
    walk(service, someone(service, "ann"))
    assert {item.subscale for item in watched(service).balance} == {"positive", "negative"}
    assert {item.verdict for item in watched(service).balance} == {"one arm"}
    assert all(item.arms[0].n == 1 for item in watched(service).balance)


def test_who_is_late_and_who_is_gone_depends_on_the_studys_limits(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab, trusting(between(), 5))
    walk(service, someone(service, "ann"), until="rate")
    step_on(service, someone(service, "bob"))
    assert watched(service).here == 2
    clock.skip(minutes=6)
    found = watched(service)
    assert found.here == 0
    assert sum(arm.others.get("late", 0) for arm in found.arms) == 2
    assert found.drop_outs == {"demographics": 1, "rate": 1}
    assert found.by_time.counts[0][0] + timedelta(hours=1) > START


def test_a_participant_who_only_opens_the_link_has_not_come(lab: Lab) -> None:
    service, clock = opened(lab)
    step_on(service, someone(service, "ann"))
    for number in range(3):
        service.view(someone(service, f"a program that previews links {number}"))
    clock.skip(hours=3)
    found, said = watched(service), service.actions.status()
    assert (found.arrivals, found.opened, found.here) == (1, 3, 0)
    assert (said.arrivals, said.opened) == (1, 3)
    assert found.drop_outs == said.drop_outs == {"demographics": 1}
    assert sum(count for _, count in found.by_time.counts) == 1


def test_deleting_after_the_end_is_no_dropping_out(lab: Lab) -> None:
    service, _ = opened(lab)
    done, early = someone(service, "done"), someone(service, "early")
    walk(service, done)
    walk(service, early, until="rate")
    for person in (done, early):
        service.leave(person, delete=True)
    assert watched(service).drop_outs == service.actions.status().drop_outs == {"rate": 1}
    assert watched(service).outcomes == {"withdrawn": 2}


def test_all_pages_are_counted_though_only_the_newest_are_timed(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, _ = opened(lab)
    for name in ("ann", "bob"):
        walk(service, someone(service, name))
    monkeypatch.setattr(watching, "LATEST_PAGES", 1)
    found = {time.block: time for time in watched(service).times}
    assert (found["consent"].pages, found["rate"].pages) == (2, 4)
    assert math.isnan(found["consent"].median)


def withdrawing(lab: Lab, service: StudyService, arm: str, slot: int) -> StudyService:
    """The study after the writer of a batch's first reply has deleted it."""
    item = service.launched.slots[arm][slot].items[0]
    reply = service.launched.responses[item.situation, arm]
    with lab.writing() as connection:
        table = schema.responses
        gone = {"text": "", "outcome": "withdrawn"}
        connection.execute(table.update().where(table.c.id == reply.response).values(**gone))
    return StudyService(lab, service.name, clock=service.now)


def test_a_batch_that_is_closed_to_newcomers_is_a_place_only_while_occupied(
    lab: Lab,
) -> None:
    service, clock = opened(lab)
    holder = someone(service, "holder")
    walk(service, holder, until="rate")
    (place,) = [row for row in rows_of(lab, schema.slots) if row["person"] == holder]
    again = withdrawing(lab, service, place["arm"], place["slot"])
    shut = sum(arm == place["arm"] for arm, _ in again.launched.shut)
    batches = len(again.launched.slots[place["arm"]])
    assert 1 < shut < batches
    for expected in (batches - shut + 1, batches - shut):
        for arms in (again.actions.status().arms, watched(again).arms):
            assert {arm.arm: arm.places for arm in arms}[place["arm"]] == expected
        clock.skip(minutes=61)  # anyone who is late holds it no more
