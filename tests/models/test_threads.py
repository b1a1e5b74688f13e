"""When a local model's number of threads is looked at again."""

from __future__ import annotations

import pytest

from empathylab.models.threads import RateWatch, thread_counts


@pytest.mark.parametrize(
    ("cores", "counts"), [(1, [1]), (2, [2, 1]), (6, [6, 3, 1]), (8, [8, 4, 2, 1])]
)
def test_fewer_and_fewer_threads_are_compared(cores: int, counts: list[int]) -> None:
    assert thread_counts(cores) == counts


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def answers(watch: RateWatch, clock: Clock, *, seconds: float, each: float) -> bool:
    """Whether the rate collapsed while answers of 20 tokens came one every so many seconds."""
    end, found = clock.now + seconds, False
    while clock.now < end:
        watch.began()
        clock.now += each
        found = watch.collapsed(20) or found
    return found


def test_a_steady_rate_is_left_alone() -> None:
    clock = Clock()
    assert not answers(RateWatch(clock), clock, seconds=300, each=0.2)


def test_a_rate_below_half_the_best_is_noticed() -> None:
    clock = Clock()
    watch = RateWatch(clock)
    assert not answers(watch, clock, seconds=60, each=0.2)
    assert answers(watch, clock, seconds=20, each=0.6)


def test_a_little_slower_is_no_collapse() -> None:
    clock = Clock()
    watch = RateWatch(clock)
    answers(watch, clock, seconds=60, each=0.2)
    assert not answers(watch, clock, seconds=60, each=0.3)


def test_time_without_questions_is_not_slow_writing() -> None:
    clock = Clock()
    watch = RateWatch(clock)
    answers(watch, clock, seconds=60, each=0.2)
    watch.idle()
    clock.now += 600
    assert not answers(watch, clock, seconds=60, each=0.2)


def test_after_a_probe_the_next_is_further_away() -> None:
    clock = Clock()
    watch = RateWatch(clock)
    answers(watch, clock, seconds=60, each=0.2)
    assert answers(watch, clock, seconds=20, each=0.6)
    watch.probed()
    answers(watch, clock, seconds=20, each=0.2)
    assert not answers(watch, clock, seconds=15, each=0.6)
    answers(watch, clock, seconds=30, each=0.2)
    assert answers(watch, clock, seconds=20, each=0.6)
