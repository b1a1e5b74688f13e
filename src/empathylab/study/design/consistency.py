"""What must fit together in a study: blocks with each other, and with arms, quotas and numbers."""

from __future__ import annotations

from collections.abc import Iterator

from empathylab.errors import InputError, UnknownName
from empathylab.study.assignment.quotas import TAKEN
from empathylab.study.blocks.types import (
    Attention,
    Block,
    Consent,
    Debrief,
    Demographics,
    Field,
    Imagine,
    Rate,
    ScaleBlock,
    Write,
)
from empathylab.study.design.definition import Quota, Study
from empathylab.study.design.entries import Entry, Table


def check_consistency(study: Study, table: Table) -> None:
    """Raises where two parts of the study do not fit together, at the line of one of them."""
    placed = list(zip(study.blocks, table["blocks"].entries("a list of blocks"), strict=True))
    _check_order(placed)
    _check_work(study, placed)
    _check_scales(placed)
    _check_arms(study, table)
    _check_dimensions(study, table, placed)
    _check_within(study, table)
    _check_attention(study, placed)
    _check_fields(placed)
    _check_quotas(study, table)


def items_in_packet(study: Study) -> int:
    """How many pages of work one rater has, where packets are full."""
    if study.design == "within" and study.replies_per_situation == "all":
        return study.batch_size * len(study.arms)
    return study.batch_size


Placed = list[tuple[Block, Entry]]


def _check_order(placed: Placed) -> None:
    first, last = placed[0], placed[-1]
    if not isinstance(first[0], Consent):
        raise first[1].wrong("the block consent: it comes first", got=first[0].kind)
    if not isinstance(last[0], Debrief):
        raise last[1].wrong("the block debrief: it comes last", got=last[0].kind)
    for kind in (Consent, Debrief, Rate, Imagine, Write):
        same = [entry for block, entry in placed if isinstance(block, kind)]
        if len(same) > 1:
            raise InputError(
                f"there are {len(same)} blocks {kind.kind}; a study has one",
                where=same[1].where,
                remedy="Take one of them out.",
            )


def _check_work(study: Study, placed: Placed) -> None:
    rates = [entry for block, entry in placed if isinstance(block, Rate)]
    others = [entry for block, entry in placed if isinstance(block, Imagine | Write)]
    if rates and others:
        raise InputError(
            "a study rates responses, or has people imagine situations and write; this one does "
            "both",
            where=max(rates[0], others[0], key=lambda one: one.line or 0).where,
            remedy="Make two studies of it.",
        )
    imagines = [entry for block, entry in placed if isinstance(block, Imagine)]
    if imagines and study.batch_size != 1:
        raise InputError(
            "whoever imagines a situation imagines one: a second would be coloured by the first",
            where=imagines[0].where,
            got=f"batch_size {study.batch_size}",
            remedy="Set batch_size to 1, or leave it out.",
        )


def _check_scales(placed: Placed) -> None:
    imagined = False
    for block, entry in placed:
        imagined |= isinstance(block, Imagine)
        if isinstance(block, ScaleBlock) and block.phase == "evoked" and not imagined:
            raise InputError(
                "a scale is asked in the phase 'evoked' after a situation has been imagined",
                where=entry.where,
                remedy="Put a block imagine before it, or take out the phase.",
            )


def _check_arms(study: Study, table: Table) -> None:
    if not study.rated:
        for key in ("arms", "dimensions", "responses", "replies_per_situation"):
            if table.get(key):
                raise table[key].wrong(
                    "left out where no responses are rated", "Take it out, or add a block rate."
                )
        return
    if not study.arms:
        raise table.wrong("arms", "given where responses are rated", "Name at least one arm.")
    seen: dict[tuple[str, str | None], str] = {}
    for name, arm in study.arms.items():
        source = (arm.respondent, arm.prompt)
        if source in seen:
            raise InputError(
                f"the arms {seen[source]!r} and {name!r} show the same responses",
                where=table["arms"].where,
                got=arm.respondent,
                remedy="Take one of them out, or give them different prompts.",
            )
        seen[source] = name


def _check_dimensions(study: Study, table: Table, placed: Placed) -> None:
    if study.rated and not study.dimensions:
        raise table.wrong("dimensions", "given where responses are rated")
    known = [one.name for one in study.dimensions]
    for block, entry in placed:
        if isinstance(block, Rate):
            for name in block.dimensions:
                if name not in known:
                    raise UnknownName("dimension", name, known, where=entry.where)


def _check_within(study: Study, table: Table) -> None:
    if not study.rated:
        return
    if study.design == "between":
        if table.get("replies_per_situation"):
            raise table["replies_per_situation"].wrong(
                "left out in a design between subjects", "Set design to within, or take it out."
            )
        return
    arms = len(study.arms)
    if arms < 2:
        raise table["arms"].wrong("two arms or more in a design within subjects", got=arms)
    if study.replies_per_situation == "one" and study.batch_size % arms:
        near = max(1, round(study.batch_size / arms)) * arms
        raise table.wrong(
            "batch_size",
            f"a multiple of the number of arms, {arms}, so that each rater sees all equally often",
            f"Set it to {near}.",
        )


def _check_attention(study: Study, placed: Placed) -> None:
    most = items_in_packet(study)
    for block, entry in placed:
        if not isinstance(block, Attention) or block.inside is None or block.after is None:
            continue
        known = [one.id for one, _ in placed if isinstance(one, Rate | Write)]
        if block.inside not in known:
            raise UnknownName(
                "block with several items", block.inside, known, where=f"{entry.where}, 'inside'"
            )
        if block.after >= most:
            raise InputError(
                f"'after' must be less than the {most} items of a packet",
                where=entry.where,
                got=block.after,
                remedy="Lower it, or take out 'inside' and 'after' for a page of its own.",
            )


def _check_fields(placed: Placed) -> None:
    seen: dict[str, str] = {}
    for block, entry in placed:
        if isinstance(block, Demographics):
            for field in block.fields:
                if field.name in seen:
                    raise InputError(
                        f"{field.name!r} is asked twice; first at {seen[field.name]}",
                        where=entry.where,
                        remedy="Ask it once.",
                    )
                seen[field.name] = entry.where


def _check_quotas(study: Study, table: Table) -> None:
    if not study.quotas:
        return
    entries = table["quotas"].entries("a list of quotas")
    asked = {one.name: one for one in _fields_before_work(study)}
    seen: set[str] = set()
    for quota, entry in zip(study.quotas, entries, strict=True):
        if quota.by in seen:
            raise InputError(
                f"there are two quotas by {quota.by!r}", where=entry.where, remedy="Join them."
            )
        seen.add(quota.by)
        if quota.source == "demographics":
            _check_quota(quota, entry, asked)
        elif quota.by in TAKEN:
            raise entry.wrong(
                "by a name that links or the lab do not use themselves",
                "Give it another name, and use that in the links.",
                got=quota.by,
            )


def _check_quota(quota: Quota, entry: Entry, asked: dict[str, Field]) -> None:
    if quota.by not in asked:
        raise UnknownName(
            "question",
            quota.by,
            asked,
            where=f"{entry.where}, 'by'",
            remedy="Ask it in a block demographics before the work, or set source to platform.",
        )
    field = asked[quota.by]
    if field.kind != "choice" or not field.required:
        raise entry.wrong(
            f"by a required choice, and {quota.by!r} is none",
            "Make the question a required choice.",
            got=quota.by,
        )
    for value in (*quota.counts, *quota.shares):
        if value not in field.values:
            raise UnknownName("option", value, field.values, where=f"{entry.where}, {quota.by!r}")


def _fields_before_work(study: Study) -> Iterator[Field]:
    for block in study.blocks:
        if isinstance(block, Rate | Imagine | Write):
            return
        if isinstance(block, Demographics):
            yield from block.fields
