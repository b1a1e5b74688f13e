"""What changes in the lab when an arm joins a study that was closed or came from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, func, select

from empathylab.store import schema
from empathylab.store.schema.statements import change_rows, ids_by, insert_rows, remove_rows
from empathylab.store.studies.records import freeze_scales, freeze_situations


def keep_others_out(connection: Connection, study: int, arm: str) -> None:
    """Stops every other arm; unfinished participants do not come back to theirs."""
    arms, slots = schema.arms, schema.slots
    change_rows(connection, arms, arms.c.study_id == study, arms.c.name != arm, stopped=True)
    live = (slots.c.study_id == study) & (slots.c.status == "live")
    change_rows(connection, slots, live, slots.c.arm != arm, status="abandoned")


def freeze_anew(
    connection: Connection, study: int, situations: list[int], scales: Mapping[str, int]
) -> None:
    """Keeps which situations and scales a study uses that came from elsewhere."""
    for table in (schema.study_situations, schema.study_scales):
        remove_rows(connection, table, table.c.study_id == study)
    freeze_situations(connection, study, situations)
    freeze_scales(connection, study, scales)


def scale_fingerprints(connection: Connection) -> dict[str, int]:
    """The lab's scales by the hash of their definition and wording."""
    return ids_by(connection, schema.scales.c.fingerprint)


def study_scale_fingerprints(connection: Connection, study: int) -> dict[str, str]:
    """By the names that the study uses, the hashes of its scales."""
    kept, table = schema.study_scales, schema.scales
    query = (
        select(kept.c.name, table.c.fingerprint)
        .select_from(kept.join(table))
        .where(kept.c.study_id == study)
    )
    return {row.name: row.fingerprint for row in connection.execute(query)}


def show_rated(connection: Connection, study: int) -> None:
    """Keeps for each arm which response it showed, as far as its ratings tell."""
    ratings, raters, responses = schema.ratings, schema.raters, schema.responses
    shown, arms = schema.shown_responses, schema.arms
    known = select(shown.c.arm_id).select_from(shown.join(arms))
    query = (
        select(
            ratings.c.arm_id,
            responses.c.situation_id,
            func.min(responses.c.id).label("response_id"),
        )
        .select_from(ratings.join(raters).join(responses))
        .where(
            raters.c.study_id == study,
            ratings.c.arm_id.is_not(None),
            ratings.c.arm_id.not_in(known.where(arms.c.study_id == study)),
        )
        .group_by(ratings.c.arm_id, responses.c.situation_id)
        # Several responses to one situation were rated: no single one was shown.
        .having(func.count(responses.c.id.distinct()) == 1)
    )
    rows = [dict(row) for row in connection.execute(query).mappings()]
    insert_rows(connection, shown, rows)


def arm_prompts(connection: Connection, study: int) -> set[str]:
    """By which prompts the replies of models that the study shows were asked for."""
    shown, arms, responses = schema.shown_responses, schema.arms, schema.responses
    query = (
        select(responses.c.prompt)
        .select_from(shown.join(responses).join(arms))
        .where(arms.c.study_id == study, responses.c.prompt.is_not(None))
        .distinct()
    )
    return {str(prompt) for prompt in connection.execute(query).scalars()}


def asked_by(connection: Connection, responses: Sequence[int]) -> set[str]:
    """By which prompts these responses were asked for."""
    table = schema.responses
    wanted = set(responses)
    query = select(*table.c["id", "prompt"]).where(table.c.prompt.is_not(None))
    return {str(row.prompt) for row in connection.execute(query) if row.id in wanted}
