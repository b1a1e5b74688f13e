"""A second look at appraisals, without those whom the rules of a study's own file leave out."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import polars as pl

from empathylab.analysis.appraisal.analysis import AppraisalAnalysis, analysis_of
from empathylab.analysis.appraisal.rows import alignment_rows, change_rows
from empathylab.analysis.ratings.analysis import declared_rules, study_raters
from empathylab.analysis.text.numbers import number
from empathylab.stats.raters.exclusions import Excluded, StraightLining, apply_exclusions
from empathylab.store import Lab
from empathylab.store.administrations import Appraisals, measured_participants
from empathylab.store.ratings import Study, lab_studies, ratings_frame
from empathylab.store.studies.results import HUMAN


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Whom the rules of one study leave out of the people that it measured."""

    study: str
    rules: tuple[str, ...]
    """Those that were applied, in words."""
    unmet: tuple[str, ...]
    """Those that nothing in the data can be held against."""
    people: int
    excluded: tuple[Excluded, ...]


@dataclass(frozen=True, slots=True)
class SecondLook:
    """The appraisals of those who are kept."""

    studies: tuple[LeftOut, ...]
    kept: AppraisalAnalysis | None
    """None where nobody is left out, or everybody."""


def second_look(lab: Lab, read: Appraisals, *, alpha: float = 0.01) -> SecondLook | None:
    """What is left of the analysis without those left out; None where no study declares a rule."""
    measured = measured_participants(lab)
    studies = lab_studies(lab)
    found: list[LeftOut] = []
    dropped: list[str] = []
    for (name, version), people in measured.group_by("study", "version", maintain_order=True):
        study = studies.get(f"{name}@{version}") or studies[str(name)]
        if study.exclusions:
            one = _left_out(lab, study, people)
            found.append(one)
            names = [person.rater for person in one.excluded]
            dropped += people.filter(pl.col("rater").is_in(names))["subject"].to_list()
    if not found:
        return None
    asked = read.administrations
    kept = asked.filter(~pl.col("subject").is_in(dropped).fill_null(value=False))
    left = kept.height < asked.height and kept.filter(respondent=HUMAN).height > 0
    again = analysis_of(dataclasses.replace(read, administrations=kept), alpha=alpha)
    return SecondLook(tuple(found), again if left else None)


def exclusion_sentences(look: SecondLook | None) -> list[str]:
    """Who was left out and why, a sentence for each study."""
    return [sentence for one in (look.studies if look else ()) for sentence in _sentences(one)]


def exclusion_document(look: SecondLook | None) -> dict[str, Any] | None:
    """The second look as plain values: people's changes, and every model's distance from them."""
    if look is None:
        return None
    kept = look.kept
    return {
        "studies": [
            {
                "study": one.study,
                "rules": list(one.rules),
                "rules_not_applied": list(one.unmet),
                "people": one.people,
                "left_out": [
                    {"rater": person.rater, "reasons": list(person.reasons)}
                    for person in one.excluded
                ],
            }
            for one in look.studies
        ],
        "rows": None if kept is None else _of_people(kept),
        "alignment": None if kept is None else alignment_rows(kept),
    }


def _of_people(kept: AppraisalAnalysis) -> list[dict[str, Any]]:
    return [row for row in change_rows(kept) if row["respondent"] == HUMAN]


def _left_out(lab: Lab, study: Study, people: pl.DataFrame) -> LeftOut:
    raters, contradictions = study_raters(lab, study.name)
    mine = raters.filter(pl.col("rater").is_in(people["rater"].to_list()))
    ratings = ratings_frame(lab, study.name)
    applied, unmet = declared_rules(study, mine, contradictions)
    if ratings.is_empty():
        lines = [rule for rule in applied if isinstance(rule, StraightLining)]
        applied = [rule for rule in applied if rule not in lines]
        unmet = (*unmet, *(str(rule) for rule in lines))
    excluded = apply_exclusions(ratings, mine, applied).excluded if applied else ()
    rules = tuple(str(rule) for rule in applied)
    return LeftOut(study.name, rules, unmet, mine.height, excluded)


def _sentences(one: LeftOut) -> list[str]:
    said = []
    if one.rules:
        counts = {
            rule: sum(rule in person.reasons for person in one.excluded) for rule in one.rules
        }
        why = ", ".join(f"{count} {rule}" for rule, count in counts.items() if count)
        said.append(
            f"The rules of {one.study} leave out who {'; or '.join(one.rules)}: "
            f"{number(len(one.excluded), 0)} of {number(one.people, 0)} people"
            + (f" ({why})." if len(one.rules) > 1 and why else ".")
        )
    said += [
        f"The rule of {one.study} that leaves out who {rule} could not be applied: "
        "nothing of the kind is known."
        for rule in one.unmet
    ]
    if one.rules and len(one.excluded) == one.people:
        said.append(f"That leaves nobody of {one.study}, so there is no second look.")
    return said
