"""Simulated raters go through real pages, and leave no trace in any result."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from empathylab.analysis import ratings as rated_replies
from empathylab.errors import UserError
from empathylab.store import Lab, schema
from empathylab.study import parse_study
from empathylab.study.bots import BEHAVIOURS, Behaviour, Settings, mixed, served, walk
from empathylab.study.bots.reports import BotCounts, summed_up
from empathylab.study.exports.folders import export_study
from empathylab.study.session.service import StudyService
from empathylab.study.web import visit_token
from tests.study.examples import BETWEEN, SITUATION_PRESETS
from tests.study.service_examples import furnish, opened, rows_of
from tests.study.web.desk import preset
from tests.study.web.labs import launched

EVERY_KIND = BETWEEN.replace(
    "  - block: comment\n",
    """\
  - block: attention
    id: second
    question: Please choose the last option here
    options: [A, B, C]
    answer: C
  - block: comment
    required: true
""",
)
WRITING = """\
name: writing
version: 1
title: Replies
languages: [en]
seed: 7
situations: {set: dialogues, count: 6}
people_per_situation: 9
recruitment: {platform: open}
blocks:
  - block: consent
    text: Take part?
  - block: imagine
    text: Imagine it
    seconds: 1
    question: What would you feel?
  - block: write
    text: Write a reply
    minimum_words: 5
  - block: debrief
    text: Thank you
"""


def walked(service: StudyService, crowd: list[Behaviour], **settings: int) -> BotCounts:
    token = visit_token("simulated", service.secret)
    with served(service) as address:
        return walk(f"{address}?visit={token}", crowd, Settings(**settings))


@pytest.mark.slow
@pytest.mark.parametrize("name", SITUATION_PRESETS)
def test_careful_raters_come_to_the_end_of_every_preset(sqlite_lab: Lab, name: str) -> None:
    study = preset(name, **{"seconds: 10": "seconds: 1"})
    service = launched(sqlite_lab, study)
    met = walked(service, ["careful"] * 5)
    assert (met.lost, dict(met.errors)) == (0, {})
    people = service.actions.participants()
    # The first ones try what the check wants to hear, and tell the others.
    assert sum(person.outcome == "completed" for person in people) >= 3, met.ends
    asked = {block.id for block in study.blocks if block.kind != "debrief"}
    assert asked <= set(met.pages)
    assert all(person.world == "simulated" for person in people)


@pytest.mark.parametrize("text", [EVERY_KIND, WRITING], ids=["rating", "writing"])
def test_every_kind_of_block_can_be_answered(sqlite_lab: Lab, text: str) -> None:
    service, _ = opened(sqlite_lab, parse_study(text))
    service = StudyService(sqlite_lab, service.name)
    met = walked(service, ["careful"] * 3)
    assert (met.lost, dict(met.errors)) == (0, {})
    assert any(
        participant.outcome == "completed" for participant in service.actions.participants()
    ), met.ends
    failed = [row["details"]["failed_attention"] for row in rows_of(sqlite_lab, schema.raters)]
    assert set(failed) == {0}


@pytest.mark.slow
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_every_behaviour_comes_through(sqlite_lab: Lab, behaviour: Behaviour) -> None:
    opened(sqlite_lab, parse_study(EVERY_KIND))
    service = StudyService(sqlite_lab, "small")
    met = walked(service, [behaviour] * 4, seed=3)
    assert (met.lost, dict(met.errors)) == (0, {})
    assert met.done == 4
    if behaviour == "dropout":
        assert met.left > 0
    report = summed_up(met, [behaviour] * 4, 1.0, None)
    assert report.bots == 4
    assert {block.block for block in report.blocks} >= {"consent"}
    assert report.submit_p99_ms >= report.submit_p50_ms > 0


def test_a_crowd_is_the_same_for_the_same_seed_and_holds_every_kind() -> None:
    assert mixed(100, 1) == mixed(100, 1) != mixed(100, 2)
    assert set(mixed(40, 1)) == set(BEHAVIOURS)
    assert Counter(mixed(3, 1)) == {"careful": 3}


def test_simulated_raters_count_in_no_result(sqlite_lab: Lab, tmp_path: Path) -> None:
    opened(sqlite_lab)
    service = StudyService(sqlite_lab, "small")
    before = service.actions.status()
    walked(service, ["careful"] * 4)
    assert rows_of(sqlite_lab, schema.ratings)  # they did rate
    after = service.actions.status()
    assert after.simulated == 4
    assert (after.arrivals, after.ratings, after.outcomes) == (0, 0, {})
    assert after.arms == before.arms
    assert (after.drop_outs, after.seconds) == ({}, {})
    with pytest.raises(UserError):
        rated_replies.from_lab(sqlite_lab, "small")
    written = export_study(sqlite_lab, "small", tmp_path / "out", identities=True)
    filled = {file.name for file in written.files if file.rows}
    assert filled == {"arms.csv", "situations.csv", "responses.csv"}


def test_simulated_raters_take_no_place_of_a_person(sqlite_lab: Lab) -> None:
    opened(sqlite_lab)
    service = StudyService(sqlite_lab, "small")
    places = sum(arm.places for arm in service.actions.status().arms)
    met = walked(service, ["careful"] * (places + 4))
    assert any("full" in title for title in met.ends)
    assert all(arm.live == arm.finished == 0 for arm in service.actions.status().arms)


def test_a_server_that_is_down_for_a_moment_costs_no_rater(sqlite_lab: Lab) -> None:
    furnish(sqlite_lab)
    met = walk("http://127.0.0.1:9/?visit=x", ["careful"], Settings(wait=0.01))
    assert met.lost == 1
    assert sum(met.errors.values()) == 8
