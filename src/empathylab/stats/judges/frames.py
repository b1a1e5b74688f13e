"""People's ratings with a judge's rating of the same response beside each."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from empathylab.errors import InputError, UnknownName


def beside_judge(
    frame: pl.DataFrame,
    judge: str,
    *,
    people: Sequence[str] | None = None,
    situation: str | Sequence[str] = "situation",
    rater: str = "rater",
    rating: str = "rating",
    prediction: str = "prediction",
) -> pl.DataFrame:
    """The frame's rows by people, each with the judge's value of the same response beside it.

    The frame is long: one rating per row, the judge being one of the raters. `situation` names the
    column, or the columns together (situation, respondent, dimension …), that say what was rated.
    The judge's repeats of one response are averaged. `people` are all other raters unless named.

    Responses that only the judge rated follow, without rater and rating, as
    `prediction_powered_mean` wants them; those that only people rated have no prediction.
    """
    keys = [situation] if isinstance(situation, str) else list(situation)
    for column in (*keys, rater, rating):
        if column not in frame.columns:
            raise UnknownName("column", column, frame.columns)
    if prediction in frame.columns:
        raise InputError(
            f"the column {prediction!r} is there already",
            remedy="Name another for the judge's ratings.",
        )
    who = pl.col(rater).cast(pl.String)
    known = frame[rater].drop_nulls().cast(pl.String).unique().to_list()
    for name in (judge, *(people or ())):
        if name not in known:
            raise UnknownName("rater", name, known)
    judged = frame.filter(who == judge)
    means = judged.group_by(keys, maintain_order=True).agg(
        pl.col(rating).cast(pl.Float64).mean().alias(prediction)
    )
    others = who.is_in(list(people)) if people is not None else who != judge
    rated = frame.filter(others).join(means, on=keys, how="left", maintain_order="left")
    # Whatever else is known of a response (its words, its respondent) comes with the judge's row.
    firsts = judged.unique(subset=keys, keep="first", maintain_order=True)
    alone = firsts.join(rated.filter(pl.col(rating).is_not_null()), on=keys, how="anti").join(
        means, on=keys, how="left", maintain_order="left"
    )
    alone = alone.with_columns(
        pl.lit(None, dtype=frame.schema[rater]).alias(rater),
        pl.lit(None, dtype=frame.schema[rating]).alias(rating),
    )
    return pl.concat([rated, alone.select(rated.columns)])
