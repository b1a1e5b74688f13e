"""Answers through the service: saved once, corrected, refused, and never lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy import event, text

from empathylab.errors import LabError, UnknownName
from empathylab.store import Lab, schema
from empathylab.study.blocks.forms import problem
from empathylab.study.session.service import (
    Closed,
    Finished,
    Moved,
    Page,
    Refused,
    Saved,
    StudyService,
)
from tests.study.examples import appraisal, between
from tests.study.service_examples import (
    START,
    Clock,
    careful,
    opened,
    rows_of,
    someone,
    step_on,
    walk,
)


def page_of(service: StudyService, person: str) -> Page:
    page = service.view(person)
    assert isinstance(page, Page)
    return page


def test_a_careful_person_reaches_the_end_and_the_debriefing(lab: Lab) -> None:
    service, _ = opened(lab)
    end = walk(service, someone(service, "ann"))
    assert isinstance(end, Finished)
    assert end.outcome == "completed"
    assert end.content is not None
    assert end.content.text == "Thank you"


def test_the_same_person_has_the_same_key_and_goes_on_where_they_were(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    due = walk(service, person, until="rate")
    again = someone(StudyService(lab, "small"), "ann")
    assert again == person
    assert page_of(service, again) == due
    assert len(rows_of(lab, schema.slots)) == 1


def test_an_answer_is_stored_with_its_time_by_both_clocks(lab: Lab) -> None:
    service, clock = opened(lab)
    person = someone(service, "ann")
    page = page_of(service, person)
    clock.skip(seconds=10)
    given = {"agree": "yes", "another": "thing"}
    assert service.submit(person, page.step, given, {"seconds": 9.5, "losses": 2}) == Saved(
        "consent"
    )
    [row] = rows_of(lab, schema.page_answers)
    assert row["given"] == {"agree": "yes"}
    # One second for reading the clock when the page is asked for, and one when the answer comes.
    assert row["timing"] == {"seconds": 12.0, "reported": 9.5, "away": None, "losses": 2}


def test_the_same_submission_twice_is_saved_twice_and_stored_once(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    for _ in range(2):
        done = service.submit(person, "consent", {"agree": "yes"}, {})
        assert isinstance(done, Saved)
    assert len(rows_of(lab, schema.page_answers)) == 1


def test_the_same_submission_from_many_tabs_at_once_is_stored_once(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    walk(service, person, until="comment")
    done: list[object] = []

    def send() -> None:
        done.append(service.submit(person, "comment", {"comment": "Fine."}, {}))

    tabs = [threading.Thread(target=send) for _ in range(6)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert done == [Saved("comment")] * 6
    assert sum(row["step"] == "comment" for row in rows_of(lab, schema.page_answers)) == 1
    assert len(rows_of(lab, schema.raters)) == 1


def test_a_clock_that_is_set_back_costs_nobody_their_place(lab: Lab) -> None:
    service, clock = opened(lab)
    person = someone(service, "ann")
    walk(service, person, until="rate")
    clock.skip(hours=-5)
    assert isinstance(service.submit(person, "rate/1", {"empathy": "1"}, {}), Saved)
    [row] = [row for row in rows_of(lab, schema.page_answers) if row["step"] == "rate/1"]
    assert row["timing"]["seconds"] is None
    assert row["shown_at"] <= row["answered_at"]
    assert isinstance(walk(service, person), Finished)


@pytest.mark.postgres
def test_a_server_that_lost_its_connections_goes_on(tmp_path: Path, postgres_url: str) -> None:
    with Lab.open(tmp_path / "lab", database=postgres_url) as lab:
        service, _ = opened(lab)
        person = someone(service, "ann")
        step_on(service, person)
        other = sqlalchemy.create_engine(postgres_url, poolclass=sqlalchemy.NullPool)
        with other.connect() as connection:
            connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
        assert isinstance(walk(service, person), Finished)


def test_the_last_answer_sent_twice_finishes_once(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    page = walk(service, person, until="comment")
    assert isinstance(page, Page)
    done = [service.submit(person, page.step, {"comment": "Fine."}, {}) for _ in range(2)]
    assert done == [Saved("comment")] * 2
    assert len(rows_of(lab, schema.raters)) == 1
    assert len(rows_of(lab, schema.ratings)) == 2


def test_another_answer_to_a_page_that_is_over_is_moved_and_changes_nothing(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    step_on(service, person)
    done = service.submit(person, "consent", {"agree": "no"}, {})
    assert done == Moved()
    assert rows_of(lab, schema.page_answers)[0]["given"] == {"agree": "yes"}


def test_skipping_ahead_is_moved_and_stores_nothing(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    assert isinstance(service.submit(person, "rate/2", {"empathy": "1"}, {}), Moved)
    assert isinstance(service.submit(person, "nonsense", {}, {}), Moved)
    assert rows_of(lab, schema.page_answers) == []
    assert page_of(service, person).step == "consent"


def test_what_is_wrong_is_refused_and_not_stored(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    step_on(service, person)
    done = service.submit(person, "demographics", {"age": "12", "sex": ["male", "female"]}, {})
    assert isinstance(done, Refused)
    assert {name: one.code for name, one in done.problems.items()} == {
        "age": "out-of-range",
        "sex": "twice",
    }
    assert len(rows_of(lab, schema.page_answers)) == 1


def test_an_earlier_rating_is_corrected_in_its_place(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    first = walk(service, person, until="rate")
    assert isinstance(first, Page)
    service.submit(person, "rate/1", {"empathy": "1"}, {})
    attention = page_of(service, person)
    assert attention.can_go_back
    earlier = service.back(person, attention.step)
    assert earlier is not None
    assert (earlier.step, earlier.draft) == ("rate/1", {"empathy": 1})
    assert earlier.content == first.content
    assert isinstance(service.submit(person, "rate/1", {"empathy": "3"}, {}), Saved)
    [row] = [row for row in rows_of(lab, schema.page_answers) if row["step"] == "rate/1"]
    assert (row["given"], row["corrections"]) == ({"empathy": 3}, 1)
    assert page_of(service, person) == attention
    walk(service, person)
    assert sorted(row["value"] for row in rows_of(lab, schema.ratings)) == [2.0, 3.0]


def test_a_correction_keeps_the_time_of_the_first_look(lab: Lab) -> None:
    service, clock = opened(lab)
    person = someone(service, "ann")
    walk(service, person, until="rate")
    clock.skip(seconds=10)
    service.submit(person, "rate/1", {"empathy": "1"}, {})
    clock.skip(minutes=10)
    service.submit(person, "rate/1", {"empathy": "3"}, {})
    [row] = [row for row in rows_of(lab, schema.page_answers) if row["step"] == "rate/1"]
    assert row["given"] == {"empathy": 3}
    assert 10 <= row["timing"]["seconds"] < 20


def test_a_draft_that_comes_after_the_answer_does_not_stand_before_it(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    walk(service, person, until="rate")
    service.submit(person, "rate/1", {"empathy": "3"}, {})
    service.save_draft(person, "rate/1", {"empathy": "1"})
    earlier = service.back(person, page_of(service, person).step)
    assert earlier is not None
    assert earlier.draft == {"empathy": 3}


def test_there_is_no_way_back_out_of_a_block(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    step_on(service, person)
    assert not page_of(service, person).can_go_back
    assert service.back(person, "demographics") is None
    assert service.back(person, "nonsense") is None


def test_a_draft_comes_back_and_is_no_answer(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    step_on(service, person)
    service.save_draft(person, "demographics", {"age": "44", "sex": "nonsense"})
    service.save_draft(person, "comment", {"comment": "too early"})
    assert page_of(service, person).draft == {"age": 44}
    assert len(rows_of(lab, schema.page_answers)) == 1
    step_on(service, person)
    assert page_of(service, person).draft == {}


def test_a_participant_who_declines_is_thanked_and_takes_no_place(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    assert service.submit(person, "consent", {"agree": "no"}, {}) == Saved("consent")
    end = service.view(person)
    assert isinstance(end, Finished)
    assert end.outcome == "no-consent"
    assert rows_of(lab, schema.slots)[0]["arm"] is None


def test_two_failed_checks_end_the_study_and_free_the_place(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    for number in (1, 2):
        page = walk(service, person, until="check")
        assert isinstance(page, Page)
        assert page.step == f"tutorial/check/{number}"
        # After wrong answers each question is named, with its explanation where it has one.
        explained = [mistake.explanation for mistake in page.content.mistakes]
        assert explained == (["It is.", ""] if number == 2 else [])
        service.submit(person, page.step, {"question-1": "2", "question-2": "1"}, {})
    end = service.view(person)
    assert isinstance(end, Finished)
    assert end.outcome == "failed-comprehension"
    [row] = rows_of(lab, schema.slots)
    assert (row["status"], row["outcome"]) == ("failed", "failed-comprehension")


def test_the_code_is_known_at_the_end_and_not_before(lab: Lab) -> None:
    recruitment = between().recruitment
    codes = {"completed": "DONE1", "withdrawn": "LEFT1"}
    study = between(
        recruitment=type(recruitment)(platform="prolific", codes=codes)  # type: ignore[arg-type]
    )
    service, _ = opened(lab, study)
    person = someone(service, "ann")
    walk(service, person, until="comment")
    assert "DONE1" not in repr(service.view(person))
    view = walk(service, person)
    assert isinstance(view, Finished)
    assert view.completion.code == "DONE1"


def test_an_unknown_person_is_told_so(lab: Lab) -> None:
    service, _ = opened(lab)
    view = service.view("nobody")
    assert isinstance(view, Closed)
    assert view.reason == "unknown"
    assert isinstance(service.submit("nobody", "consent", {"agree": "yes"}, {}), Moved)
    service.leave("nobody", delete=True)
    service.save_draft("nobody", "consent", {})
    assert service.actions.release("nobody") is False


def test_a_page_with_a_least_time_is_not_left_sooner(lab: Lab) -> None:
    service, clock = opened(lab, appraisal())
    person = someone(service, "ann")
    page = walk(service, person, until="imagine")
    assert isinstance(page, Page)
    done = service.submit(person, page.step, {}, {})
    assert isinstance(done, Refused)
    assert done.problems["page"] == problem("too-soon", least=5)
    clock.skip(seconds=5)
    assert isinstance(service.submit(person, page.step, {}, {}), Saved)


def test_ids_of_odd_characters_are_taken(lab: Lab) -> None:
    service, _ = opened(lab)
    odd = ["a\x00b", "a\ud800b", "'; DROP TABLE places; --", "é" * 500, " "]
    assert len({someone(service, item) for item in odd}) == len(odd)
    assert len(rows_of(lab, schema.people)) == len(odd)


def test_a_language_that_the_study_does_not_speak_becomes_its_first(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann", language="xx")
    assert page_of(service, person).language == "en"


def test_what_a_killed_process_acknowledged_is_there(tmp_path: Path, database: str | None) -> None:
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from empathylab.store import Lab\n"
        "from tests.study.service_examples import opened, someone, step_on\n"
        "lab = Lab.open(Path(sys.argv[1]), database=sys.argv[2] or None)\n"
        "service, _ = opened(lab)\n"
        "person = someone(service, 'ann')\n"
        "for _ in range(9):\n"
        "    print(step_on(service, person).step, flush=True)\n"
        "connection = lab.writing().__enter__()\n"
        "print('ready', flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "lab"), database or ""],
        capture_output=True,
        text=True,
        cwd=root,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    acknowledged = done.stdout.split()[:-1]
    assert len(acknowledged) == 9
    with Lab.open(tmp_path / "lab", database=database) as lab:
        stored = [row["step"] for row in rows_of(lab, schema.page_answers)]
        assert stored == acknowledged
        service = StudyService(lab, "small", clock=Clock(START + timedelta(minutes=5)))
        assert isinstance(walk(service, someone(service, "ann")), Finished)


def test_a_full_disk_is_an_error_and_no_acknowledgement(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    person = someone(service, "ann")
    walk(service, person, until="comment")
    before = len(rows_of(sqlite_lab, schema.page_answers))
    with sqlite_lab.reading() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar()
    # Every connection of the pool gets the limit, as a full disk would meet every one.
    sqlite_lab.engine.dispose()

    @event.listens_for(sqlite_lab.engine, "connect")
    def limit(connection: object, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")  # type: ignore[attr-defined]

    with pytest.raises(LabError, match="disk is full"):
        service.submit(person, "comment", {"comment": "word " * 1900}, {})
    event.remove(sqlite_lab.engine, "connect", limit)
    sqlite_lab.engine.dispose()
    assert len(rows_of(sqlite_lab, schema.page_answers)) == before
    assert rows_of(sqlite_lab, schema.raters) == []
    done = service.submit(person, "comment", {"comment": "word " * 1900}, {})
    assert done == Saved("comment")


def test_a_study_that_was_not_launched_is_named_with_its_neighbours(lab: Lab) -> None:
    opened(lab)
    with pytest.raises(UnknownName, match="Did you mean 'small'"):
        StudyService(lab, "smal")
    with pytest.raises(UnknownName):
        StudyService(lab, "small@2")
    assert StudyService(lab, "small@1").name == "small"


def test_no_page_tells_the_arm_the_respondent_or_the_situation(lab: Lab) -> None:
    service, _ = opened(lab)
    person = someone(service, "ann")
    while isinstance(page := service.view(person), Page):
        told = repr(page)
        for secret in ("first/model", "second/model", "'one'", "'two'"):
            assert secret not in told
        done = service.submit(person, page.step, careful(service.study, page), {})
        assert isinstance(done, Saved)


def test_a_clock_set_back_leaves_no_answer_before_its_page(lab: Lab) -> None:
    service, clock = opened(lab)
    person = someone(service, "ann")
    page = walk(service, person, until="rate")
    assert isinstance(page, Page)
    for back in (3600, 7200):
        clock.skip(seconds=-back)
        done = service.submit(person, "rate/1", {"empathy": "1" if back == 3600 else "2"})
        assert isinstance(done, Saved), done
    rows = rows_of(lab, schema.page_answers)
    assert rows[-1]["corrections"] == 1
    assert all(row["shown_at"] <= row["answered_at"] for row in rows)
