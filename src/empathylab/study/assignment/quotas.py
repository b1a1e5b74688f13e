"""Quotas: how many people of each kind have room, and whether all can be met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from empathylab.errors import InputError, UnknownName
from empathylab.study.design.definition import Quota, Study

OTHERS = "others"
LINK_NAMES = frozenset(
    (
        *("PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "survey_code", "id", "invitation", "visit"),
        *("assignmentId", "hitId", "workerId", "turkSubmitTo"),
    )
)
"""The parameters of links that say who comes."""
LAB_NAMES = frozenset(
    ("failed_attention", "marks", "pastes", "even_typing", "hidden_field", "instant_pages")
)
"""What the lab itself keeps about participants."""


def quota_limits(quota: Quota, slots: int) -> dict[str, int]:
    """How many of each kind may take part, out of so many slots.

    Shares become whole numbers by the largest remainders; ties go to what is named first in the
    alphabet. The key `others` stands for everybody not named.
    """
    limits = dict(quota.counts) or _from_shares(quota.shares, slots)
    limits[OTHERS] = quota.others or 0
    return limits


def quota_traits(
    study: Study, answers: Mapping[str, Mapping[str, Any]], platform: Mapping[str, str]
) -> dict[str, str]:
    """The traits that the study's quotas use, from a person's answers and from the platform."""
    asked = {
        name: value for block in study.blocks for name, value in block.details(answers).items()
    }
    traits = {}
    for quota in study.quotas:
        source = asked if quota.source == "demographics" else platform
        if quota.by in source:
            traits[quota.by] = str(source[quota.by])
    return traits


def link_traits(study: Study) -> tuple[str, ...]:
    """The names of the parameters with which the study's links describe participants."""
    return tuple(quota.by for quota in study.quotas if quota.source == "platform")


def require_traits(study: Study, traits: Mapping[str, str]) -> None:
    """Refuses traits that no quota uses, or for which no quota has room."""
    quotas = {quota.by: quota for quota in study.quotas if quota.source == "platform"}
    for name in traits:
        if name not in quotas:
            raise UnknownName("quota that links set", name, tuple(quotas))
    for name, quota in quotas.items():
        kinds = sorted({**quota.counts, **quota.shares})
        if not quota.others and traits.get(name) not in kinds:
            raise InputError(
                f"links must give the {name} of each participant, because a quota uses it",
                where=f"study {study.name}",
                got=traits.get(name, "nothing"),
                remedy=f"Say {' or '.join(f'{name}={kind}' for kind in kinds)}.",
            )


def traits_to_fill(study: Study, slots: int) -> tuple[dict[str, str], ...]:
    """Traits of simulated raters who together fill all slots."""
    people: tuple[dict[str, str], ...] = tuple({} for _ in range(slots))
    for quota in study.quotas:
        if quota.source == "platform":
            limits = quota_limits(quota, slots)
            kinds = (kind for kind, limit in limits.items() for _ in range(limit))
            for person, kind in zip(people, kinds, strict=False):
                if kind != OTHERS:
                    person[quota.by] = kind
    return people


def has_room(
    quotas: Sequence[Quota],
    slots: int,
    admitted: Sequence[Mapping[str, str]],
    traits: Mapping[str, str],
) -> bool:
    """Whether every quota has room for one more person of these traits."""
    for quota in quotas:
        limits = quota_limits(quota, slots)
        counts = Counter(_kind(item, quota.by, limits) for item in admitted)
        kind = _kind(traits, quota.by, limits)
        if counts[kind] >= limits[kind]:
            return False
    return True


def quota_problems(quotas: Sequence[Quota], slots: int) -> list[str]:
    """What keeps quotas from being met, in sentences; none where all can be."""
    problems = []
    for quota in quotas:
        total = sum(quota_limits(quota, slots).values())
        if total < slots:
            problems.append(
                f"The quota by {quota.by!r} admits {total} people, but the study has {slots} "
                f"slots: raise it by {slots - total}, or set 'others' to {slots - total}."
            )
        elif total > slots:
            problems.append(
                f"The quota by {quota.by!r} asks for {total} people, but the study has {slots} "
                f"slots: lower it by {total - slots}, or ask for more ratings."
            )
    return problems


def _from_shares(shares: Mapping[str, float], slots: int) -> dict[str, int]:
    # Shares such as a third, written 0.3333, are meant to fill the slots.
    wanted = slots if sum(shares.values()) > 0.999 else round(sum(shares.values()) * slots)
    exact = {kind: share * slots for kind, share in shares.items()}
    limits = {kind: int(value) for kind, value in exact.items()}
    ranked = sorted(exact, key=lambda kind: (limits[kind] - exact[kind], kind))
    for kind in ranked[: max(0, wanted - sum(limits.values()))]:
        limits[kind] += 1
    return limits


def _kind(traits: Mapping[str, str], by: str, limits: Mapping[str, int]) -> str:
    value = traits.get(by, OTHERS)
    return value if value in limits else OTHERS
