"""Which of the people that studies measured their own exclusion rules exclude."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from empathylab.analysis.ratings.exclusions import declared_rules, rule_text
from empathylab.analysis.ratings.raters import study_raters
from empathylab.analysis.text.numbers import number
from empathylab.stats.raters.exclusions import Excluded, Rule, StraightLining, apply_exclusions
from empathylab.store import Lab
from empathylab.store.administrations import measured_participants
from empathylab.store.ratings import Study, lab_studies, ratings_frame


@dataclass(frozen=True, slots=True)
class StudyExclusions:
    """Whom one study's rules exclude from the people that it measured."""

    study: str
    rules: tuple[Rule, ...]
    """Those that were applied."""
    rules_not_applied: tuple[str, ...]
    """Those for which the data hold nothing."""
    people: int
    excluded: tuple[Excluded, ...]
    subjects: tuple[str, ...]
    """The excluded people, as administrations name them."""


def study_exclusions(lab: Lab) -> tuple[StudyExclusions, ...]:
    """The exclusions of every study that has rules and measured people."""
    studies = lab_studies(lab)
    exclusions = []
    groups = measured_participants(lab).group_by("study", "version", maintain_order=True)
    for (name, version), people in groups:
        study = studies.get(f"{name}@{version}") or studies[str(name)]
        if study.exclusions:
            exclusions.append(_exclusions(lab, study, people))
    return tuple(exclusions)


def exclusion_sentences(studies: Iterable[StudyExclusions]) -> list[str]:
    """Who was excluded and why, a sentence for each study and rule."""
    return [sentence for study in studies for sentence in _sentences(study)]


def _exclusions(lab: Lab, study: Study, people: pl.DataFrame) -> StudyExclusions:
    raters, contradictions = study_raters(lab, study.name)
    measured = raters.filter(pl.col("rater").is_in(people["rater"].to_list()))
    ratings = ratings_frame(lab, study.name)
    applied, not_applied = declared_rules(study, measured, contradictions)
    if ratings.is_empty():
        straight = [rule for rule in applied if isinstance(rule, StraightLining)]
        applied = [rule for rule in applied if rule not in straight]
        not_applied = (*not_applied, *(rule_text(rule) for rule in straight))
    excluded = apply_exclusions(ratings, measured, applied).excluded if applied else ()
    names = [person.rater for person in excluded]
    return StudyExclusions(
        study=study.name,
        rules=tuple(applied),
        rules_not_applied=not_applied,
        people=measured.height,
        excluded=excluded,
        subjects=tuple(people.filter(pl.col("rater").is_in(names))["subject"].to_list()),
    )


def _sentences(study: StudyExclusions) -> list[str]:
    sentences = []
    if study.rules:
        counts = {
            rule_text(rule): sum(rule in person.reasons for person in study.excluded)
            for rule in study.rules
        }
        why = ", ".join(f"{count} {rule}" for rule, count in counts.items() if count)
        sentences.append(
            f"Participants of {study.study} who {'; or who '.join(counts)} were excluded: "
            f"{number(len(study.excluded), 0)} of {number(study.people, 0)}"
            + (f" ({why})." if len(study.rules) > 1 and why else ".")
        )
    sentences += [
        f"The exclusion rule of {study.study} for participants who {rule} could not be applied: "
        "the study did not record it."
        for rule in study.rules_not_applied
    ]
    if study.rules and len(study.excluded) == study.people:
        sentences.append(
            f"All participants of {study.study} were excluded, so there is no second analysis."
        )
    return sentences
