"""Where judges disagree with people: response by response, the largest differences first."""

from __future__ import annotations

import polars as pl

from empathylab.analysis.judges.frames import imported_judges
from empathylab.store import Lab
from empathylab.store.judged_responses import judged_study
from empathylab.store.judgements import chosen_judgements
from empathylab.store.listings.judges import judged_values, rated_values
from empathylab.store.ratings import lab_study
from empathylab.study.admin.embargo import require_closed


def judge_disagreements(lab: Lab, study: str) -> pl.DataFrame:
    """One row per judge, response and dimension that people rated, too.

    `judge_rating` is the mean over the judge's repeats and orders, of its distribution where it
    gives one; `people_rating` the mean of `raters` people; `difference` the judge's minus people's.
    The study must be closed.
    Which judgements belong together is decided as in the judges' cards.
    """
    require_closed(lab, lab_study(lab, study))
    row = judged_study(lab, study).row
    rated = rated_values(lab, row)
    people = rated.filter(rater_kind="person")
    about = [people["response"].unique().to_list()]
    judged = chosen_judgements(judged_values(lab, row), about).filter(pl.col("value").is_not_null())
    imported = imported_judges(rated.filter(rater_kind="model"), judged["judge"].to_list())
    columns = ["judge", "response", "dimension", "given"]
    given = pl.concat(
        [
            judged.with_columns(given=pl.coalesce("expected", "value")).select(columns),
            imported.with_columns(given=pl.col("rating")).select(columns),
        ]
    )
    key = ["response", "dimension"]
    by_people = people.group_by(key).agg(
        people_rating=pl.col("rating").mean(), raters=pl.len().cast(pl.Int64)
    )
    return (
        given.group_by("judge", *key)
        .agg(judge_rating=pl.col("given").mean())
        .join(by_people, on=key)
        .with_columns(difference=pl.col("judge_rating") - pl.col("people_rating"))
        .sort(pl.col("difference").abs(), "judge", *key, descending=[True, False, False, False])
    )


def disagreement_by_judge(differences: pl.DataFrame) -> pl.DataFrame:
    """How far each judge is from people on each dimension, the judge who is furthest first.

    `size` is the mean of the absolute differences, and `bias` the mean difference.
    """
    difference = pl.col("difference")
    return (
        differences.group_by("judge", "dimension")
        .agg(
            size=difference.abs().mean(),
            bias=difference.mean(),
            replies=pl.len().cast(pl.Int64),
        )
        .sort("size", "judge", "dimension", descending=[True, False, False])
    )
