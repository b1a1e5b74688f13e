"""Places through the service: level arms, no slot twice, freed, stopped, paused, closed."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.store import Lab, schema
from empathylab.study.design.definition import Quota, Study
from empathylab.study.session.service import (
    Closed,
    Finished,
    Moved,
    Page,
    PlatformIds,
    StudyService,
    View,
    launch,
)
from tests.study.examples import between, within
from tests.study.service_examples import opened, rows_of, someone, step_on, walk

WALKERS = """
import sys, threading
from pathlib import Path
from empathylab.store import Lab
from empathylab.study.session.service import StudyService
from tests.study.service_examples import someone, walk

lab = Lab.open(Path(sys.argv[1]), database=sys.argv[2] or None)
service = StudyService(lab, "small")

def go(name):
    walk(service, someone(service, name))

people = [threading.Thread(target=go, args=(f"{sys.argv[3]} {one}",)) for one in range(3)]
print("ready", flush=True)
sys.stdin.readline()
for one in people: one.start()
for one in people: one.join()
lab.close()
"""


def with_place(service: StudyService, name: str) -> str:
    """Somebody who has been given a place."""
    person = someone(service, name)
    walk(service, person, until="reading")
    return person


def reason(view: View) -> str | None:
    return view.reason if isinstance(view, Closed) else None


def place_of(lab: Lab, person: str) -> dict[str, object]:
    return next(row for row in rows_of(lab, schema.slots) if row["person"] == person)


def check_level(lab: Lab, arms: int, places: int) -> None:
    """All places finished once, and arms never further apart than one as they were claimed."""
    rows = sorted(rows_of(lab, schema.slots), key=lambda row: row["claimed_at"])
    assert len({(row["arm"], row["slot"]) for row in rows}) == len(rows) == places
    assert {row["status"] for row in rows} == {"finished"}
    held: Counter[str] = Counter()
    for row in rows:
        held[row["arm"]] += 1
        full = [held[arm] for arm in held]
        assert max(full) - (min(full) if len(held) == arms else 0) <= 1
    rated = Counter(row["response_id"] for row in rows_of(lab, schema.ratings))
    assert set(rated.values()) == {2}


def test_processes_and_threads_at_once_give_level_arms_and_no_slot_twice(
    lab: Lab, tmp_path: Path, database: str | None
) -> None:
    opened(lab)
    root = Path(__file__).parents[2]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WALKERS, str(tmp_path / "lab"), database or "", str(index)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=root,
        )
        for index in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    own = StudyService(lab, "small")
    threads = [
        threading.Thread(target=lambda name=name: walk(own, someone(own, name)))
        for name in "abcdef"
    ]
    for thread in threads:
        thread.start()
    for process in processes:
        _, said = process.communicate("go\n")
        assert process.returncode == 0, said
    for thread in threads:
        thread.join()
    check_level(lab, arms=2, places=12)
    assert reason(StudyService(lab, "small").view(_newcomer(own))) == "full"


def _newcomer(service: StudyService) -> str:
    """Someone who has answered all that comes before a place."""
    person = someone(service, "newcomer")
    step_on(service, person)
    step_on(service, person)
    return person


def test_the_same_person_in_two_tabs_takes_one_place(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    step_on(service, person)
    seen: list[View] = []
    tabs = [threading.Thread(target=lambda: seen.append(service.view(person))) for _ in range(4)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert len({page.step for page in seen if isinstance(page, Page)}) == 1
    step_on(service, person)
    assert len(rows_of(lab, schema.slots)) == 1


def test_a_place_that_was_left_is_given_on_and_its_holder_told_so(lab: Lab) -> None:
    service, clock = opened(lab, between(batch_size=6, ratings_per_response=1))
    slow, other = with_place(service, "slow"), with_place(service, "other")
    clock.skip(minutes=61)
    service.view(other)  # comes back in time before anybody wants the place
    newcomer = with_place(service, "newcomer")
    before, after = place_of(lab, slow), place_of(lab, newcomer)
    assert (before["arm"], before["slot"]) == (after["arm"], after["slot"])
    assert before["status"] == "abandoned"
    assert reason(service.view(slow)) == "given-on"
    assert isinstance(service.submit(slow, "tutorial/1", {}, {}), Moved)
    assert isinstance(service.view(other), Page)


def test_a_clock_that_was_a_year_ahead_holds_no_place_for_a_year(lab: Lab) -> None:
    service, clock = opened(lab, between(batch_size=6, ratings_per_response=1))
    clock.skip(days=365)
    first, second = with_place(service, "first"), with_place(service, "second")
    clock.skip(days=-365)
    newcomer = place_of(lab, with_place(service, "newcomer"))
    held = [place_of(lab, value) for value in (first, second)]
    assert {(item["arm"], item["slot"], item["status"]) for item in held} == {
        (newcomer["arm"], newcomer["slot"], "abandoned"),
        ("two" if newcomer["arm"] == "one" else "one", 0, "live"),
    }


def test_a_participant_who_comes_back_late_finds_their_own_place_while_it_is_free(lab: Lab) -> None:
    service, clock = opened(lab)
    person = with_place(service, "ann")
    before = place_of(lab, person)
    clock.skip(hours=20)
    assert isinstance(walk(service, person), Finished)
    after = place_of(lab, person)
    assert (before["arm"], before["slot"]) == (after["arm"], after["slot"])


@pytest.mark.parametrize("status", ["returned", "timed-out"])
def test_a_place_that_the_platform_reports_as_left_is_free_at_once(lab: Lab, status: str) -> None:
    service, _ = opened(lab, between(batch_size=6, ratings_per_response=1))
    gone = with_place(service, "gone")
    with_place(service, "stays")
    assert service.actions.release(gone, status)  # type: ignore[arg-type]
    arms = {arm.arm: arm for arm in service.actions.status().arms}
    assert arms[str(place_of(lab, gone)["arm"])].others == {status: 1}
    taken = place_of(lab, with_place(service, "next"))
    assert taken["arm"] == place_of(lab, gone)["arm"]


def test_finished_work_stays_finished_whatever_the_platform_says(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    walk(service, person)
    assert service.actions.release(person) is False
    assert place_of(lab, person)["status"] == "finished"


def test_test_visits_and_simulated_raters_count_for_nobody(lab: Lab) -> None:
    service, _ = opened(lab, between(batch_size=6, ratings_per_response=1))
    for number in range(4):
        walk(service, someone(service, f"trial {number}", world="test"))
    for number in range(2):
        walk(service, someone(service, f"bot {number}", world="simulated"))
    status = service.actions.status()
    assert (status.arrivals, status.simulated, status.tests, status.ratings) == (0, 2, 4, 0)
    for name in ("ann", "bob"):
        assert isinstance(walk(service, someone(service, name)), Finished)
    assert reason(service.view(_newcomer(service))) == "full"


def test_a_platform_id_is_another_key_in_another_world(lab: Lab) -> None:
    service, _ = opened(lab)
    worlds = ("person", "simulated", "test")
    assert len({someone(service, "ann", world=world) for world in worlds}) == 3


def test_a_stopped_arm_takes_nobody_until_it_is_resumed(lab: Lab) -> None:
    service, _ = opened(lab)
    service.actions.stop_arm("one", who="eva")
    for name in "abc":
        assert place_of(lab, with_place(service, name))["arm"] == "two"
    service.actions.resume("one", who="eva")
    assert place_of(lab, with_place(service, "d"))["arm"] == "one"
    said = [(item.who, item.action, item.details) for item in service.actions.audit()]
    assert said == [
        ("researcher", "launch", {"version": 1}),
        ("eva", "stop arm", {"arm": "one"}),
        ("eva", "resume arm", {"arm": "one"}),
    ]
    with pytest.raises(UnknownName, match="Did you mean 'one'"):
        service.actions.stop_arm("onee")


def test_a_paused_study_lets_go_on_who_is_in_and_nobody_new(lab: Lab) -> None:
    service, _ = opened(lab)
    inside = with_place(service, "inside")
    service.actions.pause()
    assert reason(service.view(someone(service, "new"))) == "paused"
    assert isinstance(walk(service, inside), Finished)
    service.actions.resume()
    assert isinstance(service.view(someone(service, "new")), Page)


def test_a_closed_study_takes_no_answer_and_stays_closed(lab: Lab) -> None:
    service, _ = opened(lab)
    inside, done = with_place(service, "inside"), someone(service, "done")
    walk(service, done)
    service.actions.close(who="eva")
    assert reason(service.view(inside)) == "closed"
    assert isinstance(service.submit(inside, "tutorial/1", {}, {}), Moved)
    assert isinstance(service.view(done), Finished)
    assert service.actions.status().closed_at is not None
    with pytest.raises(InputError, match="the study is closed.*version 2"):
        service.actions.resume()


def test_a_quota_turns_away_and_tells_the_code_for_that(lab: Lab) -> None:
    recruitment = type(between().recruitment)(
        platform="prolific", codes={"completed": "A1", "screened-out": "OUT1"}
    )
    study = between(
        quotas=(Quota(by="sex", counts={"male": 1, "female": 11}),),  # careful people are male here
        recruitment=recruitment,
    )
    service, _ = opened(lab, study)
    with_place(service, "first")
    person = _newcomer(service)
    view = service.view(person)
    assert isinstance(view, Closed)
    assert (view.reason, view.completion.code) == ("quota", "OUT1")


def test_nobody_takes_part_twice_and_not_in_a_later_version_either(lab: Lab) -> None:
    service, clock = opened(lab)
    person = someone(service, "ann")
    walk(service, person)
    assert someone(service, "ann") == person
    launch(lab, between(version=2), now=clock())
    later = StudyService(lab, "small", clock=clock)
    assert reason(later.view(someone(later, "ann"))) == "repeated"
    assert isinstance(later.view(someone(later, "bob")), Page)
    assert isinstance(service.view(person), Finished)


def test_where_it_is_allowed_one_takes_part_again_and_only_when_done(lab: Lab) -> None:
    recruitment = type(between().recruitment)(platform="open", once=False)
    service, _ = opened(lab, between(recruitment=recruitment))
    first = someone(service, "ann")
    assert someone(service, "ann") == first
    walk(service, first)
    second = someone(service, "ann")
    assert second != first
    assert someone(service, "ann") == second


def test_drop_outs_are_counted_by_block(lab: Lab) -> None:
    service, clock = opened(lab)
    walk(service, someone(service, "rates"), until="rate")
    step_on(service, someone(service, "agrees"))
    service.view(someone(service, "looks"))
    leaver = with_place(service, "leaves")
    service.leave(leaver, delete=False)
    assert service.actions.status().drop_outs == {"tutorial": 1}
    clock.skip(hours=2)
    assert service.actions.status().drop_outs == {"demographics": 1, "tutorial": 1, "rate": 1}
    late = [arm.others.get("late", 0) for arm in service.actions.status().arms]
    assert sum(late) == 2


def test_status_tells_no_rating(lab: Lab) -> None:
    service, _ = opened(lab)
    walk(service, someone(service, "ann"))
    fields = set(service.actions.status().arms[0].__slots__)
    assert fields == {"arm", "places", "stopped", "coarse", "live", "finished", "others"}


def test_attention_failures_and_median_times_are_counted(lab: Lab) -> None:
    service, _ = opened(lab)
    for number, answer in enumerate(("1", "2", "2")):
        person = someone(service, str(number))
        walk(service, person, until="attention")
        service.submit(person, "attention", {"question": answer}, {})
    status = service.actions.status()
    assert (status.attention["attention"].asked, status.attention["attention"].failed) == (3, 1)
    assert (status.seconds["tutorial"] > 0, status.seconds["rate"]) == (True, 0.0)


def test_participants_are_listed_under_their_keys(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    step_on(service, person)
    [listed] = service.actions.participants()
    assert (listed.person, listed.status, listed.answered) == (person, "live", 1)


def test_all_see_everything_within_subjects(lab: Lab) -> None:
    study: Study = within(2, batch_size=3, ratings_per_response=1)
    service, _ = opened(lab, study)
    for name in ("ann", "bob"):
        assert isinstance(walk(service, someone(service, name)), Finished)
    arms = {row["id"]: row["name"] for row in rows_of(lab, schema.arms)}
    rated = Counter(arms[row["arm_id"]] for row in rows_of(lab, schema.ratings))
    assert rated == {"a": 6, "b": 6}
    assert [(arm.arm, arm.finished) for arm in service.actions.status().arms] == [("everyone", 2)]


def test_what_the_platform_tells_fills_quotas(lab: Lab) -> None:
    study = between(quotas=(Quota(by="country", counts={"CH": 1, "DE": 11}, source="platform"),))
    service, _ = opened(lab, study)

    def come(name: str) -> View:
        person = service.arrive(PlatformIds("open", name, traits={"country": "CH"}))
        step_on(service, person)
        return service.view(person)

    assert isinstance(come("ann"), Page)
    assert reason(come("bob")) == "quota"
