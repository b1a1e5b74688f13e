"""What can be seen of a study while it runs: how far it is and who its raters are, never what
they think of the replies.

Ratings are counted as a total. What raters say of themselves is compared across arms only where it
was asked before they saw a reply, so that it cannot tell which arm leads.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Any, Literal

import polars as pl
from sqlalchemy import Connection

from empathylab.store import Lab
from empathylab.store.studies.live import reply_counts
from empathylab.store.studies.monitoring import (
    answer_counts,
    arrival_hours,
    finish_times,
    held_slot_numbers,
    held_traits,
    latest_times,
    page_counts,
    scale_answers,
    state_counts,
)
from empathylab.store.studies.records import count_ratings, launched_study, stopped_arms
from empathylab.study.admin.balance import Balance, arm_balances
from empathylab.study.admin.embargo import coarse_arms, hidden_blocks, whole_minutes
from empathylab.study.assignment.quotas import OTHERS, quota_limits
from empathylab.study.blocks.interface import Block, ParticipantPath
from empathylab.study.blocks.steps import block_of
from empathylab.study.design.definition import Study
from empathylab.study.session.launched import Launched
from empathylab.study.session.visits import ArmStatus, AttentionCount

LATEST_PAGES = 10_000
"""The newest pages, of which the median times are: a large study must not slow its console."""
_LEFT = ("abandoned", "returned", "timed-out", "withdrawn")
_MOST_BARS = 72


@dataclass(frozen=True, slots=True)
class QuotaCount:
    """How many people of one kind there are, and may be."""

    by: str
    kind: str
    limit: int
    held: int


@dataclass(frozen=True, slots=True)
class Arrivals:
    """How many people came in each hour, day or week, without gaps."""

    unit: Literal["hour", "day", "week"]
    counts: tuple[tuple[datetime, int], ...]


@dataclass(frozen=True, slots=True)
class BlockTime:
    """How long one of a block's pages takes."""

    block: str
    pages: int
    """Answered so far."""
    median: float
    """In seconds, of the newest ones; whole minutes where they may tell an open study's arms."""


@dataclass(frozen=True, slots=True)
class Sums:
    """What all pages that were answered must be looked at for."""

    times: tuple[BlockTime, ...]
    attention: Mapping[str, AttentionCount] = field(hash=False)
    balance: tuple[Balance, ...]
    median: float = math.nan
    """Seconds from arrival to the last answer, of those who completed the study."""


@dataclass(frozen=True, slots=True)
class StudyStatus:
    """How far a study is, people only; never which arm leads."""

    name: str
    version: int
    title: str
    status: Literal["open", "paused", "closed"]
    launched_at: datetime
    closed_at: datetime | None
    revision: int
    arrivals: int
    """Those who have answered a page."""
    opened: int
    """Others who opened the link and answered nothing; programs that preview links do, too."""
    here: int
    """Seen within the study's limits, and not finished."""
    finished: int
    unreviewed: int
    """Finished, and neither approved nor rejected."""
    arms: tuple[ArmStatus, ...]
    quotas: tuple[QuotaCount, ...]
    outcomes: Mapping[str, int] = field(hash=False)
    """How many ended how: `completed`, `no-consent` …"""
    by_time: Arrivals
    drop_outs: Mapping[str, int] = field(hash=False)
    """By block, those who have left at it and not come back."""
    times: tuple[BlockTime, ...]
    attention: Mapping[str, AttentionCount] = field(hash=False)
    balance: tuple[Balance, ...]
    median: float
    """Seconds that finished participants took; whole minutes while the study is open."""
    replies: Mapping[str, int] = field(hash=False)
    """Live replies to people: `shown`, `waiting`, and `replaced: …` by the fallback, by reason."""
    ratings: int
    """By people who finished."""
    simulated: int
    """Simulated raters; they count nowhere else."""
    tests: int

    @property
    def seconds(self) -> dict[str, float]:
        """By block, the median time on one of its pages."""
        return {time.block: time.median for time in self.times if not math.isnan(time.median)}


def add_up(connection: Connection, launched: Launched) -> Sums:
    """Times, attention checks and balance, as of now."""
    study, row = launched.study, launched.row
    checks = [block.id for block in study.blocks if block.checks_attention]
    times = latest_times(connection, row, LATEST_PAGES)
    pages = page_counts(connection, row)
    answers = answer_counts(connection, row, checks)
    asked = {
        item: scale_answers(connection, row, _pages_of(launched, item))
        for item in asked_before(study)
    }
    return Sums(
        times=tuple(_times(study, times, pages)),
        attention=_attention(study, answers),
        balance=tuple(
            item for block, given in asked.items() for item in arm_balances(launched, block, given)
        ),
        median=median(durations) if (durations := finish_times(connection, row)) else math.nan,
    )


def read_status(
    lab: Lab,
    launched: Launched,
    now: datetime,
    *,
    sums: Callable[[Connection, Launched], Sums] = add_up,
) -> StudyStatus:
    """How far the study is; `sums` may remember what takes long to add up."""
    study = launched.study
    limits = study.time_limits
    unseen = now - timedelta(minutes=limits.abandon_after)
    within = limits.finish_within
    claimed_since = None if within is None else now - timedelta(minutes=within)
    with lab.reading() as connection:
        own = launched_study(connection, f"{study.name}@{study.version}")
        states = state_counts(connection, own.id, unseen=unseen, claimed_since=claimed_since)
        hours = arrival_hours(connection, own.id, study.blocks[0].id)
        summed = sums(connection, launched)
        # Only where a reply was withdrawn does it matter who holds which slot.
        occupied = (
            held_slot_numbers(connection, own.id, unseen=unseen, claimed_since=claimed_since)
            if launched.shut
            else set()
        )
        traits = (
            held_traits(connection, own.id, unseen=unseen, claimed_since=claimed_since)
            if study.quotas
            else []
        )
        stopped = stopped_arms(connection, own.id)
        ratings = count_ratings(connection, own.id)
        replies = reply_counts(connection, own) if study.live else {}
    everybody = states.filter(pl.col("world") == "person")
    closed = own.status == "closed"
    # The median of few pages is someone's time on a page, which tells how long the reply is.
    hidden = () if closed or len(launched.slots) < 2 else hidden_blocks(study)
    times = (
        dataclasses.replace(item, median=_whole_minutes(item.median))
        if item.block in hidden
        else item
        for item in summed.times
    )
    people = everybody.filter(~_only_opened(study))
    finished = people.filter(pl.col("state") == "finished")
    return StudyStatus(
        name=own.name,
        version=own.version,
        title=own.title,
        status=own.status,
        launched_at=own.launched_at,
        closed_at=own.closed_at,
        revision=own.revision,
        arrivals=_total(people),
        opened=_total(everybody) - _total(people),
        here=_total(people.filter(pl.col("state").is_in(["live", "reading"]))),
        finished=_total(finished),
        unreviewed=_total(finished.filter(pl.col("review").is_null())),
        arms=_arms(launched.places(occupied), people, stopped),
        quotas=tuple(_quotas(launched, traits)),
        outcomes=_summed(people, "outcome"),
        by_time=_by_time(hours, now),
        drop_outs=_drop_outs(study, people),
        times=tuple(times),
        attention=summed.attention,
        balance=summed.balance,
        median=summed.median if closed else _whole_minutes(summed.median),
        replies=replies,
        ratings=ratings,
        simulated=_total(states.filter(pl.col("world") == "simulated")),
        tests=_total(states.filter(pl.col("world") == "test")),
    )


def without_arms(status: StudyStatus) -> StudyStatus:
    """What may be shown: of an open study, nothing that identifies an arm."""
    if status.status == "closed" or len(status.arms) < 2:
        return status
    # A mean by arm changes with each rater, whose own answers are shown: that tells their arm.
    balance = tuple(dataclasses.replace(item, arms=(), p=math.nan) for item in status.balance)
    return dataclasses.replace(status, arms=coarse_arms(status.arms), balance=balance)


def _whole_minutes(seconds: float) -> float:
    return seconds if math.isnan(seconds) else whole_minutes(seconds) or 0.0


def asked_before(study: Study) -> list[Block]:
    """The scales that raters answer before they see a reply or a situation."""
    hidden = hidden_blocks(study)
    return [block for block in study.blocks if block.uses_scale and block.id not in hidden]


def _pages_of(launched: Launched, block: Block) -> list[str]:
    """The keys of a block's pages; naming them lets the database go straight there."""
    path = ParticipantPath(launched.study, launched.scales)
    return [step.key for step in block.steps(path, {})]


def _total(counts: pl.DataFrame) -> int:
    return int(counts["count"].sum())


def _summed(counts: pl.DataFrame, column: str) -> dict[str, int]:
    known = counts.filter(pl.col(column).is_not_null()).group_by(column)
    return dict(known.agg(pl.col("count").sum()).sort(column).iter_rows())


def _arms(
    places: Mapping[str, int], people: pl.DataFrame, stopped: frozenset[str]
) -> tuple[ArmStatus, ...]:
    statuses = []
    for arm, count in places.items():
        states = _summed(people.filter(pl.col("arm") == arm), "state")
        live, finished = states.pop("live", 0), states.pop("finished", 0)
        statuses.append(ArmStatus(arm, count, arm in stopped, live, finished, states))
    return tuple(statuses)


def _quotas(launched: Launched, traits: Sequence[Mapping[str, str]]) -> Iterator[QuotaCount]:
    places = sum(len(slots) for slots in launched.slots.values())
    for quota in launched.study.quotas:
        limits = quota_limits(quota, places)
        kinds = (trait.get(quota.by, OTHERS) for trait in traits)
        counts = Counter(kind if kind in limits else OTHERS for kind in kinds)
        for kind, limit in limits.items():
            if kind != OTHERS or limit or counts[kind]:
                yield QuotaCount(quota.by, kind, limit, counts[kind])


def _by_time(hours: Mapping[datetime, int], now: datetime) -> Arrivals:
    """By the finest unit that gives no more bars than can be distinguished."""
    if not hours:
        return Arrivals("hour", ())
    first, last = min(hours), max(*hours, now.replace(minute=0, second=0, microsecond=0))
    units: tuple[tuple[Literal["hour", "day", "week"], timedelta], ...] = (
        ("hour", timedelta(hours=1)),
        ("day", timedelta(days=1)),
        ("week", timedelta(days=7)),
    )
    unit, step = next((unit for unit in units if last - first < _MOST_BARS * unit[1]), units[-1])
    start = first if unit == "hour" else first.replace(hour=0)
    counts = [0] * ((last - start) // step + 1)
    for hour, count in hours.items():
        counts[(hour - start) // step] += count
    return Arrivals(
        unit, tuple((start + number * step, count) for number, count in enumerate(counts))
    )


def _only_opened(study: Study) -> pl.Expr:
    """Whether someone has not answered the first page, which a program may have opened."""
    started = pl.col("step").fill_null(study.blocks[0].id) != study.blocks[0].id
    return pl.col("state").is_in(["reading", "gone"]) & ~started


def _drop_outs(study: Study, people: pl.DataFrame) -> dict[str, int]:
    """By block in the study's order, those who have left at it and not come back."""
    # No page was due to anyone who deleted what they had finished.
    left = people.filter(
        pl.col("state").is_in([*_LEFT, "late", "gone"]), pl.col("step").is_not_null()
    )
    counted: Counter[str] = Counter()
    for step, count in left.select("step", "count").iter_rows():
        counted[block_of(step)] += count
    return {block.id: counted[block.id] for block in study.blocks if counted[block.id]}


def _times(study: Study, times: pl.DataFrame, pages: Mapping[str, int]) -> Iterator[BlockTime]:
    answered: Counter[str] = Counter()
    for step, count in pages.items():
        answered[block_of(step)] += count
    steps = times.drop_nulls().group_by("step").agg(pl.col("seconds"))
    blocks = steps.with_columns(
        block=pl.col("step").map_elements(block_of, return_dtype=pl.String)
    ).explode("seconds")
    medians = dict(blocks.group_by("block").agg(pl.col("seconds").median()).iter_rows())
    for block in study.blocks:
        if answered[block.id]:
            yield BlockTime(block.id, answered[block.id], medians.get(block.id, math.nan))


def _attention(
    study: Study, answers: Sequence[tuple[str, Mapping[str, Any], int]]
) -> dict[str, AttentionCount]:
    counts = {}
    for block in study.blocks:
        if block.checks_attention:
            own = [(given, count) for step, given, count in answers if step == block.id]
            failed = sum(count for given, count in own if not block.passed(given))
            counts[block.id] = AttentionCount(sum(count for _, count in own), failed)
    return counts
