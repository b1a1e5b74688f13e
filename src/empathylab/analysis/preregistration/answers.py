"""A preregistration written from a study's file: AsPredicted's answers, and the same for OSF.

OSF takes them under the names of its "Preregistration Template from AsPredicted.org", version 3.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from empathylab import __version__
from empathylab.analysis.preregistration.record import Plan, content_hash
from empathylab.analysis.ratings.design import PEOPLE
from empathylab.analysis.ratings.exclusions import rule_text
from empathylab.analysis.text.apa import counted, listed
from empathylab.stats.power.analytic import design_effect, raters_for_power, two_shares_power
from empathylab.stats.raters.exclusions import rules_from
from empathylab.study.blocks.interface import Block
from empathylab.study.design.checks import Checked
from empathylab.study.design.definition import Study
from empathylab.study.design.protocol import protocol_hash

TEMPLATE = {"name": "Preregistration Template from AsPredicted.org", "version": 3}
QUESTIONS = {
    "data": "Have any data been collected for this study already?",
    "hypothesis": "1. Hypothesis",
    "dependent": "2. Dependent variables",
    "conditions": "3. Conditions",
    "analyses": "4. Analyses",
    "outliers": "5. Outliers and exclusions",
    "sample": "6. Sample size",
    "other": "7. Other",
    "name": "8. Name",
    "study_type": "Type of study",
}
_LIKERT = 5
_USUAL_DIFFERENCE = 10.0
_NO_DATA = "No, no data have been collected for this study yet."
_SOME_DATA = (
    "It's complicated. We have already collected some data but explain in Question 8 why readers "
    "may consider this a valid pre-registration nevertheless."
)


def plan_of(checked: Checked) -> Plan:
    """What the study's file plans."""
    study = checked.study
    return Plan(
        study=study.name,
        version=study.version,
        protocol_hash=protocol_hash(study),
        raters={arm.arm: arm.raters for arm in checked.plan.arms},
        reference=_reference(study),
        exclusions=[dict(rule) for rule in study.exclusions],
        margins={
            dimension.name: dimension.margin
            for dimension in study.dimensions
            if dimension.margin is not None
        },
        looks=None if study.looks is None else study.looks.model_dump(mode="json"),
    )


def preregistration(
    checked: Checked,
    *,
    now: datetime,
    launched: bool = False,
    icc: float = 0.1,
    power: float = 0.95,
) -> dict[str, Any]:
    """The preregistration as plain data: OSF's answers, the plan, the date and a hash of all that.

    `icc` is the correlation of one rater's ratings, `power` the one that the sample size is held
    against. `launched` says that people may have answered already.
    """
    study = checked.study
    answers = {
        "data": _SOME_DATA if launched else _NO_DATA,
        "hypothesis": " ".join(_hypothesis(study)),
        "dependent": " ".join(_dependent(study)),
        "conditions": " ".join(_conditions(checked)),
        "analyses": " ".join(_analyses(study)),
        "outliers": " ".join(_exclusions(study)),
        "sample": " ".join(_sample(checked, icc, power)),
        "other": f"The study's file has the hash {protocol_hash(study)} (EmpathyLab "
        f"{__version__}). The hash of the protocol, which the launch prints, also covers the texts "
        "of situations, replies and scales. Anything not named here is exploratory.",
        "name": f"{_said(study, study.title)} ({study.name}, version {study.version})",
        "study_type": "Experiment" if study.rated or study.live else "Survey",
    }
    content = {
        "schema": TEMPLATE,
        "registration_responses": answers,
        "written_at": now.isoformat(timespec="seconds"),
        "plan": dataclasses.asdict(plan_of(checked)),
    }
    return {**content, "hash": content_hash(content)}


def as_markdown(document: Mapping[str, Any]) -> str:
    """The answers to be copied into AsPredicted, a heading each."""
    answers = document["registration_responses"]
    parts = [f"# Preregistration: {answers['name']}\n"]
    parts.append(f"Written {document['written_at']}; hash {document['hash']}.\n")
    parts += [f"## {title}\n\n{answers[name]}\n" for name, title in QUESTIONS.items()]
    return "\n".join(parts)


def _reference(study: Study) -> str | None:
    if not study.rated:
        return None
    people = [name for name, arm in study.arms.items() if arm.respondent == PEOPLE]
    return PEOPLE if PEOPLE in study.arms else next(iter([*people, *study.arms]))


def _hypothesis(study: Study) -> Iterator[str]:
    if study.live is not None:
        factors = "the author of the reply" + (", its label" if study.live.labels else "")
        yield (
            f"What recipients say about the reply depends on {factors}"
            f"{' and both together' if study.live.labels else ''} (two-sided)."
        )
        return
    if not study.rated and not _evokes(study):
        yield "The study is descriptive; it tests no hypothesis."
        return
    if not study.rated:
        yield (
            "Feelings on the questionnaires change between baseline and the imagined situation "
            "(two-sided), by an amount that differs between situations."
        )
        return
    reference = _reference(study)
    others = [name for name in study.arms if name != reference]
    names = listed([dimension.name for dimension in study.dimensions])
    yield (
        f"On {names}, replies of {listed(others)} are rated differently from replies of "
        f"{reference} (two-sided)."
    )
    for dimension in study.dimensions:
        if dimension.margin is not None:
            yield (
                f"Differences within ±{dimension.margin:g} {_unit(len(dimension.labels))} on "
                f"{dimension.name} are "
                "too small to matter; arms are called equivalent if the 90% interval is inside."
            )


def _dependent(study: Study) -> Iterator[str]:
    for dimension in study.dimensions:
        labels = [
            str(value) if label is None else f"{value} = {_said(study, label)}"
            for value, label in zip(dimension.values, dimension.labels, strict=True)
        ]
        yield f"{dimension.name}: “{_said(study, dimension.question)}” ({', '.join(labels)})."
    if study.live is not None:
        asked = [field.name for block in _after_reply(study) for field in block.person_fields]
        yield f"Answers of recipients after the reply: {listed(asked)}."
    scales = list(dict.fromkeys(block.uses_scale for block in study.blocks if block.uses_scale))
    if scales:
        yield f"Questionnaires: {listed([name.upper() for name in scales])}."


def _conditions(checked: Checked) -> Iterator[str]:
    study, plan = checked.study, checked.plan
    situations = counted(plan.situations, "situation")
    if study.live is not None:
        arms = list(study.live.conditions)
        yield (
            f"There are {counted(len(arms), 'condition')} (author+label): {listed(arms)}. "
            "Participants describe an experience of their own and are assigned to the condition "
            "with "
            "the fewest participants, with ties broken at random."
        )
        return
    if not study.rated:
        yield (
            f"There is one condition. Each participant gets {study.batch_size} of {situations}, "
            "drawn at random."
        )
        return
    arms = [f"{name} (replies of {arm.respondent})" for name, arm in study.arms.items()]
    yield f"There are {counted(len(arms), 'arm')}: {listed(arms)}; {situations}."
    if study.design == "between":
        yield (
            "Between subjects: each rater is assigned to one arm, the one with the fewest raters, "
            f"with ties broken at random, and rates {study.items_per_rater} of its replies."
        )
    else:
        yield (
            f"Within subjects: each rater rates {study.items_per_rater} replies of all arms, in "
            "an order balanced by Williams designs."
        )
    yield "Raters do not know who wrote a reply."
    if checked.information:
        yield checked.information


def _after_reply(study: Study) -> tuple[Block, ...]:
    """The blocks after the first reply to the participant."""
    first = next(number for number, block in enumerate(study.blocks) if block.is_live)
    return study.blocks[first + 1 :]


def _analyses(study: Study) -> Iterator[str]:
    if study.live is not None:
        yield (
            "Each answer is analysed with `empathylab analyze recipients`: an analysis of variance "
            "with the factors author and label and their interaction; two-sided tests at α = .05. "
            "Participants who saw the fallback are reported. Nobody looks at results before the "
            "study is closed."
        )
        return
    if not study.rated and not _evokes(study):
        yield "Answers are described by situation, with 95% intervals."
        return
    if not study.rated:
        yield (
            "Changes from baseline are tested per scale, clustered by situation, with p values "
            "corrected by Holm's method (`empathylab analyze appraisal`)."
        )
        return
    yield (
        "Ratings are analysed with `empathylab analyze ratings`: an ordinal mixed model with "
        "random effects of raters, situations and, where they vary, replies; two-sided tests at "
        "α = .05, "
        "with p corrected over the arms by Holm's method."
    )
    likert = [dimension.name for dimension in study.dimensions if len(dimension.labels) >= _LIKERT]
    good = [dimension.name for dimension in study.dimensions if len(dimension.labels) < _LIKERT]
    if likert:
        yield f"The difference in means is reported for {listed(likert)}."
    if good:
        yield f"The difference in the proportion of good ratings is reported for {listed(good)}."
    if study.looks is not None:
        at = listed([f"{100 * item:g}%" for item in study.looks.at])
        yield (
            f"Results are looked at {counted(len(study.looks.at), 'time')}, at {at} of "
            f"{study.looks.ratings:,} ratings, with {study.looks.spending} alpha spending."
        )
    else:
        yield "Nobody looks at results before the study is closed."


def _exclusions(study: Study) -> Iterator[str]:
    for block in study.blocks:
        if block.screening is not None:
            yield f"Participants are screened out if {block.screening} (page {block.id})."
    if any("failed-comprehension" in block.early_outcomes for block in study.blocks):
        yield "Participants who fail the comprehension check cannot continue."
    if any("failed-attention" in block.early_outcomes for block in study.blocks):
        yield "Participants who fail an attention check cannot continue."
    rules = [rule_text(rule) for rule in rules_from(study.exclusions)]
    if not rules:
        yield "No participant who finishes is excluded."
        return
    yield f"Participants who {'; or who '.join(rules)} are excluded."
    if study.rated:
        yield "Results with and without them are reported."
    else:
        yield "A researcher excludes them by hand, before the analysis."


def _sample(checked: Checked, icc: float, power: float) -> Iterator[str]:
    study, plan = checked.study, checked.plan
    each = listed([f"{arm.raters} in {arm.arm}" for arm in plan.arms])
    people = counted(plan.raters, "participant")
    if study.live is not None:
        half = 1.96 * 2 / plan.raters**0.5
        yield (
            f"{people} finish: {each}. The 95% interval of a standardised difference between two "
            f"halves of the participants then reaches about ±{half:.2f}."
        )
        return
    if not study.rated:
        half = 1.96 / plan.raters**0.5
        yield (
            f"{people} finish: {study.repeats} for each of {plan.situations} situations. The 95% "
            f"interval of a standardised mean change then reaches about ±{half:.2f}."
        )
        return
    shared = study.design == "within"
    yield f"{people} finish" + (", each in all arms." if shared else f": {each}.")
    per_rater = study.batch_size
    raters = min(arm.raters for arm in plan.arms)
    margins = [
        dimension.margin
        for dimension in study.dimensions
        if dimension.margin and len(dimension.labels) < _LIKERT
    ]
    points = min(margins, default=_USUAL_DIFFERENCE)
    share = 0.5 + points / 100
    n = max(1, int(raters * per_rater / design_effect(icc, per_rater)))
    reached = two_shares_power(share, 0.5, n).power
    wanted = raters_for_power(share, 0.5, power=power, ratings_per_rater=per_rater, icc=icc)
    yield (
        f"With {raters} raters of {per_rater} ratings in each arm, the power to find a difference "
        f"of {points:g} percentage points (50% against {100 * share:g}%) is {reached:.2f} at "
        f"α = .05 and an intraclass correlation of {icc:g}; a power of {power:g} needs "
        f"{wanted.raters} raters per arm (`empathylab stats power --share {share:g} "
        f"--share-reference 0.5 --ratings-per-rater {per_rater} --icc {icc:g} --power {power:g}`)."
    )
    if shared:
        yield "Raters who see all arms make the test more powerful than that."


def _evokes(study: Study) -> bool:
    """Whether participants imagine a situation between two questionnaires."""
    return any(block.evokes for block in study.blocks)


def _unit(points: int) -> str:
    return "points" if points >= _LIKERT else "percentage points of good ratings"


def _said(study: Study, text: Any) -> str:
    return str(text.in_language(study.languages[0]))
