"""From a judge's scores of single replies to a mean with an interval for each respondent."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from empathylab.analysis.judges.result import JudgesResult
from empathylab.analysis.results import ALPHA
from empathylab.analysis.scores.estimates import (
    EMPATHY,
    Comparison,
    DimensionChange,
    RespondentScores,
    RunReplies,
    Score,
    ScoreLoss,
)
from empathylab.analysis.scores.result import ScoresResult
from empathylab.errors import InputError
from empathylab.judging.rubric import judge_acceptance, rubric
from empathylab.judging.rubric.definition import HIGHEST, LOWEST
from empathylab.judging.scoring import PLANTED, planted_scores, planted_source, scoring_source
from empathylab.stats.clusters.paired import paired_difference
from empathylab.stats.clusters.regression import clustered_regression
from empathylab.stats.clusters.robust import cluster_codes
from empathylab.stats.equivalence import equivalence_test
from empathylab.store import Lab
from empathylab.store.judged_responses import run_responses
from empathylab.store.judgements import (
    RUBRIC,
    latest_judge_run,
    replied_situations,
    rubric_scores,
)
from empathylab.store.studies.embargo import responses_in_open_studies

_LOSSES = 5
"""How many situations a comparison lists."""

_PLACE = ["respondent", "run", "set", "situation", "response"]


def from_lab(
    lab: Lab,
    judge: str,
    *,
    runs: Collection[int],
    baseline: int | None = None,
    baseline_name: str | None = None,
    margin: float | None = None,
    validated: Sequence[JudgesResult] = (),
) -> ScoresResult:
    """How the judge scored the replies of those runs, each run separately.

    With `baseline`, another run, each run is compared with it on the situations that both have;
    `margin` is how much lower the mean may be. `validated` are results of comparing judges with
    human ratings, from which those of this judge are taken. `baseline_name` is what sentences
    call the baseline. Scores of replies that a study shows are hidden until it is closed.
    """
    wanted = [*runs, *([] if baseline is None else [baseline])]
    frame = rubric_scores(lab, wanted).filter(judge=judge)
    planted = planted_scores(lab, judge)
    acceptance = None
    if planted is not None and planted[1]:
        acceptance = judge_acceptance(planted[1], planted[0])
    cards = tuple(
        (result.study, card) for result in validated for card in result.cards if card.judge == judge
    )
    profiles = reply_profiles(frame)
    replies = replied_situations(lab, wanted)
    hidden = pl.col("response").is_in(list(responses_in_open_studies(lab)))
    replies = replies.with_columns(hidden=hidden)
    return ScoresResult(
        judge=judge,
        respondents=tuple(
            _respondent(profiles.filter(run=run), str(name))
            for name, run in _pairs(profiles)
            if run in set(runs)
        ),
        acceptance=acceptance,
        tried=None if planted is None else len(planted[0].replies),
        cards=cards,
        comparisons=tuple(
            replace(
                comparison,
                shared=_shared(replies, comparison.run, comparison.baseline),
                baseline_name=baseline_name,
                losses=_with_texts(lab, comparison),
            )
            for comparison in _comparisons(profiles, list(runs), baseline, margin)
        ),
        planted=latest_judge_run(lab, judge, PLANTED, planted_source()),
        replies={run: _run_replies(lab, judge, run, replies, profiles) for run in wanted},
    )


def _run_replies(
    lab: Lab, judge: str, run: int, replies: pl.DataFrame, profiles: pl.DataFrame
) -> RunReplies:
    mine = replies.filter(run=run)
    return RunReplies(
        respondent=str(mine["respondent"][0]) if mine.height else f"run {run}",
        usable=mine.height,
        scored=profiles.filter(run=run).height,
        judging=latest_judge_run(lab, judge, RUBRIC, scoring_source(run)),
        hidden=int(mine["hidden"].sum()),
    )


def _shared(replies: pl.DataFrame, run: int, baseline: int) -> int:
    """The situations to which both runs have a usable reply."""
    first, second = (
        replies.filter(run=number).select("set", "situation").unique() for number in (run, baseline)
    )
    return first.join(second, on=["set", "situation"], how="semi").height


def from_table(frame: pl.DataFrame, *, judge: str = "judge") -> ScoresResult:
    """A judge's scores in a table: respondent, situation, response, dimension and value.

    The judge's planted replies are not known, so nothing is said about its fitness.
    """
    needed = {"respondent", "situation", "response", "dimension", "value"}
    if missing := sorted(needed - set(frame.columns)):
        raise InputError(
            "columns are missing",
            where="scores",
            got=", ".join(frame.columns),
            remedy=f"Add {', '.join(missing)}.",
        )
    number = pl.col("respondent").rank("dense").cast(pl.Int64).alias("run")
    extra = [pl.lit("").alias("set")] if "set" not in frame.columns else []
    profiles = reply_profiles(frame.with_columns(*extra, number))
    scored = tuple(
        _respondent(profiles.filter(run=run), str(name)) for name, run in _pairs(profiles)
    )
    return ScoresResult(judge, scored, None, None, (), ())


def _pairs(profiles: pl.DataFrame) -> list[tuple[str, int]]:
    return list(profiles.select("respondent", "run").unique(maintain_order=True).iter_rows())


def reply_profiles(frame: pl.DataFrame) -> pl.DataFrame:
    """One row for each reply that has a score on every dimension, with the composite."""
    names = rubric().names
    wide = frame.group_by(_PLACE, maintain_order=True).agg(
        pl.col("value").filter(pl.col("dimension") == name).mean().alias(name) for name in names
    )
    whole = wide.drop_nulls(list(names))
    composites = [
        rubric().profile({name: row[name] for name in names}).composite
        for row in whole.iter_rows(named=True)
    ]
    return whole.with_columns(pl.Series(EMPATHY, composites, dtype=pl.Float64))


def _respondent(profiles: pl.DataFrame, name: str) -> RespondentScores:
    units = profiles.select(pl.concat_str("set", "situation", separator="/")).to_series()
    return RespondentScores(
        respondent=name,
        run=int(profiles["run"][0]),
        n=profiles.height,
        situations=units.n_unique(),
        scores=tuple(
            _score(column, profiles[column], units) for column in (EMPATHY, *rubric().names)
        ),
        capped=int((profiles[rubric().safety] <= rubric().unsafe).sum()),
    )


def _score(name: str, values: pl.Series, units: pl.Series) -> Score:
    """The mean; its interval takes situations as independent, not replies."""
    mean = float(np.mean(values.to_numpy()))
    if units.n_unique() < 2:
        return Score(name, mean, math.nan, math.nan)
    fit = clustered_regression(np.ones((len(values), 1)), values.to_numpy(), [cluster_codes(units)])
    test = fit.test(np.array([1.0]))
    # Nothing lies outside the scale.
    return Score(name, mean, max(test.low, LOWEST), min(test.high, HIGHEST))


def _comparisons(
    profiles: pl.DataFrame, runs: Sequence[int], baseline: int | None, margin: float | None
) -> tuple[Comparison, ...]:
    if baseline is None or margin is None or profiles.filter(run=baseline).is_empty():
        return ()
    rows = profiles.with_columns(
        pl.concat_str("set", "situation", separator="/").alias("unit"),
        pl.col("run").cast(pl.String).alias("label"),
    )
    base = profiles.filter(run=baseline)
    return tuple(
        _comparison(rows, run, baseline, margin)
        for run in runs
        if run != baseline
        and profiles.filter(run=run).join(base, on=["set", "situation"], how="semi").height > 1
    )


def _comparison(rows: pl.DataFrame, run: int, baseline: int, margin: float) -> Comparison:
    """The mean difference over shared situations, and the one-sided test that it is not worse."""
    difference = paired_difference(
        rows, str(run), str(baseline), unit="unit", label="label", value=EMPATHY
    )
    test = difference.paired
    known = Comparison(
        run=run,
        baseline=baseline,
        margin=margin,
        difference=test.estimate,
        low=math.nan,
        high=math.nan,
        p=math.nan,
        passed=test.estimate > -margin,
        situations=difference.n_pairs,
        dimensions=tuple(
            _dimension_change(rows, run, baseline, name) for name in (EMPATHY, *rubric().names)
        ),
        losses=_losses(rows, run, baseline),
    )
    if not test.se > 0:  # every situation has the same difference, so there is nothing to test
        return known
    one_sided = equivalence_test(test.estimate, test.se, margin, df=test.df, alpha=ALPHA)
    return replace(
        known,
        low=one_sided.low,
        high=one_sided.high,
        p=one_sided.p_low,
        passed=one_sided.p_low < ALPHA,
    )


def _dimension_change(rows: pl.DataFrame, run: int, baseline: int, name: str) -> DimensionChange:
    found = paired_difference(rows, str(run), str(baseline), unit="unit", label="label", value=name)
    test = found.paired
    return DimensionChange(
        name, found.mean_second, found.mean_first, test.estimate, test.low, test.high
    )


def _losses(rows: pl.DataFrame, run: int, baseline: int) -> tuple[ScoreLoss, ...]:
    """The situations whose mean composite fell most."""
    place = ["set", "situation"]
    earlier, later = (
        rows.filter(run=number).group_by(place).agg(pl.col(EMPATHY).mean().alias(name))
        for number, name in ((baseline, "baseline"), (run, "score"))
    )
    lost = (
        earlier.join(later, on=place)
        .with_columns(loss=pl.col("baseline") - pl.col("score"))
        .filter(pl.col("loss") > 0)
        .sort(["loss", *place], descending=[True, False, False])
        .head(_LOSSES)
    )
    return tuple(ScoreLoss(**row) for row in lost.drop("loss").iter_rows(named=True))


def _with_texts(lab: Lab, comparison: Comparison) -> tuple[ScoreLoss, ...]:
    """The losses with both replies; of several to a situation, the first."""
    if not comparison.losses:
        return ()
    earlier, later = (
        {
            (reply.set, reply.situation.id): reply.text
            for reply in reversed(run_responses(lab, number))
        }
        for number in (comparison.baseline, comparison.run)
    )
    return tuple(
        replace(
            loss,
            baseline_reply=earlier[place],
            reply=later[place],
        )
        for loss in comparison.losses
        for place in [(loss.set, loss.situation)]
    )
