"""What Prolific says of its submissions, and what becomes of places here."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection

from empathylab.errors import InputError, UserError
from empathylab.store import Lab, schema
from empathylab.store.ratings import ratings_frame
from empathylab.store.studies.participants import submitters
from empathylab.study.recruiting.prolific import Submission
from empathylab.study.recruiting.sync import (
    KNOWN,
    apply_submissions,
    platform_studies,
    pull,
    status_named,
)
from empathylab.study.session.service import Closed, Page, PlatformIds, StudyService
from tests.study.recruiting.examples import finished, rating, recruiting, sent, served
from tests.study.recruiting.prolific_server import STUDY, prolific, submission
from tests.study.service_examples import rows_of, someone, walk


def status_of(lab: Lab, person: str) -> str:
    return next(row["status"] for row in rows_of(lab, schema.slots) if row["person"] == person)


@pytest.mark.parametrize(
    ("said", "becomes"),
    [
        ("RETURNED", "returned"),
        ("Returned ", "returned"),
        ("TIMED-OUT", "timed-out"),
        ("TIMED OUT", "timed-out"),
        ("timed_out", "timed-out"),
        ("REJECTED", "abandoned"),
    ],
)
def test_a_participant_who_left_frees_the_place(sqlite_lab: Lab, said: str, becomes: str) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    person = rating(service, "ann")
    synced = apply_submissions(service, [Submission("ann", said)], source="API")
    assert synced.freed == (person,)
    assert status_of(sqlite_lab, person) == becomes


@pytest.mark.parametrize(
    "said", ["RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED", "SCREENED OUT", "PAUSED BY US"]
)
def test_a_participant_who_is_still_there_keeps_the_place(sqlite_lab: Lab, said: str) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    person = rating(service, "ann")
    synced = apply_submissions(service, [Submission("ann", said)], source="API")
    assert synced.freed == ()
    assert status_of(sqlite_lab, person) == "live"
    assert rows_of(sqlite_lab, schema.people)[0]["state"] == said


@pytest.mark.parametrize("gap", [" ", "-", "_", "  "])
def test_a_status_is_known_however_it_is_spelled(gap: str) -> None:
    for known in KNOWN:
        assert status_named(known.replace(" ", gap).replace("-", gap).lower()) == known


def test_a_status_that_nobody_knows_is_kept_and_named(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    rating(service, "ann")
    synced = apply_submissions(service, [Submission("ann", "on the moon")], source="API")
    assert synced.odd == ("ON THE MOON",)
    assert rows_of(sqlite_lab, schema.people)[0]["state"] == "ON THE MOON"


def test_a_freed_slot_goes_to_the_next_person(lab: Lab) -> None:
    service, _ = served(lab, recruiting("prolific", batch_size=6, ratings_per_response=1))
    for name in ("ann", "bob"):
        rating(service, name)
    assert isinstance(service.view(sent(service, "cleo")), Page)
    cleo = sent(service, "dora")
    apply_submissions(service, [Submission("ann", "RETURNED")], source="API")
    page = walk(service, cleo, until="rate")
    assert isinstance(page, Page)
    assert sum(arm.live for arm in service.actions.status().arms) == 2


@pytest.mark.parametrize("said", ["TIMED-OUT", "REJECTED"])
def test_finished_work_stays_whatever_became_of_the_submission(sqlite_lab: Lab, said: str) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    person = finished(service, "ann")
    synced = apply_submissions(service, [Submission("ann", said)], source="API")
    assert (synced.freed, synced.excluded, synced.kept) == ((), (), 1)
    assert status_of(sqlite_lab, person) == "finished"
    assert ratings_frame(sqlite_lab, "small").height == 2


def test_finished_work_that_was_returned_counts_no_longer(lab: Lab) -> None:
    service, _ = served(lab, recruiting("prolific"))
    person, other = finished(service, "ann"), finished(service, "bob")
    synced = apply_submissions(service, [Submission("ann", "RETURNED")], source="API")
    assert synced.excluded == (person,)
    assert status_of(lab, person) == "excluded"
    assert ratings_frame(lab, "small")["rater"].unique().to_list() == [other]
    entry = next(item for item in service.actions.audit() if item.action == "exclude")
    assert "returned their submission" in entry.details["reason"]


def test_news_that_another_process_hears_meanwhile_takes_effect_once(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    person = rating(service, "ann")
    news = [Submission("ann", "RETURNED")]
    read = submitters

    def overtaken(connection: Connection, study: int) -> object:
        rows = read(connection, study)
        monkeypatch.undo()
        assert apply_submissions(service, news, source="API").freed == (person,)
        rating(service, "ann")  # and takes the slot again
        return rows

    monkeypatch.setattr("empathylab.study.recruiting.sync.submitters", overtaken)
    assert apply_submissions(service, news, source="API").changed == 0
    assert status_of(sqlite_lab, person) == "live"


def test_the_same_news_twice_changes_nothing(lab: Lab) -> None:
    service, _ = served(lab, recruiting("prolific"))
    rating(service, "ann")
    finished(service, "bob")
    news = [Submission("ann", "TIMED-OUT"), Submission("bob", "APPROVED")]
    assert apply_submissions(service, news, source="API").changed == 2
    before = rows_of(lab, schema.audit), rows_of(lab, schema.people), rows_of(lab, schema.slots)
    again = apply_submissions(service, news, source="API")
    assert (again.changed, again.freed) == (0, ())
    assert again.statuses == {"APPROVED": 1, "TIMED-OUT": 1}
    after = rows_of(lab, schema.audit), rows_of(lab, schema.people), rows_of(lab, schema.slots)
    assert before == after


def test_two_processes_that_hear_the_same_act_once(lab: Lab) -> None:
    service, clock = served(lab, recruiting("prolific"))
    for name in ("ann", "bob", "cleo"):
        rating(service, name)
    news = [Submission(name, "TIMED-OUT") for name in ("ann", "bob", "cleo")]
    services = [service, *(StudyService(lab, "small", clock=clock) for _ in range(3))]
    with ThreadPoolExecutor(4) as threads:
        found = list(
            threads.map(lambda item: apply_submissions(item, news, source="API"), services)
        )
    assert sum(len(item.freed) for item in found) == 3
    assert [item.action for item in service.actions.audit()].count("release") == 3


def test_a_participant_who_came_back_after_returning_keeps_the_place(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    person = rating(service, "ann")
    news = [Submission("ann", "RETURNED")]
    apply_submissions(service, news, source="API")
    assert isinstance(service.view(sent(service, "ann")), Page)
    assert apply_submissions(service, news, source="API").freed == ()
    assert status_of(sqlite_lab, person) == "live"


def test_of_two_submissions_of_one_person_the_later_counts(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    rating(service, "ann", session="first")
    old = Submission("ann", "RETURNED", "first", "2026-03-01T09:00:00Z")
    new = Submission("ann", "ACTIVE", "second", "2026-03-01T10:00:00Z")
    for news in ([old, new], [new, old]):
        assert apply_submissions(service, news, source="API").freed == ()
    undated = [Submission("ann", "ACTIVE"), Submission("ann", "RETURNED")]
    assert apply_submissions(service, undated, source="API").freed == ()


def test_who_takes_part_twice_has_two_submissions(sqlite_lab: Lab) -> None:
    study = recruiting("prolific", recruitment={"once": False})
    service, _ = served(sqlite_lab, study)
    finished(service, "ann", session="first")
    again = rating(service, "ann", session="second")
    news = [Submission("ann", "APPROVED", "first"), Submission("ann", "TIMED-OUT", "second")]
    synced = apply_submissions(service, news, source="API")
    assert synced.freed == (again,)
    assert synced.statuses == {"APPROVED": 1, "TIMED-OUT": 1}


def test_a_person_who_never_came_is_counted_and_not_invented(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    sent(service, "ann")
    news = [Submission(name, "RETURNED") for name in ("ann", "bob", "cleo", "cleo", "")]
    synced = apply_submissions(service, news, source="API")
    assert (synced.submissions, synced.people, synced.unknown) == (5, 1, 2)
    assert len(rows_of(sqlite_lab, schema.people)) == len(rows_of(sqlite_lab, schema.slots)) == 1


def test_a_participant_who_came_with_an_id_that_prolific_does_not_list_is_counted(
    sqlite_lab: Lab,
) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    rating(service, "made-up")
    synced = apply_submissions(service, [Submission("ann", "ACTIVE")], source="API")
    assert (synced.unlisted, synced.freed) == (1, ())


def test_a_participant_who_has_no_place_yet_has_none_to_free(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    person = sent(service, "ann")
    synced = apply_submissions(service, [Submission("ann", "RETURNED")], source="API")
    assert (synced.changed, synced.freed) == (1, ())
    assert status_of(sqlite_lab, person) == "arrived"


def test_trials_and_simulated_raters_are_nobody_to_prolific(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    for world in ("test", "simulated"):
        walk(service, someone(service, "ann", world=world), until="rate")
    synced = apply_submissions(service, [Submission("ann", "RETURNED")], source="API")
    assert (synced.people, synced.freed) == (0, ())


def test_every_change_is_in_the_audit(lab: Lab) -> None:
    service, _ = served(lab, recruiting("prolific"))
    person = rating(service, "ann")
    apply_submissions(service, [Submission("ann", "RETURNED")], source="API", who="eva")
    entries = [(item.who, item.action, dict(item.details)) for item in service.actions.audit()[-2:]]
    assert entries == [
        ("eva", "release", {"person": person, "status": "returned"}),
        ("eva", "sync", {"source": "API", "changed": 1, "freed": 1, "excluded": 0}),
    ]
    assert "ann" not in str(service.actions.audit())


def test_a_place_can_be_released_by_hand(lab: Lab) -> None:
    service, _ = served(lab, recruiting("open"))
    person = rating(service, "ann")
    assert service.actions.release(person, who="eva")
    assert status_of(lab, person) == "returned"
    assert service.actions.audit()[-1].details == {"person": person, "status": "returned"}
    assert not service.actions.release(person)
    assert not service.actions.release("nobody")
    assert not service.actions.release(finished(service, "bob"))
    assert [item.action for item in service.actions.audit()].count("release") == 1


def test_an_id_with_odd_characters_is_found_again(lab: Lab) -> None:
    service, _ = served(lab, recruiting("prolific"))
    person = rating(service, "Zoë \u0301'; --")
    news = [Submission("Zoe\u0308 \u0301'; --", "RETURNED")]
    assert apply_submissions(service, news, source="API").freed == (person,)


def test_only_prolific_can_be_synced(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("mturk"))
    with pytest.raises(InputError, match="only studies that recruit on Prolific"):
        apply_submissions(service, [], source="API")


def test_the_api_is_asked_for_the_studies_in_peoples_links(lab: Lab) -> None:
    service, _ = served(lab, recruiting("prolific"))
    person = rating(service, "ann")
    sent(service, "bob", study="forged-by-bob")
    sent(service, "cleo")
    assert platform_studies(service) == [STUDY, "forged-by-bob"]
    with prolific(submission("ann", "RETURNED"), submission("cleo", "ACTIVE")) as platform:
        synced = asyncio.run(pull(service, platform.client()))
    assert synced.freed == (person,)


def test_nobody_came_yet_and_nothing_is_asked(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    with prolific() as platform:
        assert asyncio.run(pull(service, platform.client())).submissions == 0
        assert platform.requests == []


def test_a_study_that_prolific_does_not_know_is_said(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    rating(service, "ann")
    with prolific() as platform:
        with pytest.raises(InputError, match="--prolific-study"):
            asyncio.run(pull(service, platform.client(), studies=["wrong"]))
        platform.studies.clear()
        with pytest.raises(InputError, match="--prolific-study"):
            asyncio.run(pull(service, platform.client()))


def test_a_failure_on_the_second_page_changes_nothing(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    rating(service, "ann")
    rows = [submission("ann", "RETURNED")]
    rows += [submission(f"p{number}", "ACTIVE") for number in range(300)]
    with prolific(*rows) as platform:
        platform.most = 200
        client = platform.client(attempts=1)
        platform.orders = []
        asked = platform.requests

        class Breaking(list[str]):
            """Fails the second request."""

            def __bool__(self) -> bool:
                return len(asked) > 1

        platform.orders = Breaking(["500"])
        with pytest.raises(UserError):
            asyncio.run(pull(service, client))
    assert [row["status"] for row in rows_of(sqlite_lab, schema.slots)] == ["live"]
    assert rows_of(sqlite_lab, schema.people)[0]["state"] is None


def test_a_participant_who_returned_and_was_displaced_is_told_so(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific", batch_size=6, ratings_per_response=1))
    ann = rating(service, "ann")
    apply_submissions(service, [Submission("ann", "RETURNED")], source="API")
    for name in ("bob", "cleo"):
        rating(service, name)
    view = service.view(service.arrive(PlatformIds("prolific", "ann")))
    assert isinstance(view, Closed)
    assert (view.reason, view.completion.url) == ("returned", None)
    assert status_of(sqlite_lab, ann) == "returned"
