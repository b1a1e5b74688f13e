"""Who answered an administration: a respondent, or the people of a study that measured them.

Whoever imagines a situation in a study and answers a scale before and after is one of the people
with whom models are compared, so every analysis, report and export reads them as `human`. What
raters of a study without such situations say of themselves describes the raters, and stays with
their study.
"""

from __future__ import annotations

from typing import Any

import polars as pl
from sqlalchemy import ColumnElement, Select, Text, and_, cast, func, literal_column, or_, select

from empathylab.store.lab import Lab
from empathylab.store.schema import administrations, raters, respondents, studies
from empathylab.store.studies.records import real_people
from empathylab.store.studies.results import HUMAN

# Written out, so that queries can group by it: PostgreSQL takes two parameters as different.
_HUMAN: ColumnElement[str] = literal_column(f"'{HUMAN}'", Text)
RESPONDENT: ColumnElement[str] = func.coalesce(respondents.c.name, _HUMAN)
"""The name of whoever answered."""
KIND: ColumnElement[str] = func.coalesce(respondents.c.kind, _HUMAN)
"""A model, or people."""
# Pseudonyms are drawn for one study, so the study is part of whom they stand for.
_PERSON = studies.c.name + "@" + cast(studies.c.version, Text) + " " + raters.c.name
SUBJECT: ColumnElement[str] = func.coalesce(administrations.c.subject, _PERSON)
"""The person, where people answered; pairs their administrations."""


def with_who_answered(query: Select[Any]) -> Select[Any]:
    """The query of administrations, narrowed to those that measure somebody.

    The query may select `RESPONDENT`, `KIND` and `SUBJECT`. Simulated raters, trials, those whom a
    researcher excluded, and the people of a study that is not closed are left out.
    """
    return (
        query.select_from(administrations)
        .join(respondents, respondents.c.id == administrations.c.respondent_id, isouter=True)
        .join(raters, raters.c.id == administrations.c.rater_id, isouter=True)
        .join(studies, studies.c.id == raters.c.study_id, isouter=True)
        .where(or_(administrations.c.respondent_id.is_not(None), _measured()))
    )


def people_measured(lab: Lab) -> pl.DataFrame:
    """The people whom closed studies measured: `subject`, `study`, `version` and `rater`."""
    query = with_who_answered(
        select(
            SUBJECT.label("subject"),
            studies.c.name.label("study"),
            studies.c.version,
            raters.c.name.label("rater"),
        ).distinct()
    ).where(administrations.c.rater_id.is_not(None))
    return lab.frame(query.order_by("study", "version", "subject"))


def _measured() -> ColumnElement[bool]:
    evoked = administrations.alias("evoked")
    imagining = raters.alias("imagining")
    measuring = (
        select(imagining.c.study_id)
        .join(evoked, evoked.c.rater_id == imagining.c.id)
        .where(evoked.c.phase == "evoked")
    )
    return and_(
        studies.c.status == "closed",
        raters.c.kind == "person",
        real_people(),
        studies.c.id.in_(measuring),
    )
