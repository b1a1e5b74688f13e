"""Studies that the lab runs: what was frozen at launch, how they stand, and who did what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, case, func, or_, select

from empathylab.errors import InputError, UnknownName
from empathylab.situations import Situation
from empathylab.store import schema
from empathylab.store.inserts import insert_returning_ids
from empathylab.store.schema.statements import change_rows, count_rows, ids_by, insert_rows
from empathylab.store.situations import situation_from_row

_OTHER_VERSIONS = select(schema.studies.c.id).where(
    schema.studies.c.name == bindparam("named"), schema.studies.c.id != bindparam("study")
)
_STOPPED = select(schema.arms.c.name).where(
    schema.arms.c.study_id == bindparam("study"), schema.arms.c.stopped
)


@dataclass(frozen=True, slots=True)
class FrozenResponse:
    """The response that an arm shows to a situation."""

    situation: int
    response: int
    text: str
    chat: tuple[tuple[str, str], ...] = ()
    """Of a conversation: who speaks, `person` or `respondent`, and what they say."""
    rated_turn: bool = False
    """Whether the last turn is what is rated, not the whole conversation."""

    @property
    def withdrawn(self) -> bool:
        """Whether its words were deleted since, as its author asked."""
        return not self.text


def find_study(
    connection: Connection, name: str, version: int | None = None, *, lock: bool = False
) -> Row[Any] | None:
    """The study of that name, its newest version unless one is given.

    `lock` keeps other processes from claiming slots in it until the transaction ends; on SQLite
    any writing transaction does.
    """
    table = schema.studies
    query = select(table).where(table.c.name == name).order_by(table.c.version.desc()).limit(1)
    if version is not None:
        query = query.where(table.c.version == version)
    return connection.execute(locked(query) if lock else query).one_or_none()


def launched_study(connection: Connection, name: str) -> Row[Any]:
    """The launched study of that name; `NAME@2` names a version, else it is the newest."""
    plain, _, version = name.partition("@")
    study = find_study(connection, plain, int(version) if version.isdecimal() else None)
    if study is None or study.launched_at is None or (version and not version.isdecimal()):
        table = schema.studies
        known = select(table.c.name).where(table.c.launched_at.is_not(None)).distinct()
        raise UnknownName(
            "launched study",
            name,
            connection.execute(known).scalars(),
            remedy="Launch it with `empathylab study serve FILE`.",
        )
    return study


def locked(query: Any) -> Any:
    """The query, whose rows nobody else may lock or change until the transaction ends."""
    # Rows that refer to the study are inserted meanwhile without waiting.
    return query.with_for_update(key_share=True)


def lock_study(connection: Connection, study: int) -> None:
    """Waits until no other process claims a slot in the study, and keeps it so."""
    connection.execute(locked(select(schema.studies.c.id).where(schema.studies.c.id == study)))


def other_versions(connection: Connection, name: str, study: int) -> list[int]:
    """The ids of the study's other versions."""
    return list(connection.execute(_OTHER_VERSIONS, {"named": name, "study": study}).scalars())


def add_launched(connection: Connection, row: Mapping[str, Any]) -> int:
    """The id of the new study."""
    return insert_returning_ids(connection, schema.studies, [row])[0]


def freeze_situations(connection: Connection, study: int, situations: Sequence[int]) -> None:
    """Keeps which situations the study uses, in their order."""
    rows = [
        {"study_id": study, "position": position, "situation_id": situation}
        for position, situation in enumerate(situations)
    ]
    insert_rows(connection, schema.study_situations, rows)


def freeze_scales(connection: Connection, study: int, scales: Mapping[str, int]) -> None:
    """Keeps the very scales that the study asks, by the names that it uses."""
    rows = [{"study_id": study, "name": name, "scale_id": row} for name, row in scales.items()]
    insert_rows(connection, schema.study_scales, rows)


def add_arm(
    connection: Connection,
    study: int,
    name: str,
    respondent: int | None,
    responses: Sequence[FrozenResponse] = (),
) -> int:
    """The id of a new arm of the study, which shows these responses."""
    row = {"study_id": study, "name": name, "respondent_id": respondent, "stopped": False}
    (arm,) = insert_returning_ids(connection, schema.arms, [row])
    rows = [
        {"arm_id": arm, "situation_id": response.situation, "response_id": response.response}
        for response in responses
    ]
    insert_rows(connection, schema.shown_responses, rows)
    return arm


def respondent_row(connection: Connection, name: str) -> int:
    """The id of a respondent that is in the lab."""
    table = schema.respondents
    return int(connection.execute(select(table.c.id).where(table.c.name == name)).scalar_one())


def respondent_responses(
    connection: Connection,
    respondent: str,
    situations: Sequence[int],
    *,
    sample: int,
    prompt: str | None,
    arm: str,
) -> list[FrozenResponse]:
    """The respondent's valid responses to the situations, the newest where there are several."""
    table, names = schema.responses, schema.respondents
    query = (
        select(*table.c["situation_id", "id", "text", "prompt", "details"])
        .select_from(table.join(names))
        .where(names.c.name == respondent, table.c.outcome == "valid", table.c.sample == sample)
        .order_by(table.c.id)
    )
    if prompt is not None:
        query = query.where(table.c.prompt == prompt)
    wanted = set(situations)
    rows = [row for row in connection.execute(query) if row.situation_id in wanted]
    prompts = {row.prompt for row in rows}
    if len(prompts) > 1:
        raise InputError(
            f"the lab has replies of {respondent} to several prompts",
            where=f"arm {arm!r}",
            got=", ".join(sorted(str(prompt) for prompt in prompts)),
            remedy=f"Write the arm as {{respondent: {respondent}, prompt: NAME}}.",
        )
    newest = {row.situation_id: row for row in rows}
    return [_frozen(newest[situation]) for situation in situations if situation in newest]


def situations_failed(
    connection: Connection, respondent: str, *, sample: int, prompt: str | None
) -> set[int]:
    """The situations where each of the respondent's replies failed the checks."""
    table, names = schema.responses, schema.respondents
    query = (
        select(table.c.situation_id, func.max(case((table.c.outcome == "valid", 1), else_=0)))
        .select_from(table.join(names))
        .where(names.c.name == respondent, table.c.sample == sample)
        .group_by(table.c.situation_id)
    )
    if prompt is not None:
        query = query.where(table.c.prompt == prompt)
    return {int(situation) for situation, valid in connection.execute(query) if not valid}


def respondents_with_replies(connection: Connection) -> list[str]:
    """The names of all respondents that the lab has replies of."""
    names, replies = schema.respondents, schema.responses
    replied = select(replies.c.id).where(replies.c.respondent_id == names.c.id).exists()
    return list(connection.execute(select(names.c.name).where(replied)).scalars())


def frozen_situations(connection: Connection, study: int) -> dict[int, Situation]:
    """The study's situations by their ids in the lab, in the study's order."""
    kept, table = schema.study_situations, schema.situations
    query = (
        select(table)
        .select_from(kept.join(table))
        .where(kept.c.study_id == study)
        .order_by(kept.c.position)
    )
    rows = connection.execute(query).mappings()
    return {int(row["id"]): situation_from_row(row) for row in rows}


def frozen_scales(connection: Connection, study: int) -> dict[str, tuple[int, dict[str, Any]]]:
    """By the names that the study uses, the id and the definition of each scale."""
    kept, table = schema.study_scales, schema.scales
    query = (
        select(kept.c.name, *table.c["id", "definition"])
        .select_from(kept.join(table))
        .where(kept.c.study_id == study)
    )
    return {row.name: (int(row.id), row.definition) for row in connection.execute(query)}


def frozen_arms(connection: Connection, study: int) -> dict[str, int]:
    """The ids of the study's arms by name."""
    return ids_by(connection, schema.arms.c.name, schema.arms.c.study_id == study)


def frozen_responses(connection: Connection, study: int) -> dict[str, list[FrozenResponse]]:
    """By arm, the responses that it shows."""
    shown, arms, table = schema.shown_responses, schema.arms, schema.responses
    query = (
        select(arms.c.name, shown.c.situation_id, *table.c["id", "text", "details"])
        .select_from(shown.join(arms).join(table))
        .where(arms.c.study_id == study)
    )
    by_arm: dict[str, list[FrozenResponse]] = {}
    for row in connection.execute(query):
        by_arm.setdefault(row.name, []).append(_frozen(row))
    return by_arm


def _frozen(row: Any) -> FrozenResponse:
    details = row.details if isinstance(row.details, dict) and row.text else {}
    chat = tuple((str(speaker), str(text)) for speaker, text in details.get("chat", ()))
    rated_turn = details.get("unit") == "turn"
    return FrozenResponse(int(row.situation_id), int(row.id), row.text, chat, rated_turn)


def change_study(connection: Connection, study: int, **values: Any) -> None:
    """Changes the study's own columns."""
    change_rows(connection, schema.studies, schema.studies.c.id == study, **values)


def pause_if_open(connection: Connection, study: int) -> bool:
    """Whether the study was open and is paused now."""
    table = schema.studies
    is_open = (table.c.id == study) & (table.c.status == "open")
    return change_rows(connection, table, is_open, status="paused") == 1


def raise_revision(connection: Connection, study: int) -> None:
    """Makes running servers read again what the study shows."""
    change_study(connection, study, revision=schema.studies.c.revision + 1)


def stopped_arms(connection: Connection, study: int) -> frozenset[str]:
    """The arms that accept no new participants."""
    return frozenset(connection.execute(_STOPPED, {"study": study}).scalars())


def stop_arm(connection: Connection, study: int, arm: str, *, stopped: bool) -> None:
    """Turns the arm's stop switch."""
    table = schema.arms
    change_rows(connection, table, table.c.study_id == study, table.c.name == arm, stopped=stopped)


def add_audit(
    connection: Connection, study: int, at: datetime, who: str, action: str, **details: Any
) -> None:
    """Writes down what a researcher did."""
    row = {"study_id": study, "at": at, "who": who, "action": action, "details": details}
    connection.execute(schema.audit.insert(), [row])


def audit_rows(connection: Connection, study: int) -> Sequence[Row[Any]]:
    """What researchers did, in the order in which they did it."""
    table = schema.audit
    return connection.execute(
        select(table).where(table.c.study_id == study).order_by(table.c.id)
    ).all()


def last_audit(connection: Connection, study: int, actions: Sequence[str]) -> Any:
    """The newest entry of the audit log for one of these actions; None without an entry."""
    table = schema.audit
    query = select(table).where(table.c.study_id == study, table.c.action.in_(actions))
    return connection.execute(query.order_by(table.c.id.desc()).limit(1)).one_or_none()


def count_ratings(connection: Connection, study: int) -> int:
    """The ratings by people who are not excluded."""
    table, raters = schema.ratings, schema.raters
    real = select(raters.c.id).where(raters.c.study_id == study, real_people())
    return count_rows(connection, table, table.c.rater_id.in_(real))


def real_people() -> ColumnElement[bool]:
    """The rule that leaves out simulated raters, test visits and excluded raters."""
    marks = schema.raters.c.details
    world, excluded = marks["marks", "world"].as_string(), marks["marks", "excluded"].as_string()
    return and_(world.is_(None), excluded.is_(None))


def shown_or_rated(study: int, counted: ColumnElement[bool]) -> ColumnElement[bool]:
    """The rule for responses that the study shows, or that raters under the other rule rated."""
    shown, arms = schema.shown_responses, schema.arms
    ratings, raters = schema.ratings, schema.raters
    frozen = (
        select(shown.c.response_id).select_from(shown.join(arms)).where(arms.c.study_id == study)
    )
    rated = (
        select(ratings.c.response_id)
        .select_from(ratings.join(raters))
        .where(raters.c.study_id == study, counted)
    )
    return or_(schema.responses.c.id.in_(frozen), schema.responses.c.id.in_(rated))
