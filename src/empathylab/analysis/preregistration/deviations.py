"""What a study and its analysis did differently from what was preregistered, a sentence each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from empathylab.analysis.preregistration.record import Plan, Preregistered, recorded
from empathylab.analysis.ratings.exclusions import rule_text
from empathylab.analysis.ratings.result import RatingsResult
from empathylab.analysis.text.apa import counted
from empathylab.stats.raters.exclusions import Rule, rules_from
from empathylab.store import Lab
from empathylab.store.studies.archive import any_study
from empathylab.store.studies.records import audit_rows
from empathylab.study.archives.packing import is_complete, read_protocol
from empathylab.study.design.protocol import protocol_hash


def preregistered(lab: Lab, result: RatingsResult) -> Preregistered | None:
    """The preregistration of the analysed study with all deviations; None where there is none."""
    counts = dict(result.ratings.group_by("arm").n_unique().select("arm", "rater").iter_rows())
    rules = () if result.exclusions is None else result.exclusions.exclusions.rules
    registered = _registered(lab, result.study.name)
    if registered is None:
        return None
    row, registration, plan, audit = registered
    sentences = [*_file(row, registration, plan), *_raters(row, plan, counts), *_looks(plan, audit)]
    sentences += [*_exclusions(plan, rules), *_by_hand(audit), *_comparisons(plan, result)]
    return dataclasses.replace(registration, deviations=tuple(sentences))


def preregistered_measurement(
    lab: Lab, study: str, *, people: int, rules: Sequence[Rule]
) -> Preregistered | None:
    """The same of a study that measured people with scales, where arms are not compared."""
    registered = _registered(lab, study)
    if registered is None:
        return None
    row, registration, plan, audit = registered
    sentences = [*_file(row, registration, plan), *_people(plan, people), *_looks(plan, audit)]
    sentences += [*_exclusions(plan, rules), *_by_hand(audit)]
    return dataclasses.replace(registration, deviations=tuple(sentences))


def _registered(lab: Lab, study: str) -> tuple[Any, Preregistered, Plan, Sequence[Row[Any]]] | None:
    with lab.reading() as connection:
        row = any_study(connection, study)
        record = recorded(connection, row.id)
        return None if record is None else (row, *record, audit_rows(connection, row.id))


def _file(row: Any, registration: Preregistered, plan: Plan) -> Iterator[str]:
    launched = row.launched_at
    if launched is not None and registration.written_at > launched.isoformat(timespec="seconds"):
        yield "The preregistration was written after the study was launched."
    if plan.version != row.version:
        yield f"Version {row.version} was run; version {plan.version} was preregistered."
    if is_complete(row.protocol):
        recruitment = row.protocol.get("recruitment")
        study = read_protocol(row.protocol, where=f"study {row.name}", recruitment=recruitment)
        if protocol_hash(study) != plan.protocol_hash:
            yield "The study's file was changed after the preregistration."


def _people(plan: Plan, people: int) -> Iterator[str]:
    planned = sum(plan.raters.values())
    if people != planned:
        were = counted(people, "participant")
        yield f"{were} answered the scales; {planned} were preregistered."


def _raters(row: Any, plan: Plan, counts: Mapping[str, int]) -> Iterator[str]:
    for arm, planned in plan.raters.items():
        came = counts.get(arm, 0)
        if came != planned and (row.status == "closed" or came > planned):
            yield f"Arm {arm} has {counted(came, 'rater')}; {planned} were preregistered."
    for arm in counts:
        if arm not in plan.raters:
            yield f"Arm {arm} was not preregistered."


def _looks(plan: Plan, audit: Sequence[Row[Any]]) -> Iterator[str]:
    looks = sum(row.action == "peek" for row in audit)
    planned = 0 if plan.looks is None else len(plan.looks["at"]) - 1
    if looks > planned:
        times = "once" if looks == 1 else f"{looks} times"
        allowed = "no look" if not planned else counted(planned, "look")
        were = "was" if planned <= 1 else "were"
        yield (
            f"Results were looked at {times} before the study was closed; {allowed} {were} "
            "preregistered."
        )


def _exclusions(plan: Plan, applied: Sequence[Rule]) -> Iterator[str]:
    was, now = _texts(rules_from(plan.exclusions)), _texts(applied)
    for rule in was:
        if rule not in now:
            yield f"The preregistered rule to exclude raters who {rule} was not applied."
    for rule in now:
        if rule not in was:
            yield f"The rule to exclude raters who {rule} was not preregistered."


def _texts(rules: Sequence[Rule]) -> list[str]:
    return [rule_text(rule) for rule in rules]


def _by_hand(audit: Sequence[Row[Any]]) -> Iterator[str]:
    reasons: dict[str, str] = {}
    for row in audit:
        person = str(row.details.get("person"))
        if row.action == "exclude":
            reasons[person] = str(row.details.get("reason"))
        elif row.action == "undo exclusion":
            reasons.pop(person, None)
    if reasons:
        were = "participant was" if len(reasons) == 1 else "participants were"
        why = "; ".join(dict.fromkeys(reasons.values()))
        yield f"{len(reasons)} {were} excluded by a researcher ({why})."


def _comparisons(plan: Plan, result: RatingsResult) -> Iterator[str]:
    if plan.reference is not None and result.reference != plan.reference:
        yield (
            f"Arms are compared with {result.reference}; {plan.reference} was preregistered as "
            "the reference."
        )
    margins: Mapping[str, float] = result.margins
    for name in dict.fromkeys([*plan.margins, *margins]):
        was, now = plan.margins.get(name), margins.get(name)
        if was != now:
            yield (f"The margin of {name} is {_number(now)}; {_number(was)} was preregistered.")


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"
