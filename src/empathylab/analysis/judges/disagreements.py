"""Where judges disagree with people: response by response, the largest differences first."""

from __future__ import annotations

import polars as pl

from empathylab.analysis.judges.frames import judged_from_lab
from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.store.judged_responses import responses_in_open_studies
from empathylab.store.ratings import lab_study
from empathylab.study.admin.embargo import require_closed


def judge_disagreements(lab: Lab, study: str) -> pl.DataFrame:
    """One row per judge, response and dimension that people rated, too.

    `judge_rating` is the mean over the judge's repeats and orders, of its distribution where it
    gives one; `people_rating` the mean of `raters` people; `difference` the judge's minus people's.
    The study must be closed, and what judges say of replies that an open study shows is left out.
    """
    chosen = lab_study(lab, study)
    require_closed(lab, chosen)
    try:
        judged = judged_from_lab(lab, chosen.name)
    except InputError:  # nobody has rated
        return pl.DataFrame()
    key = ["response", "dimension"]
    people = judged.people.group_by(key).agg(
        people_rating=pl.col("rating").mean(), raters=pl.len().cast(pl.Int64)
    )
    judges = judged.judges.group_by("judge", *key, maintain_order=True).agg(
        judge_rating=pl.coalesce("expected", "rating").mean()
    )
    hidden = [str(response) for response in responses_in_open_studies(lab)]
    known = judged.responses.select("response", "respondent", "situation", "emotion", "text")
    return (
        judges.filter(~pl.col("response").is_in(hidden))
        .join(people, on=key)
        .join(known, on="response")
        .with_columns(difference=pl.col("judge_rating") - pl.col("people_rating"))
        .sort(pl.col("difference").abs(), "judge", "response", descending=[True, False, False])
    )
