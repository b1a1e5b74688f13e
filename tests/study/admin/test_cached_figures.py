"""How long the sums of a study are remembered."""

from __future__ import annotations

import dataclasses
from typing import Any

from empathylab.store import Lab
from empathylab.study.admin.monitoring import Sums, read_status
from empathylab.study.session.launched import Launched
from empathylab.study.session.service import StudyService
from empathylab.study.web.console.context import RememberedSums
from tests.study.service_examples import opened, someone, walk


class Adding:
    """Adds up slowly, by a clock of its own, and counts how often."""

    def __init__(self, seconds: float) -> None:
        self.time = 0.0
        self.seconds = seconds
        self.times = 0

    def __call__(self, connection: Any, launched: Launched) -> Sums:
        self.times += 1
        self.time += self.seconds
        return Sums((), {}, ())

    def clock(self) -> float:
        return self.time


def asked(lab: Lab, seconds: float, *, later: float, revision: int = 0) -> int:
    """How often sums that take so long are added up, where one asks again after a while."""
    service, _ = opened(lab)
    adding = Adding(seconds)
    sums = RememberedSums(adding, adding.clock)
    with lab.reading() as connection:
        sums(connection, service.launched)
        adding.time += later
        own = service.launched
        sums(connection, dataclasses.replace(own, revision=own.revision + revision))
    return adding.times


def test_what_is_quick_is_always_added_up_anew(sqlite_lab: Lab) -> None:
    assert asked(sqlite_lab, 0.05, later=0.0) == 2


def test_what_takes_long_is_remembered_for_a_while(sqlite_lab: Lab) -> None:
    assert asked(sqlite_lab, 0.5, later=9.9) == 1


def test_what_takes_long_is_added_up_anew_in_the_end(sqlite_lab: Lab) -> None:
    assert asked(sqlite_lab, 0.5, later=10.1) == 2


def test_nothing_is_remembered_for_longer_than_half_a_minute(sqlite_lab: Lab) -> None:
    assert asked(sqlite_lab, 60.0, later=30.1) == 2


def test_nothing_is_remembered_once_an_arm_has_joined(sqlite_lab: Lab) -> None:
    assert asked(sqlite_lab, 0.5, later=1.0, revision=1) == 2


def test_who_came_is_new_even_where_sums_are_remembered(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    adding = Adding(5.0)
    sums = RememberedSums(adding, adding.clock)

    def looked(service: StudyService) -> int:
        return read_status(sqlite_lab, service.launched, service.now(), sums=sums).finished

    before = looked(service)
    walk(service, someone(service, "ann"))
    assert (before, looked(service), adding.times) == (0, 1, 1)
