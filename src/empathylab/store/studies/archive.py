"""What the lab has of one study, row by row: for exports and archives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, select

from empathylab.errors import UnknownName
from empathylab.store import schema
from empathylab.store.imports.files import begin_import
from empathylab.store.schema.statements import Rows, count_rows
from empathylab.store.studies.records import find_study, shown_or_rated

ARCHIVE = "study"
"""The kind of import that an archive is."""


@dataclass(frozen=True, slots=True)
class ArchiveImport:
    """An archive that the lab has."""

    number: int
    fingerprint: str
    summary: Mapping[str, Any]
    """What no table has a place for: how the archive's own lab called and asked things."""


def any_study(connection: Connection, name: str) -> Any:
    """The row of the study, launched or imported; `NAME@2` names a version, else the newest."""
    study = find_study(connection, name)
    plain, _, version = name.rpartition("@")
    if study is None and plain and version.isdecimal():
        study = find_study(connection, plain, int(version))
    if study is None:
        known = connection.execute(select(schema.studies.c.name).distinct()).scalars()
        raise UnknownName("study", name, known)
    return study


def archive_source(name: str, version: int) -> str:
    """Under which an archive's import is known."""
    return f"{name}@{version}"


def archive_import(connection: Connection, name: str, version: int) -> ArchiveImport | None:
    """The import that brought the study, where it came as an archive."""
    table = schema.imports
    query = select(table).where(
        table.c.kind == ARCHIVE, table.c.source == archive_source(name, version)
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else ArchiveImport(int(row.id), row.fingerprint, row.summary)


def begin_archive(
    connection: Connection, name: str, version: int, fingerprint: str, summary: Mapping[str, Any]
) -> int:
    """The number of the import of an archive that the lab does not hold yet."""
    source = archive_source(name, version)
    number, _ = begin_import(connection, ARCHIVE, source, fingerprint, summary)
    return int(number or 0)


def _of_people() -> ColumnElement[bool]:
    """Leaves out simulated raters and test visits; excluded raters stay, marked."""
    rule: ColumnElement[bool] = schema.raters.c.details["marks", "world"].as_string().is_(None)
    return rule


def situation_rows(connection: Connection, study: int) -> Rows:
    """The study's situations with their sets, in its order; those rated where none were frozen."""
    table, sets, kept = schema.situations, schema.situation_sets, schema.study_situations
    shared = (table, sets.c.name.label("set_name"), sets.c.version.label("set_version"))
    frozen = (
        select(*shared)
        .select_from(kept.join(table).join(sets))
        .where(kept.c.study_id == study)
        .order_by(kept.c.position)
    )
    rows = connection.execute(frozen).all()
    if rows:
        return rows
    ratings, raters, responses = schema.ratings, schema.raters, schema.responses
    rated = (
        select(responses.c.situation_id)
        .select_from(ratings.join(raters).join(responses))
        .where(raters.c.study_id == study, _of_people())
    )
    query = select(*shared).select_from(table.join(sets)).where(table.c.id.in_(rated))
    return connection.execute(query.order_by(table.c.id)).all()


def set_rows(connection: Connection, ids: Iterable[int]) -> Rows:
    """The sets of those ids, in the order in which the lab got them."""
    table = schema.situation_sets
    wanted = set(ids)
    query = select(table).order_by(table.c.id)
    return [row for row in connection.execute(query) if row.id in wanted]


def set_size(connection: Connection, situation_set: int) -> int:
    """How many situations the set has."""
    table = schema.situations
    return count_rows(connection, table, table.c.situation_set_id == situation_set)


def arm_rows(connection: Connection, study: int) -> Rows:
    """The study's arms with their respondents, in the order in which they came."""
    table, respondents = schema.arms, schema.respondents
    query = (
        select(table, respondents.c.name.label("respondent"), respondents.c.kind)
        .select_from(table.outerjoin(respondents))
        .where(table.c.study_id == study)
        .order_by(table.c.id)
    )
    return connection.execute(query).all()


def shown_rows(connection: Connection, study: int) -> Rows:
    """Which response each arm shows to which situation."""
    table, arms = schema.shown_responses, schema.arms
    query = (
        select(arms.c.name.label("arm"), table.c.situation_id, table.c.response_id)
        .select_from(table.join(arms))
        .where(arms.c.study_id == study)
        .order_by(arms.c.id, table.c.response_id)
    )
    return connection.execute(query).all()


def response_rows(connection: Connection, study: int) -> Rows:
    """The responses that the study shows, or that its raters rated, in the lab's order."""
    table, respondents = schema.responses, schema.respondents
    query = (
        select(table, respondents.c.name.label("respondent"), respondents.c.kind)
        .select_from(table.join(respondents))
        .where(shown_or_rated(study, _of_people()))
        .order_by(table.c.id)
    )
    return connection.execute(query).all()


def asked_templates(connection: Connection, study: int) -> dict[str, Any]:
    """By arm, the template by which its replies were asked for; only where it is one and known."""
    shown, arms, responses = schema.shown_responses, schema.arms, schema.responses
    answers, runs = schema.answers, schema.runs
    query = (
        select(arms.c.name, runs.c.settings)
        .select_from(shown.join(arms).join(responses).join(answers).join(runs))
        .where(arms.c.study_id == study)
    )
    templates: dict[str, list[Any]] = {}
    for row in connection.execute(query):
        templates.setdefault(row.name, []).append(row.settings.get("template"))
    return {
        arm: first
        for arm, (first, *others) in templates.items()
        if first is not None and all(other == first for other in others)
    }


def rater_rows(connection: Connection, study: int) -> Rows:
    """The study's raters, including excluded ones, in the lab's order."""
    table = schema.raters
    query = select(table).where(table.c.study_id == study, _of_people()).order_by(table.c.id)
    return connection.execute(query).all()


def rating_rows(connection: Connection, study: int) -> Rows:
    """Their ratings, in the lab's order."""
    table, raters, arms = schema.ratings, schema.raters, schema.arms
    query = (
        select(table, arms.c.name.label("arm"))
        .select_from(table.join(raters).outerjoin(arms, arms.c.id == table.c.arm_id))
        .where(raters.c.study_id == study, _of_people())
        .order_by(table.c.id)
    )
    return connection.execute(query).all()


def administration_rows(connection: Connection, study: int) -> Rows:
    """The scales that the study's raters answered, in the lab's order."""
    table, raters = schema.administrations, schema.raters
    query = (
        select(table)
        .select_from(table.join(raters))
        .where(raters.c.study_id == study, _of_people(), table.c.outcome == "valid")
        .order_by(table.c.id)
    )
    return connection.execute(query).all()


def item_values(connection: Connection, study: int) -> dict[int, dict[int, float]]:
    """By administration, the answer to each item."""
    table, administrations, raters = schema.item_answers, schema.administrations, schema.raters
    query = (
        select(*table.c["administration_id", "item", "value"])
        .select_from(table.join(administrations).join(raters))
        .where(raters.c.study_id == study, _of_people())
        .order_by(table.c.administration_id, table.c.item)
    )
    values: dict[int, dict[int, float]] = {}
    for row in connection.execute(query):
        values.setdefault(int(row.administration_id), {})[int(row.item)] = row.value
    return values


def scale_rows(connection: Connection, study: int, used: Iterable[int]) -> Rows:
    """The scales that the study froze, and those that its raters answered; with the name in it."""
    table, kept = schema.scales, schema.study_scales
    query = (
        select(table, kept.c.name.label("called"))
        .join(kept, and_(kept.c.scale_id == table.c.id, kept.c.study_id == study), isouter=True)
        .order_by(table.c.id, kept.c.name)
    )
    wanted = set(used)
    return [row for row in connection.execute(query) if row.called is not None or row.id in wanted]


def page_rows(connection: Connection, study: int, *, answers: bool = True) -> Rows:
    """The pages that people answered, in the order of people and pages.

    Without `answers`, when they were shown and how long they took, but not what was `given`.
    """
    table, own = schema.page_answers, schema.slots
    columns = [own.c.person, table.c.step, table.c.timing, table.c.corrections]
    columns += [table.c.given] if answers else [table.c.shown_at, table.c.answered_at]
    query = (
        select(*columns)
        .select_from(table.join(own))
        .where(own.c.study_id == study, own.c.world == "person")
        .order_by(own.c.id, table.c.id)
    )
    return connection.execute(query).all()


def written_rows(connection: Connection, name: str, version: int) -> Rows:
    """The replies that people wrote in the study, with their situations."""
    table, situations, sets = schema.responses, schema.situations, schema.situation_sets
    details = table.c.details
    query = (
        select(
            *table.c["id", "sample", "text", "details"],
            situations.c.key,
            sets.c.name.label("set_name"),
        )
        .select_from(table.join(situations).join(sets))
        .where(
            details["study"].as_string() == name,
            details["version"].as_integer() == version,
        )
        .order_by(table.c.id)
    )
    return connection.execute(query).all()


def release_told(connection: Connection, study: int) -> Mapping[str, Any]:
    """The protocol of a release before a study file replaced it; empty for other studies."""
    table = schema.audit
    query = select(table.c.details).where(table.c.study_id == study, table.c.action == "add arm")
    details = connection.execute(query).scalars()
    return next((item["release"] for item in details if "release" in item), {})
