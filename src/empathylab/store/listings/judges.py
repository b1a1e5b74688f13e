"""Judges by study, with how much they have judged."""

from __future__ import annotations

from sqlalchemy import Connection, case, func, select

from empathylab.store.listings.pages import Listing, read_page
from empathylab.store.schema import answers, judgements, respondents, runs, studies


def list_judges(connection: Connection, *, offset: int = 0, limit: int = 50) -> Listing:
    """One row per judge and study; those without a study judged the replies to a set."""
    query = (
        select(
            respondents.c.name.label("judge"),
            judgements.c.study_id.label("study"),
            studies.c.name.label("study_name"),
            studies.c.status,
            func.count().label("judgements"),
            func.sum(case((judgements.c.outcome == "valid", 0), else_=1)).label("unusable"),
        )
        .select_from(judgements)
        .join(answers, answers.c.id == judgements.c.answer_id)
        .join(runs, runs.c.id == answers.c.run_id)
        .join(respondents, respondents.c.id == runs.c.respondent_id)
        .join(studies, studies.c.id == judgements.c.study_id, isouter=True)
        .group_by(respondents.c.name, judgements.c.study_id, studies.c.name, studies.c.status)
        .order_by(respondents.c.name, judgements.c.study_id)
    )
    return read_page(connection, query, offset=offset, limit=limit)
