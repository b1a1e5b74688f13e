"""Human ratings of a respondent without any, predicted by a judge validated on others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from empathylab.stats.arguments import require_columns
from empathylab.stats.clusters.robust import (
    cluster_codes,
    cluster_covariance,
    fewest_clusters,
)
from empathylab.stats.judges.inverse_prediction import EVERYTHING, InversePrediction, StraightLine
from empathylab.stats.judges.leave_one_out import (
    JudgedRows,
    TransferError,
    cannot_calibrate,
)
from empathylab.stats.judges.powered_parts import few_clusters
from empathylab.stats.judges.transfer_lines import Shares, through_means, through_ratings
from empathylab.stats.notes import Note, note
from empathylab.stats.t_tests import t_margin

MEANS_FROM = 4
"""So many other respondents, and the line is drawn through their means."""
_ROUNDING = 1e-9
"""Of the size of what is compared: nearer than so much, two figures are the same."""


@dataclass(frozen=True, slots=True)
class Transferred:
    """An estimate for a respondent without human ratings."""

    estimate: float
    low: float
    high: float
    """Holds for any respondent, as long as the judge scatters around one straight line.
    Infinite where no level is excluded; NaN where people rated a single other respondent."""
    exchangeable_low: float
    exchangeable_high: float
    """Holds if the respondent is exchangeable with the others, which the judge predicted one by one
    when they were left out. NaN where people rated a single other respondent."""
    se: float
    """Of missing someone like the others, by the errors; NaN like the interval."""
    df: int
    """Respondents less one; less two where a line was drawn through their means."""
    same_error_low: float
    same_error_high: float
    """Holds only if the judge errs on this respondent just as on the others together."""
    same_error_se: float
    same_error_df: int
    slope: float
    """By how much people's rating rises with the judge's; 0 where it does not."""
    outside: bool
    """Whether the judge puts the respondent above or below all the others."""
    errors: tuple[TransferError, ...]
    """One for each respondent that people rated; none where there is a single one."""
    pull: Mapping[str, float]
    """By how much the estimate rises with people's mean of each of the others; together 1, below 0
    for those on the far side of a new respondent outside them."""
    n: int
    """People's ratings of the others that the judge was calibrated on."""
    n_judged: int
    """The respondent's own replies, rated by the judge alone."""
    dropped: int
    """Rows left out because the judge's rating was missing."""
    confidence: float
    back: InversePrediction
    """The line of the judge's means on people's, to be read from the judge back to people."""
    level: float
    """The judge's mean of the respondent."""
    notes: tuple[Note, ...] = ()

    def ends(self, confidence: float) -> tuple[float, float]:
        """Of the interval at that confidence; NaN where people rated a single other respondent."""
        like = self.exchangeable_half_width(confidence)
        near = self.estimate - like, self.estimate + like
        if len(self.errors) <= 2:
            # Two points are always on one line: nothing shows how it continues beyond them.
            return EVERYTHING if self.outside and self.errors else near
        low, high = self.back.ends(self.level, confidence)
        return min(low, near[0]), max(high, near[1])

    def fits(self, limits: tuple[float, float]) -> bool:
        """Whether any level of the scale goes with what the judge says of the respondent; also
        where nothing is known."""
        return not off_scale((self.low, self.high), limits)

    def ends_on(self, limits: tuple[float, float], confidence: float) -> tuple[float, float]:
        """Of the interval at that confidence, on a scale that ends at `limits`: infinite where no
        level of it fits, for then the line does not hold for this respondent."""
        ends = self.ends(confidence)
        return ends if self.fits(limits) and not off_scale(ends, limits) else EVERYTHING

    def exchangeable_half_width(self, confidence: float) -> float:
        """Of the interval for someone like the others; NaN where there is a single other one."""
        if self.df < 1:
            return math.nan
        return max(t_margin(self.df, confidence) * self.se, self._same_error_half_width(confidence))

    def difference_ends(
        self,
        other: str,
        mean: float,
        also: float,
        confidence: float,
        limits: tuple[float, float] = EVERYTHING,
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """Of the estimate minus people's `mean` of `other`, whose own half width is `also`; and the
        same assuming the same judge error. `limits` are the ends of the scale; an estimate beyond
        them is moved to the nearer end.

        The other's mean is in the estimate, too. Where that draws both the same way, or they share
        situations, the difference is more certain than this; where the line is drawn beyond the
        others, it can turn them against each other, and that is counted.

        Zou, G. Y., & Donner, A. (2008). Statistics in Medicine 27, 1693–1702 (a difference's ends).
        """
        added = also**2 * (1 + 2 * max(0.0, -self.pull.get(other, 0.0)))
        estimate = min(max(self.estimate, limits[0]), limits[1])
        difference = estimate - mean
        narrow = math.sqrt(self._same_error_half_width(confidence) ** 2 + added)
        low, high = self.ends_on(limits, confidence)
        # NaN stays NaN as the first of the two.
        down = reach(max(estimate - low, 0.0), estimate - limits[0], math.sqrt(added))
        up = reach(max(high - estimate, 0.0), limits[1] - estimate, math.sqrt(added))
        return (difference - down, difference + up), (difference - narrow, difference + narrow)

    def _same_error_half_width(self, confidence: float) -> float:
        return t_margin(self.same_error_df, confidence) * self.same_error_se

    @property
    def rules_out(self) -> bool:
        """Whether the interval has ends, so that something is ruled out."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def typical_error(self) -> float:
        """The root mean square of the errors; NaN without any."""
        return _root_mean_square([error.error for error in self.errors])


def reach(own: float, limit: float, also: float) -> float:
    """How far a difference of two figures may reach to one side, where the one reaches so far as
    `own`, and to the end of the scale at `limit`, and the other as far as `also`.

    Both seldom lie at their ends at once, so it is less than the sum; but where nothing short of
    the scale's end is ruled out, that is no matter of chance.
    """
    return limit + also if own >= limit else math.hypot(own, also)


def off_scale(ends: tuple[float, float], limits: tuple[float, float]) -> bool:
    """Whether all from the one end to the other lies above the scale, or all below it."""
    slack = _ROUNDING * (limits[1] - limits[0])
    return ends[0] > limits[1] + slack or ends[1] < limits[0] - slack


def transferred_mean(
    frame: pl.DataFrame,
    newcomer: str,
    *,
    rating: str = "rating",
    left_out: Mapping[str, pl.DataFrame] | None = None,
    confidence: float = 0.95,
) -> Transferred:
    """The mean that people would give `newcomer`, from a judge's ratings of all and people's of
    others.

    A row is one rater's `rating` of a reply beside the judge's `prediction` of it, with
    `respondent` and `situation`; the newcomer's rows have the prediction alone (ratings of the
    newcomer are not used: with some, take `prediction_powered_mean`). A line from the judge's
    ratings to people's is fitted to the others, each respondent weighing the same, and read off at
    the newcomer's mean. With four others or more it goes through their means: a judge's ratings
    vary from reply to reply, and a line through single ratings is too flat to distinguish
    respondents. Two or three means leave too little to try such a line on, and there it is fitted
    to the single ratings. A judge that contradicts people gets a flat line.

    That the line holds for someone new cannot be known from the others' ratings, only tried: each
    other respondent is left out in turn and predicted from the rest. An error is divided by
    √(1 + h), where h, the leverage, says how far the line of the rest was stretched to reach the
    one left out; the root mean square of these, times √(1 + h) of the newcomer, times Student's
    quantile is the half width of the interval from `exchangeable_low` to `exchangeable_high`. With
    two or three others the errors count for no less than the chance in people's ratings of them,
    since two that happen to coincide prove nothing. It is a prediction interval, exact where
    respondents are normal draws around one line, the newcomer too. It is never narrower than the
    `same_error` one, which lets ratings of one rater and of one situation be correlated and takes
    the line for given.

    A newcomer need not be like the others: later models are better. Of a judge that leans toward
    some respondents, such a line draws anyone far from the others back to them. So the line is also
    drawn the other way, of the judge's means on people's, and every level of people is kept
    from which the judge's mean of the newcomer is not shown to be too far (`InversePrediction`).
    That holds however far the newcomer lies from the others. From `low` to `high` is both of these
    intervals; where the judge's means are not shown to rise with people's, no level is excluded.
    With two others there is no such trial: a newcomer outside both can be anywhere.

    `left_out` are frames to be used in the turns of these respondents, for a judge that was itself
    trained on people's ratings and has to be trained again without them.

    A row without prediction is left out and counted. Raises InputError where no other respondent
    was rated or the judge rated nothing of the newcomer.
    """
    require_columns(frame, "respondent", rating, "prediction", "rater", "situation")
    ratings = _plain(frame, rating)
    others = _others(ratings, newcomer)
    means = len(others) >= MEANS_FROM
    line = _line(ratings, newcomer, means=means)
    whole = JudgedRows.of(ratings)
    turns = {name: JudgedRows.of(_plain(part, rating)) for name, part in (left_out or {}).items()}
    errors = tuple(
        turns.get(name, whole).left_out(name, newcomer, means=means)
        for name in (others if len(others) > 1 else ())
    )
    margin = t_margin(line.df, confidence) * line.se
    result = Transferred(
        estimate=line.estimate,
        low=math.nan,
        high=math.nan,
        exchangeable_low=math.nan,
        exchangeable_high=math.nan,
        se=_transfer_se(errors, line.leverage)
        if means or not errors
        else max(_transfer_se(errors, line.leverage), _sampling_se(ratings, others, line)),
        df=_df(line, len(others), means=means),
        same_error_low=line.estimate - margin,
        same_error_high=line.estimate + margin,
        same_error_se=line.se,
        same_error_df=line.df,
        slope=line.slope,
        outside=line.outside,
        errors=errors,
        pull=line.pull,
        n=line.n,
        n_judged=line.n_judged,
        dropped=line.dropped,
        confidence=confidence,
        back=InversePrediction.of(line.back, [error.lean for error in errors]),
        level=line.level,
    )
    low, high = result.ends(confidence)
    like = result.exchangeable_half_width(confidence)
    result = replace(
        result,
        low=low,
        high=high,
        exchangeable_low=line.estimate - like,
        exchangeable_high=line.estimate + like,
    )
    return replace(result, notes=tuple(_notes(result, len(others))))


@dataclass(frozen=True, slots=True)
class _Line:
    """The prediction for the new respondent, and the uncertainty of the line."""

    estimate: float
    slope: float
    leverage: float
    pull: dict[str, float]
    outside: bool
    level: float
    back: StraightLine
    se: float
    df: int
    n: int
    n_judged: int
    dropped: int


def _plain(frame: pl.DataFrame, rating: str) -> pl.DataFrame:
    """The columns that are used, under their usual names; NaN is a missing value."""
    return frame.select(
        pl.col("respondent").cast(pl.String),
        "rater",
        "situation",
        rating=pl.col(rating).cast(pl.Float64).fill_nan(None),
        prediction=pl.col("prediction").cast(pl.Float64).fill_nan(None),
    ).drop_nulls("respondent")


def _others(ratings: pl.DataFrame, newcomer: str) -> list[str]:
    """The respondents that people and the judge rated."""
    rows = ratings.filter(pl.col("respondent") != newcomer).drop_nulls(["rating", "prediction"])
    return rows["respondent"].unique(maintain_order=True).to_list()


def _line(ratings: pl.DataFrame, newcomer: str, *, means: bool) -> _Line:
    own = pl.col("respondent") == newcomer
    used = ratings.filter(own | pl.col("rating").is_not_null())
    rows = used.drop_nulls("prediction")
    mine = rows.select(own=own)["own"].to_numpy()
    if mine.all() or not mine.any():
        raise cannot_calibrate(newcomer, judged=bool(mine.any()) or rows.is_empty())
    f, y = rows["prediction"].to_numpy(), rows["rating"].fill_null(0.0).to_numpy()
    raters = rows.select(rater=pl.when(~own).then(pl.col("rater")))["rater"]
    ways = [cluster_codes(raters), cluster_codes(rows["situation"])]
    known, places = np.unique(rows["respondent"].to_numpy()[~mine], return_inverse=True)
    shares = Shares.of(places)
    read = through_means if means else through_ratings
    reading = read(y[~mine], f[~mine], f[mine], shares)
    terms = np.zeros(len(f))
    terms[~mine] = reading.terms
    terms[mine] = reading.slope * (f[mine] - f[mine].mean()) / int(mine.sum())
    fewest = fewest_clusters(int((~mine).sum()), [codes[~mine] for codes in ways])
    variance = float(cluster_covariance(terms[:, None], ways, adjust=False)[0, 0])
    levels, level = shares.means(f[~mine]), float(f[mine].mean())
    slack = _ROUNDING * float(np.abs(f).max())
    return _Line(
        estimate=reading.estimate,
        slope=reading.slope,
        leverage=reading.leverage,
        pull=dict(zip(known.tolist(), reading.pull.tolist(), strict=True)),
        outside=not levels.min() - slack <= level <= levels.max() + slack,
        level=level,
        back=StraightLine.through(shares.means(y[~mine]), levels),
        se=few_clusters(fewest) * math.sqrt(variance) if fewest > 1 else math.inf,
        df=fewest - 1,
        n=int((~mine).sum()),
        n_judged=int(mine.sum()),
        dropped=used.height - rows.height,
    )


def _transfer_se(errors: Sequence[TransferError], leverage: float) -> float:
    scaled = [error.error / math.sqrt(1 + error.leverage) for error in errors]
    return _root_mean_square(scaled) * math.sqrt(1 + leverage)


def _sampling_se(ratings: pl.DataFrame, others: Sequence[str], line: _Line) -> float:
    """What the errors would be on average, if there were only chance in people's ratings.

    Few errors can be small by chance, as where two respondents happen to be at the same level.
    """
    squares = []
    for name in others:
        rows = ratings.filter(respondent=name).drop_nulls(["rating", "prediction"])
        left = rows["rating"].to_numpy() - line.slope * rows["prediction"].to_numpy()
        ways = [cluster_codes(rows[way]) for way in ("rater", "situation")]
        terms = (left - left.mean())[:, None] / len(left)
        squares.append(float(cluster_covariance(terms, ways)[0, 0]) if len(left) > 1 else 0.0)
    return math.sqrt(sum(squares) / len(squares)) * math.sqrt(1 + line.leverage)


def _df(line: _Line, others: int, *, means: bool) -> int:
    # Outside three others the slope alone decides, and it is one more thing to know from them.
    beyond = others == MEANS_FROM - 1 and line.outside
    return others - 1 - int(line.slope > 0 and (means or beyond))


def _root_mean_square(errors: Sequence[float]) -> float:
    return math.sqrt(sum(error**2 for error in errors) / len(errors)) if errors else math.nan


def _notes(result: Transferred, others: int) -> Iterator[Note]:
    if result.slope == 0:
        yield note("judge_unrelated")
    if others == 1:
        yield note("one_other_respondent")
    elif others == 2:
        yield note("two_other_respondents")
    if result.outside and result.slope > 0:
        yield note("extrapolated")
    if others > 1 and not result.rules_out:
        yield note("nothing_excluded")
