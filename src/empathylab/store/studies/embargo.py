"""What is hidden because a study is not closed: judgements of its replies, and what people wrote.

What a judge says of a reply predicts what raters will say. Where people in a closed study have
rated the same reply, their ratings are shown anyway, and so are the judgements.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, or_, select, true

from empathylab.store import schema
from empathylab.store.lab import Lab
from empathylab.store.schema import arms, raters, ratings, shown_responses, studies
from empathylab.store.studies.records import real_people

NOT_CLOSED: ColumnElement[bool] = studies.c.status.in_(("open", "paused"))
"""The rule for studies that this lab runs, whose results are hidden."""


def embargoed_responses(except_study: int | None = None) -> Select[tuple[int]]:
    """The ids of the replies whose judgements are hidden; without those of a study's versions."""
    rated = (
        select(ratings.c.id)
        .select_from(ratings.join(raters).join(studies))
        .where(
            ratings.c.response_id == shown_responses.c.response_id,
            studies.c.status == "closed",
            raters.c.kind == "person",
            real_people(),
        )
        .correlate(shown_responses)
    )
    shown = shown_responses.join(arms).join(studies)
    query = select(shown_responses.c.response_id).select_from(shown)
    query = query.where(NOT_CLOSED, ~rated.exists())
    if except_study is None:
        return query
    same = studies.alias()
    return query.where(studies.c.name.not_in(select(same.c.name).where(same.c.id == except_study)))


def openly(table: Table, study: int | None = None) -> ColumnElement[bool]:
    """The rule for judgements or preferences that may be shown.

    They are not about an embargoed reply, and were not asked for an open study. For the results of
    one `study`, which the caller must guard, the replies that its versions show are no reason.
    """
    replies = [column for column in table.c if column.name.endswith("response_id")]
    hidden: list[ColumnElement[bool]] = [
        column.in_(embargoed_responses(study)) for column in replies
    ]
    if study is None:
        running = select(studies.c.id).where(NOT_CLOSED)
        hidden.append(and_(table.c.study_id.is_not(None), table.c.study_id.in_(running)))
    return ~or_(*hidden)


def written_openly(connection: Connection) -> ColumnElement[bool]:
    """The rule for responses that no participant of a study that is not closed has written."""
    names = list(connection.execute(select(studies.c.name).where(NOT_CLOSED)).scalars())
    if not names:
        return true()
    written_in = schema.responses.c.details["study"].as_string()
    versions = [written_in.startswith(f"{name}@", autoescape=True) for name in names]
    return or_(written_in.is_(None), ~or_(written_in.in_(names), *versions))


def hidden_answers() -> ColumnElement[bool]:
    """The rule for answers of judges that hold hidden judgements or preferences."""
    judged = (schema.judgements, schema.preferences)
    queries = (select(table.c.answer_id).where(~openly(table)) for table in judged)
    return or_(*(schema.answers.c.id.in_(query) for query in queries))


def judges_open_study(connection: Connection, run: int) -> bool:
    """Whether answers in this run are hidden; a page hides the others of the run with them."""
    answers = schema.answers
    query = select(answers.c.id).where(answers.c.run_id == run, hidden_answers()).limit(1)
    return connection.execute(query).first() is not None


def responses_in_open_studies(lab: Lab, *, except_study: int | None = None) -> dict[int, str]:
    """The replies whose judgements are hidden, and who wrote each; without a study's own."""
    responses, respondents = schema.responses, schema.respondents
    query = (
        select(responses.c.id, respondents.c.name)
        .select_from(responses.join(respondents))
        .where(responses.c.id.in_(embargoed_responses(except_study)))
    )
    with lab.reading() as connection:
        return {int(row.id): row.name for row in connection.execute(query)}


def studies_showing(lab: Lab, replies: Collection[int]) -> set[int]:
    """The ids of the studies because of which judgements of any of these replies are hidden."""
    embargoed = embargoed_responses().subquery()
    query = (
        select(arms.c.study_id, shown_responses.c.response_id)
        .select_from(shown_responses.join(arms).join(studies))
        .where(NOT_CLOSED, shown_responses.c.response_id.in_(select(embargoed)))
    )
    wanted = set(replies)
    with lab.reading() as connection:
        rows = connection.execute(query)
        return {int(row.study_id) for row in rows if row.response_id in wanted}
