"""How many raters a study needs, and whether it can be run at all: said before launch."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from empathylab.errors import InputError, UnknownName
from empathylab.scales import Scale
from empathylab.study.assignment.batches import study_slots
from empathylab.study.assignment.quotas import quota_problems
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.interface import Block
from empathylab.study.blocks.questions.checks import CheckQuestion
from empathylab.study.design.definition import EVERYONE, Study
from empathylab.study.design.ethics import live_notes, live_problems, signal_problems
from empathylab.study.design.interface_texts import untranslated
from empathylab.study.design.materials import choose_scales
from empathylab.study.design.protocol import block_texts

_NAMED = 6
"""So many of the situations without a response are named."""
_RETRIES = 6
"""What is suggested where every attempt failed."""
_LONG_SCALE = 5
"""From so many points on, the second highest point is common, too."""


@dataclass(frozen=True, slots=True)
class ArmPlan:
    """What an arm needs."""

    arm: str
    responses: int
    """Responses, or situations where none are rated, that are there."""
    missing: int
    """Situations without a response that may be shown."""
    ratings: int
    raters: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What a study needs, and what stands in its way."""

    situations: int
    arms: tuple[ArmPlan, ...]
    raters: int
    """Who finish; more will begin."""
    batch_sizes: tuple[int, int]
    """The smallest and the largest number of items in a batch."""
    problems: tuple[str, ...]
    """The study cannot be launched before these are solved."""
    notes: tuple[str, ...]
    """Worth knowing; they stop nothing."""

    @property
    def ready(self) -> bool:
        """Whether the study can be launched."""
        return not self.problems

    @property
    def sentences(self) -> tuple[str, ...]:
        """The numbers in words, for the command line and the console."""
        low, high = self.batch_sizes
        if high == 0:
            lines = [f"{_count(self.raters, 'participant')} must finish."]
            lines += [f"Condition {arm.arm}: {arm.raters}." for arm in self.arms]
            return tuple(lines)
        size = f"{high}" if low == high else f"{low} to {high}"
        lines = [f"{_count(self.raters, 'rater')} must finish, each with a batch of {size}."]
        shared = sum(arm.raters for arm in self.arms) > self.raters
        for arm in self.arms if len(self.arms) > 1 else ():
            raters = "all raters" if shared else _count(arm.raters, "rater")
            ratings = _count(arm.ratings, "rating")
            responses = _count(arm.responses + arm.missing, "response")
            there = f" ({arm.missing:,} missing)" if arm.missing else ""
            lines.append(f"Arm {arm.arm}: {raters}, for {ratings} of {responses}{there}.")
        return tuple(lines)


def needed_raters(
    study: Study,
    situations: Sequence[str],
    responses: Mapping[str, Collection[str]] | None = None,
    scales: Mapping[str, Scale] | None = None,
    *,
    failed: Mapping[str, Collection[str]] | None = None,
    respondents: Collection[str] = (),
) -> Plan:
    """The plan for a study with these situations.

    `responses` says for each arm which situations it has a response to that may be shown, `failed`
    to which it has only replies that failed the checks; `scales` are those of the lab, by id, and
    `respondents` whose replies the lab has.
    """
    responses = responses or {}
    problems: list[str] = []
    slots: dict[str, tuple[Slot, ...]] = {}
    try:
        slots = study_slots(study, situations)
    except InputError as error:
        problems.append(str(error))
    missing = (
        {arm: _without(situations, responses.get(arm, ())) for arm in study.arms}
        if study.rated
        else {}
    )
    places = sum(map(len, slots.values()))
    problems += _missing_responses(study, missing, len(situations), failed or {}, respondents)
    problems += _missing_wording(study, scales or {})
    problems += signal_problems(study)
    problems += live_problems(study)
    if study.follow_up is not None and study.recruitment.platform == "open":
        problems.append(
            "A follow-up must recognise participants: use the platform of the first study "
            "(prolific, "
            "mturk, sona or invitation), not open."
        )
    if slots:
        problems += quota_problems(study.quotas, places)
    sizes = [len(slot.items) for of_arm in slots.values() for slot in of_arm]
    return Plan(
        situations=len(situations),
        arms=tuple(_arm_plans(study, situations, slots, missing)),
        raters=places,
        batch_sizes=(min(sizes, default=0), max(sizes, default=0)),
        problems=tuple(problems),
        notes=tuple(_notes(study, sizes)),
    )


def _arm_plans(
    study: Study,
    situations: Sequence[str],
    slots: Mapping[str, Sequence[Slot]],
    missing: Mapping[str, Sequence[str]],
) -> Iterator[ArmPlan]:
    if study.situations is None:
        for arm, own in slots.items():
            yield ArmPlan(arm, 0, 0, 0, len(own))
        return
    if not study.rated:
        here = slots.get(EVERYONE, ())
        work = sum(len(slot.items) for slot in here)
        yield ArmPlan(EVERYONE, len(situations), 0, work, len(here))
        return
    for arm in study.arms:
        own = slots.get(arm, slots.get(EVERYONE, ()))
        ratings = sum(item.arm == arm for slot in own for item in slot.items)
        lacking = len(missing[arm])
        yield ArmPlan(arm, len(situations) - lacking, lacking, ratings, len(own))


def _without(situations: Sequence[str], replied: Collection[str]) -> list[str]:
    there = set(replied)
    return [key for key in situations if key not in there]


def _missing_responses(
    study: Study,
    missing: Mapping[str, Sequence[str]],
    total: int,
    failed: Mapping[str, Collection[str]],
    respondents: Collection[str],
) -> Iterator[str]:
    for arm, keys in missing.items():
        respondent = study.arms[arm].respondent
        remedy = _remedy(study, respondent, refused := set(failed.get(arm, ())) & set(keys))
        if refused:
            remedy = f"its replies to {_shown(keys, refused)} failed the checks; {remedy}"
        if len(keys) == total and total:
            near = "" if refused else _did_you_mean(respondent, respondents)
            yield f"The arm {arm!r} has no responses of {respondent}: {near}{remedy}."
        elif keys:
            named = "" if refused == set(keys) else f" ({_shown(keys, keys)})"
            yield (
                f"The arm {arm!r} lacks {_count(len(keys), 'response')} of {respondent} to the "
                f"{total} situations{named}: {remedy}, or choose other situations."
            )


def _remedy(study: Study, respondent: str, refused: Collection[str]) -> str:
    """The commands that bring the responses that are missing."""
    chosen = f" --set {study.situations.source}" if study.situations else ""
    file = f"FILE{chosen} --respondent {respondent}"
    remedy = f"import them with `empathylab data import responses {file}`"
    if "/" not in respondent:
        return remedy
    # Without more attempts the same command asks nothing again.
    again = f" --retries {_RETRIES}" if refused else ""
    return f"run `empathylab respond {respondent}{chosen}{again}`, or {remedy}"


def _shown(keys: Sequence[str], chosen: Collection[str]) -> str:
    """Those chosen in their order, the first few by name."""
    names = [key for key in keys if key in chosen]
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _did_you_mean(respondent: str, known: Collection[str]) -> str:
    near = UnknownName("respondent", respondent, known).near
    return f"did you mean {near[0]}? Otherwise " if near and respondent not in known else ""


def _missing_wording(study: Study, scales: Mapping[str, Scale]) -> Iterator[str]:
    try:
        chosen = choose_scales(study, scales)
    except UnknownName as error:
        yield str(error)
        return
    for scale in chosen.values():
        if scale.words is None:
            yield (
                f"The wording of the {scale.name} does not ship with EmpathyLab. Import it with "
                "`empathylab scales import FILE`, or delete the block that asks for it "
                f"(`scale: {scale.id}`)."
            )


def _notes(study: Study, sizes: Sequence[int]) -> Iterator[str]:
    if study.content_note is None:
        yield "There is no content_note: people should know in advance what may distress them."
    if study.help is None:
        yield "There is no help: say where people can find help if a text upsets them."
    yield from live_notes(study)
    if study.contact is None:
        yield "There is no contact: participants must be able to ask about the study."
    rules = {exclusion.get("rule") for exclusion in study.exclusions}
    if "failed attention" in rules and not any(block.checks_attention for block in study.blocks):
        yield "The rule 'failed attention' has no effect: there is no attention check."
    if "inconsistent" in rules and not any(block.uses_scale for block in study.blocks):
        yield "The rule 'inconsistent' has no effect: there is no questionnaire. Remove the rule."
    payment = study.recruitment.payment
    if payment is not None and not any(payment in _words(block) for block in study.blocks):
        yield (
            f"No text says what participants get ({payment}): write {{{{payment}}}} into the "
            "consent."
        )
    for block in study.blocks:
        yield from block.notes(sizes)
    yield from _attention_notes(study)
    for quota in study.quotas:
        if quota.source == "platform":
            kinds = ", ".join(quota.counts or quota.shares)
            yield (
                f"The quota by {quota.by!r} uses what links say: each group needs its own link, "
                f"with {quota.by}=… in it ({kinds})."
            )
    if study.situations is not None and sizes and set(sizes) != {study.items_per_rater}:
        low, high = min(sizes), max(sizes)
        got = f"{high}" if low == high else f"{low} to {high}"
        yield (
            f"Batches have {got} items, not the {study.items_per_rater} that the file asks for: "
            "the situations do not divide evenly. Change batch_size or the number of situations."
        )
    if study.rated and study.repeats == 1:
        yield "Each response is rated once, so agreement between raters cannot be measured."
    if unfilled := unfilled_texts(study):
        yield f"Text in [[double brackets]] is not filled in yet: {', '.join(unfilled)}."
    for language in study.languages:
        if count := untranslated(language, study.interface):
            yield (
                f"{count} interface texts, such as 'Continue', are still in English for "
                f"{language!r}: translate them under the key interface."
            )
    yield from _naming_notes(study)


def _attention_notes(study: Study) -> Iterator[str]:
    """Checks that people pass who do not read."""
    own = [
        (f"the check {block.id!r}", block.own_check) for block in study.blocks if block.own_check
    ]
    checks = own + [
        (f"question {number} of the attention_pool", question)
        for number, question in enumerate(study.attention_pool, start=1)
    ]
    for name, check in checks:
        if reason := _easy(study, check):
            yield (
                f"The right answer of {name}, {check.answer!r}, is {reason}: people who do not "
                "read pass it. Ask for a rare answer."
            )


def _easy(study: Study, check: CheckQuestion) -> str:
    """Why someone who does not read gives the right answer, if they do.

    Ratings of replies gather at the upper end: in the published studies the highest point or the
    one below it is the most common. Elsewhere the first option is.
    """
    options = [option.versions[0][1] for option in check.options]
    for dimension in study.dimensions:
        labels = [label.versions[0][1] if label else "" for label in dimension.labels]
        if set(options) & set(labels) - {""} and check.answer in labels:
            top = labels[-1:] if len(labels) < _LONG_SCALE else labels[-2:]
            return f"a common rating of {dimension.name!r}" if check.answer in top else ""
    return "the first option" if check.answer == options[0] else ""


def unfilled_texts(study: Study) -> tuple[str, ...]:
    """Where text in [[double brackets]] is still to be filled in: keys, and ids of blocks."""
    shared = {name: getattr(study, name) for name in ("title", "content_note", "help", "contact")}
    keys = [
        name
        for name, text in shared.items()
        if text is not None and any("[[" in version for _, version in text.versions)
    ]
    return (*keys, *(block.id for block in study.blocks if "[[" in _words(block)))


def _naming_notes(study: Study) -> Iterator[str]:
    """Words of the study that would tell a blinded rater who is compared."""
    if not study.rated:
        return
    names = {arm.respondent for arm in study.arms.values()} | set(study.arms)
    names |= {name.rsplit("/", 1)[-1] for name in names}
    telling = sorted(name for name in names if len(name) > 3 and name.lower() not in _HARMLESS)
    for block in study.blocks:
        words = _words(block).lower()
        named = [item for item in telling if item.lower() in words]
        if named and block.position != "last":
            yield f"The block {block.id!r} names {named[0]!r}, which shows raters who is compared."


_HARMLESS = frozenset({"human", "humans", "people", "person", "model", "everyone"})


def _words(block: Block) -> str:
    return " ".join(block_texts(block))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
