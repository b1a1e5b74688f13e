"""What judges said of responses, as frames.

Judgements stand in tables of their own, so that no analysis of people's ratings counts a model.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl
from sqlalchemy import Connection, Select, Table, func, select

from empathylab.store import schema
from empathylab.store.judged_responses import judged_study, study_names
from empathylab.store.lab import Lab
from empathylab.store.schema.joins import RESPONSES, SITUATION
from empathylab.store.studies.embargo import openly

RUBRIC = "rubric"
"""The protocol of runs in which a judge scores replies by the rubric."""

_SOURCE = ["judge", "study", "set", "dimension"]
"""What a judge is asked about in one way or in several."""
_JUDGEMENT = ["response", "order", "repeat"]


def forget_earlier(
    connection: Connection, table: Table, answer: int, earlier: Sequence[str]
) -> None:
    """Takes out what the answers with those keys meant: a retry of the same run has come.

    The answers themselves stay in the lab.
    """
    answers = schema.answers
    own_run = select(answers.c.run_id).where(answers.c.id == answer).scalar_subquery()
    before = select(answers.c.id).where(answers.c.run_id == own_run, answers.c.key.in_(earlier))
    connection.execute(table.delete().where(table.c.answer_id.in_(before)))


def lab_judgements(
    lab: Lab,
    study: str | None = None,
    *,
    about: Sequence[Collection[int]] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    embargoed: bool = False,
) -> pl.DataFrame:
    """One row for each judge, response, dimension, order and repeat, usable or not.

    What `store.studies.embargo` hides is left out, unless `embargoed` is given. The caller must
    check that a `study` that it names is closed.

    Of a judge that was asked for a dimension in several ways (with and without reasons, by another
    seed …), only the way that was used last; there, what a later run says of the same response
    takes the earlier one's place. With `about`, groups of responses, the way that was asked for the
    most of them instead: that whose smallest share of a group is largest, the last used of equals;
    and `ways` counts how many there are.
    `value` and `label` are null unless `outcome` is `valid`. `probabilities` is JSON text from
    point to share, null where the endpoint tells none; `expected`, `entropy` (bits) and `mass`
    come with it. `turned` says that the highest point was shown first, `position` the dimension's
    place among those asked, from 1. Without `study`, all; `since` and `until` narrow to what was
    answered from then on, and before.
    """
    table = schema.judgements
    query = _judgements()
    if since is not None:
        query = query.where(schema.answers.c.answered_at >= since)
    if until is not None:
        query = query.where(schema.answers.c.answered_at < until)
    return chosen_judgements(_read(lab, table, query, study, embargoed=embargoed), about)


def all_judgements(lab: Lab, study: str) -> pl.DataFrame:
    """Every judgement of the study, in whatever way it was asked for, for `chosen_judgements`.

    So several choices can be made of one reading. Beside its columns, `added_at` is the moment.
    Nothing is hidden: a leaderboard leaves out whole respondents.
    """
    return _read(lab, schema.judgements, _judgements(), study, embargoed=True)


def _judgements() -> Select[Any]:
    table, replies = schema.judgements, schema.responses
    return (
        _judged(
            table,
            replies.c.id.label("response"),
            schema.respondents.c.name.label("respondent"),
            replies.c.text,
            *table.c["value", "label", "expected", "turned", "position"],
        )
        .join(RESPONSES, replies.c.id == table.c.response_id)
        .order_by(table.c.id)
    )


def chosen_judgements(frame: pl.DataFrame, about: Sequence[Collection[int]] | None) -> pl.DataFrame:
    """Of `all_judgements`, the rows that belong together, as `lab_judgements` gives them."""
    if about is None:
        return _newest(frame, _JUDGEMENT)
    groups = [item for item in map(set, about) if item]
    coverage = [
        pl.col("response").filter(pl.col("response").is_in(list(group))).n_unique() / len(group)
        for group in groups
    ]
    share = pl.min_horizontal(*coverage) if coverage else pl.lit(0.0)
    return _newest(_fullest(frame, share), _JUDGEMENT)


def lab_preferences(
    lab: Lab,
    study: str | None = None,
    *,
    about: Collection[int] | None = None,
    embargoed: bool = False,
) -> pl.DataFrame:
    """One row for each judge, pair, dimension, order and repeat, usable or not.

    `first` and `second` are the respondents in the order in which their replies were shown, and
    `preferred` is `first`, `second` or `tie`, null unless `outcome` is `valid`. Both orders of a
    pair share its `pair`. What belongs together is chosen as in `lab_judgements`: the way that was
    used last; with `about`, responses, the way that was asked about the most pairs of two of them,
    the last used of equals; and `ways` counts how many there are. What is hidden is left out as
    there.
    """
    table, replies, names = schema.preferences, schema.responses, schema.respondents
    first_reply, second_reply = replies.alias("first_reply"), replies.alias("second_reply")
    writer, rival = names.alias("first_writer"), names.alias("second_writer")
    query = (
        _judged(
            table,
            first_reply.c.id.label("first_response"),
            second_reply.c.id.label("second_response"),
            writer.c.name.label("first"),
            rival.c.name.label("second"),
            table.c.preferred,
        )
        .join(first_reply, first_reply.c.id == table.c.first_response_id)
        .join(second_reply, second_reply.c.id == table.c.second_response_id)
        .join(writer, writer.c.id == first_reply.c.respondent_id)
        .join(rival, rival.c.id == second_reply.c.respondent_id)
        .join(schema.situations, schema.situations.c.id == first_reply.c.situation_id)
        .join(schema.situation_sets)
        .order_by(table.c.id)
    )
    both = pl.col("first_response"), pl.col("second_response")
    frame = _read(lab, table, query, study, embargoed=embargoed).with_columns(
        pair=pl.format("{}-{}", pl.min_horizontal(*both), pl.max_horizontal(*both))
    )
    if about is not None:
        known = list(set(about))
        rated = pl.all_horizontal(item.is_in(known) for item in both)
        frame = _fullest(frame, pl.col("pair").filter(rated).n_unique())
    return _newest(frame, ["first_response", "second_response", "repeat"])


def rubric_scores(
    lab: Lab, runs: Collection[int] | None = None, *, embargoed: bool = False
) -> pl.DataFrame:
    """One row for each judge, reply and dimension of the rubric, in the order of the situations.

    `run` is the run that the reply comes from; `runs` narrows to these. What a later run of the
    judge says of the same reply takes the earlier one's place. `value` is null unless `outcome`
    is `valid`. What `store.studies.embargo` hides is left out, unless `embargoed` is given.
    """
    table, replies, asked = schema.judgements, schema.responses, schema.answers.alias("reply")
    scored, judge = schema.runs, schema.respondents.alias("judge")
    query = (
        select(
            judge.c.name.label("judge"),
            asked.c.run_id.label("run"),
            schema.respondents.c.name.label("respondent"),
            *SITUATION,
            replies.c.id.label("response"),
            *table.c["dimension", "value", "outcome"],
        )
        .select_from(table.join(schema.answers).join(scored).join(judge))
        .join(RESPONSES, replies.c.id == table.c.response_id)
        .outerjoin(asked, asked.c.id == replies.c.answer_id)
        .where(scored.c.protocol == RUBRIC)
        .order_by(scored.c.last_used_at.nulls_first(), table.c.id)
    )
    if runs is not None:
        query = query.where(asked.c.run_id.in_(list(runs)))
    rows = lab.frame(query if embargoed else query.where(openly(table)))
    return rows.unique(["judge", "response", "dimension"], keep="last", maintain_order=True).sort(
        "judge", "response", maintain_order=True
    )


def hides_scores(lab: Lab, runs: Collection[int]) -> bool:
    """Whether `rubric_scores` leaves out scores of the replies of these runs."""
    shown, whole = (rubric_scores(lab, runs, embargoed=embargoed) for embargoed in (False, True))
    return shown.height < whole.height


@dataclass(frozen=True, slots=True)
class JudgeRun:
    """How a judge's requests in one run turned out."""

    planned: int
    answered: int
    usable: int
    first_unusable: str | None
    """The text of the first answer without a score."""


def latest_judge_run(lab: Lab, judge: str, protocol: str, source: str) -> JudgeRun | None:
    """The run in which the judge was last asked about this source; None where there is none."""
    runs, answers = schema.runs, schema.answers
    query = (
        select(runs.c.id, runs.c.planned, runs.c.settings)
        .join(schema.respondents)
        .where(runs.c.protocol == protocol, schema.respondents.c.name == judge)
        .order_by(runs.c.last_used_at.desc().nulls_last(), runs.c.id.desc())
    )
    with lab.reading() as connection:
        rows = connection.execute(query)
        last = next((row for row in rows if row.settings["situations"] == source), None)
        if last is None:
            return None
        mine = answers.c.run_id == last.id
        by_outcome = select(answers.c.outcome, func.count()).where(mine)
        counted = connection.execute(by_outcome.group_by(answers.c.outcome))
        counts = {str(outcome): int(count) for outcome, count in counted}
        unusable = select(answers.c.text).where(mine, answers.c.outcome != "valid")
        first = connection.execute(unusable.order_by(answers.c.id).limit(1)).scalar()
    return JudgeRun(last.planned, sum(counts.values()), counts.get("valid", 0), first)


def replied_situations(lab: Lab, runs: Collection[int]) -> pl.DataFrame:
    """The valid replies of those runs: run, respondent, response, set and situation."""
    replies, answers = schema.responses, schema.answers
    query = (
        select(
            answers.c.run_id.label("run"),
            schema.respondents.c.name.label("respondent"),
            replies.c.id.label("response"),
            *SITUATION,
        )
        .select_from(RESPONSES.join(answers, answers.c.id == replies.c.answer_id))
        .where(answers.c.run_id.in_(list(runs)), replies.c.outcome == "valid")
    )
    return lab.frame(query)


def _judged(table: Table, *columns: Any) -> Select[Any]:
    """The columns that judgements and preferences share, and these; with judge and study joined."""
    judge = schema.respondents.alias("judge")
    return (
        select(
            judge.c.name.label("judge"),
            table.c.study_id.label("study"),
            schema.situation_sets.c.name.label("set"),
            schema.situations.c.id.label("place"),
            schema.situations.c.key.label("situation"),
            *schema.situations.c["emotion", "valence", "topic"],
            *columns,
            *table.c["dimension", "repeat"],
            table.c.order_index.label("order"),
            *table.c["probabilities", "entropy", "mass", "said", "outcome", "reason", "setup"],
            table.c.added_at,
            schema.runs.c.last_used_at.label("used_at"),
        )
        .select_from(table.join(schema.answers).join(schema.runs).join(judge))
        # Scores by the rubric have names of their own for what they rate: see `rubric_scores`.
        .where(schema.runs.c.protocol != RUBRIC)
    )


def _read(
    lab: Lab, table: Table, query: Select[Any], study: str | None, *, embargoed: bool
) -> pl.DataFrame:
    own = None if study is None else judged_study(lab, study).row
    if own is not None:
        query = query.where(table.c.study_id == own)
    if not embargoed:
        query = query.where(openly(table, own))
    frame = lab.frame(query)
    names = study_names(lab)
    named = pl.col("study").replace_strict(names, default=None, return_dtype=pl.String)
    return frame.with_columns(named)


def _fullest(frame: pl.DataFrame, share: pl.Expr) -> pl.DataFrame:
    """The rows of the ways that have the largest `share`, with the number of all ways."""
    source = _SOURCE
    ways = frame.group_by([*source, "setup"]).agg(share=share)
    known = ways.with_columns(ways=pl.len().over(source), most=pl.col("share").max().over(source))
    best = known.filter(pl.col("share") == pl.col("most")).drop("share", "most")
    keys = [*source, "setup"]
    return frame.join(best, on=keys, how="inner", nulls_equal=True, maintain_order="left")


def _newest(frame: pl.DataFrame, things: Sequence[str]) -> pl.DataFrame:
    """The rows of the setup that each judge used last; of each thing, the newest row."""
    source = _SOURCE
    last = frame.sort("used_at", maintain_order=True).group_by(source).agg(pl.last("setup"))
    return (
        frame.join(last, on=[*source, "setup"], how="semi", nulls_equal=True, maintain_order="left")
        .unique([*source, *things], keep="last", maintain_order=True)
        # Answers arrive in any order; tables follow the situations' own.
        .sort("judge", "study", "dimension", "place", *things, maintain_order=True)
        .drop("place", "setup", "used_at", "added_at")
    )
