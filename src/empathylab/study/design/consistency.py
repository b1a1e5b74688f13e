"""What must fit together in a study: blocks with each other, and with arms, quotas and numbers."""

from __future__ import annotations

from collections.abc import Iterator

from empathylab.file_models import misfit, unknown, wrong
from empathylab.study.assignment.quotas import LAB_NAMES, LINK_NAMES
from empathylab.study.blocks.questions.conditions import Comparison, condition
from empathylab.study.blocks.questions.interface import Question
from empathylab.study.design.definition import Quota, Study
from empathylab.yaml_documents import Path


def check_consistency(study: Study) -> None:
    """Raises where two parts of the study do not fit together, at one of them."""
    _check_ids(study)
    _check_order(study)
    _check_work(study)
    _check_live(study)
    _check_numbers(study)
    _check_arms(study)
    _check_within(study)
    for number, block in enumerate(study.blocks):
        block.check_fit(study, ("blocks", number))
    _check_conditions(study)
    _check_quotas(study)


def _check_conditions(study: Study) -> None:
    for number, block in enumerate(study.blocks):
        at: Path = ("blocks", number)
        inside = block.shown_in != block.id
        if block.show_if is not None and (block.position or block.rates_responses or inside):
            where = "a check inside another block" if inside else f"a block {block.kind}"
            raise wrong(
                f"left out of {where}: everyone sees it",
                "Remove it.",
                at=(*at, "show_if"),
            )
        for key, text, own in block.conditions():
            before = study.blocks[: number + own]
            asked = {
                person_field.name: person_field
                for other in before
                for person_field in other.person_fields
            }
            for comparison in condition(text).comparisons():
                _check_comparison(study, comparison, asked, (*at, key))


def _check_comparison(
    study: Study, comparison: Comparison, asked: dict[str, Question], at: Path
) -> None:
    name = comparison.name
    if name not in asked:
        if name in study.demographic_fields:
            raise misfit(
                f"{name!r} is asked later, so nobody has answered it here",
                "Ask it earlier, or use another question.",
                at=at,
            )
        raise unknown("question", name, asked, at=at)
    if not asked[name].can_meet(comparison.operator, comparison.constant):
        question, constant = asked[name], comparison.constant
        shown = f"{constant!r}" if isinstance(constant, str) else f"{constant:g}"
        known = f" ({', '.join(question.values)})" if question.values else ""
        lowest, highest = (getattr(question, end, None) for end in ("minimum", "maximum"))
        if lowest is not None and highest is not None:
            known = f" ({lowest:g} to {highest:g})"
        raise misfit(
            f"no answer to {name!r}{known} makes a difference to "
            f"`{name} {comparison.operator} {shown}`",
            f"Use an answer that this question of the kind {question.kind} allows, or change what "
            "it allows.",
            at=at,
        )


def _check_ids(study: Study) -> None:
    for where, names in (
        ("blocks", [block.id for block in study.blocks]),
        ("dimensions", [dimension.name for dimension in study.dimensions]),
    ):
        what = "blocks have the id" if where == "blocks" else "dimensions have the name"
        for number, name in enumerate(names):
            if name in names[:number]:
                raise misfit(
                    f"two {what} {name!r}", "Give one of them another.", at=(where, number)
                )


def _check_order(study: Study) -> None:
    last = len(study.blocks) - 1
    for number, place, kind in ((0, "first", "consent"), (last, "last", "debrief")):
        block = study.blocks[number]
        if block.position != place:
            at: Path = ("blocks", number)
            raise wrong(f"the block {kind}: it comes {place}", at=at, got=block.kind)
    for number, block in enumerate(study.blocks):
        count = sum(item.kind == block.kind for item in study.blocks[: number + 1])
        if block.unique and count > 1:
            raise misfit(
                f"there are {count} blocks {block.kind}; a study has one",
                "Remove one of them.",
                at=("blocks", number),
            )


def _check_work(study: Study) -> None:
    if study.follow_up is not None:
        _check_follow_up(study)
    elif not any(block.is_work for block in study.blocks):
        raise wrong("a list with a task: a block rate, imagine or write", at=("blocks",))


def _check_follow_up(study: Study) -> None:
    for number, block in enumerate(study.blocks):
        if block.is_work or block.is_live:
            raise wrong(
                "left out of a follow-up, which has questionnaires only",
                "Remove it.",
                at=("blocks", number),
                got=block.kind,
            )


def _check_live(study: Study) -> None:
    talking = [number for number, block in enumerate(study.blocks) if block.is_live]
    if study.live is None:
        for number in talking:
            raise misfit(
                f"a block {study.blocks[number].kind} needs the key 'live' of the study",
                "Say there who replies to participants.",
                at=("blocks", number),
            )
        return
    if not talking:
        raise misfit("no block shows live replies", "Add a block reply or chat.", at=("live",))
    for key in ("batch_size", "people_per_situation", "ratings_per_response"):
        if key in study.model_fields_set and not (key == "batch_size" and study.batch_size == 1):
            raise wrong("left out with live replies", "Use live.people_per_condition.", at=(key,))
    for number, block in enumerate(study.blocks):
        if block.is_work and not block.is_own_experience:
            raise wrong(
                "left out with live replies: there are no situations",
                "Remove it.",
                at=("blocks", number),
                got=block.kind,
            )


def _check_numbers(study: Study) -> None:
    if study.situations is None:
        return
    key, other = "ratings_per_response", "people_per_situation"
    if not study.rated:
        key, other = other, key
    if getattr(study, other) is not None:
        does = "rate responses" if study.rated else "ask for no ratings of responses"
        raise wrong(f"left out: the blocks {does}", f"Use {key}.", at=(other,))


def _check_arms(study: Study) -> None:
    if not study.rated:
        for key in ("arms", "dimensions", "responses", "replies_per_situation"):
            if key in study.model_fields_set:
                raise wrong(
                    "left out where no responses are rated",
                    "Remove it, or add a block rate.",
                    at=(key,),
                )
        return
    by_dimension = any(block.rates_responses and block.rates_by_dimension for block in study.blocks)
    for key in ("arms", "dimensions") if by_dimension else ("arms",):
        if not getattr(study, key):
            raise wrong("given where responses are rated", f"Add {key}.", at=(key,), got="none")
    seen: dict[tuple[str, str | None], str] = {}
    for name, arm in study.arms.items():
        source = (arm.respondent, arm.prompt)
        if source in seen:
            raise misfit(
                f"the arms {seen[source]!r} and {name!r} show the same responses",
                "Remove one of them, or give them different prompts.",
                at=("arms",),
                got=arm.respondent,
            )
        seen[source] = name


def _check_within(study: Study) -> None:
    if not study.rated:
        return
    if study.design == "between":
        if "replies_per_situation" in study.model_fields_set:
            raise wrong(
                "left out in a between-subjects design",
                "Set design to within, or remove it.",
                at=("replies_per_situation",),
            )
        return
    arms = len(study.arms)
    if arms < 2:
        raise wrong("two or more arms in a within-subjects design", at=("arms",), got=arms)
    if study.replies_per_situation == "one" and study.batch_size % arms:
        near = max(1, round(study.batch_size / arms)) * arms
        raise wrong(
            f"a multiple of the number of arms, {arms}, so that each rater sees all equally often",
            f"Set it to {near}.",
            at=("batch_size",),
            got=study.batch_size,
        )


def _check_quotas(study: Study) -> None:
    asked = {item.name: item for item in _fields_before_work(study)}
    seen: set[str] = set()
    for number, quota in enumerate(study.quotas):
        at: Path = ("quotas", number)
        if quota.by in seen:
            raise misfit(f"there are two quotas by {quota.by!r}", "Join them.", at=at)
        seen.add(quota.by)
        if quota.source == "demographics":
            _check_quota(quota, at, asked)
        elif quota.by in LINK_NAMES | LAB_NAMES:
            raise wrong(
                "by a name that links or the lab do not use themselves",
                "Give it another name, and use that in the links.",
                at=at,
                got=quota.by,
            )


def _check_quota(quota: Quota, at: Path, asked: dict[str, Question]) -> None:
    if quota.by not in asked:
        raise unknown(
            "question",
            quota.by,
            asked,
            at=(*at, "by"),
            remedy="Ask it in a block demographics before the work, or set source to platform.",
        )
    field = asked[quota.by]
    if not field.values or not field.required:
        raise wrong(
            f"by a required choice, and {quota.by!r} is not one",
            "Make the question a required choice.",
            at=at,
            got=quota.by,
        )
    key = "counts" if quota.counts else "shares"
    for value in quota.counts or quota.shares:
        if value not in field.values:
            raise unknown("option", value, field.values, at=(*at, key, value))


def _fields_before_work(study: Study) -> Iterator[Question]:
    for block in study.blocks:
        if block.is_work:
            return
        yield from block.person_fields
