"""The exclusion rules of a study's own file, applied when its ratings are analysed."""

from __future__ import annotations

from empathylab.analysis import ratings as rated_replies
from empathylab.store import Lab
from empathylab.study.session.service import StudyService, launch
from tests.study.examples import between
from tests.study.service_examples import Clock, furnish, someone, walk

FAST = {"rule": "too fast", "seconds": 600}


def closed(lab: Lab, *rules: dict[str, object]) -> None:
    """A study of four people, two of whom took their time, one in each arm."""
    clock = Clock()
    study = between(exclusions=rules)
    furnish(lab, *(arm.respondent for arm in study.arms.values()))
    launch(lab, study, now=clock())
    service = StudyService(lab, study.name, clock=clock)
    slow: set[str | None] = set()
    for name in ("ann", "ben", "cem", "dee"):
        person = someone(service, name)
        walk(service, person, until="rate")
        (arm,) = (
            participant.arm
            for participant in service.actions.participants()
            if participant.person == person
        )
        if arm not in slow:
            slow.add(arm)
            clock.skip(minutes=12)
        walk(service, person)
    service.actions.close()


def test_the_rules_of_the_file_are_applied_beside_everybody(sqlite_lab: Lab) -> None:
    closed(sqlite_lab, FAST)
    found = rated_replies.from_lab(sqlite_lab)
    assert found.exclusions is not None
    assert len(found.exclusions.exclusions.excluded) == 2
    assert found.raters.height == 4


def test_rules_given_by_hand_replace_those_of_the_file(sqlite_lab: Lab) -> None:
    closed(sqlite_lab, FAST)
    assert rated_replies.from_lab(sqlite_lab, rules=()).exclusions is None


def test_a_rule_that_nothing_can_be_held_against_is_named_not_applied(sqlite_lab: Lab) -> None:
    closed(sqlite_lab, {"rule": "failed attention", "column": "unheard_of"})
    found = rated_replies.from_lab(sqlite_lab)
    assert found.exclusions is None
    assert any("failed an attention check was not applied" in caveat for caveat in found.caveats)
