"""What people would say of somebody nobody has rated, from a judge that was held against others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.errors import InputError, UnknownName
from empathylab.stats.cluster_robust import (
    cluster_codes,
    cluster_covariance,
    fewest_clusters,
    t_margin,
)

Array = NDArray[np.float64]
MEANS_FROM = 4
"""So many other respondents, and the line is drawn through their means."""


@dataclass(frozen=True, slots=True)
class TransferError:
    """How far the judge missed a respondent whom it was not calibrated on."""

    respondent: str
    foretold: float
    """From the judge's ratings of this respondent and people's ratings of the others."""
    people: float
    """What people said."""
    n: int
    """People's ratings of this respondent."""
    leverage: float
    """How far the line of the others was stretched to reach this one: 1 / others, or more."""

    @property
    def error(self) -> float:
        """Above 0 where the judge foretells too much."""
        return self.foretold - self.people


@dataclass(frozen=True, slots=True)
class Transferred:
    """An estimate for a respondent whom no person has rated."""

    estimate: float
    low: float
    high: float
    """Holds if the judge misses this respondent as it missed the others, each left out in turn.
    NaN where people rated a single other respondent: then nobody can be left out."""
    se: float
    """Of missing somebody new, by the errors; NaN like the interval."""
    df: int
    """Respondents less one; less two where a line was drawn through their means."""
    alike_low: float
    alike_high: float
    """Holds only if the judge errs on this respondent just as on the others together."""
    alike_se: float
    alike_df: int
    slope: float
    """By how much people's rating rises with the judge's; 0 where it does not."""
    outside: bool
    """Whether the judge puts the respondent above or below all the others."""
    errors: tuple[TransferError, ...]
    """One for each respondent that people rated; none where there is a single one."""
    pull: Mapping[str, float]
    """By how much the estimate rises with people's mean of each of the others; together 1, below 0
    for those on the far side of a newcomer outside them."""
    n: int
    """People's ratings of the others that the judge was calibrated on."""
    n_judged: int
    """The respondent's own replies, rated by the judge alone."""
    dropped: int
    """Rows left out because the judge's rating was missing."""
    confidence: float
    note: str = ""

    def half_width(self, confidence: float) -> float:
        """Of the interval at that confidence; NaN where people rated a single other respondent."""
        if self.df < 1:
            return math.nan
        alike = t_margin(self.alike_df, confidence) * self.alike_se
        return max(t_margin(self.df, confidence) * self.se, alike)

    def apart_half_width(self, other: str, also: float, confidence: float) -> tuple[float, float]:
        """Of the estimate less people's mean of `other`, whose own half width is `also`; and the
        same if the judge errs alike.

        The other's mean is in the estimate, too. Where that draws both the same way, or they share
        situations, the difference is more certain than this; where the line is drawn beyond the
        others, it can turn them against each other, and that is counted.
        """
        added = also**2 * (1 + 2 * max(0.0, -self.pull.get(other, 0.0)))
        alike = t_margin(self.alike_df, confidence) * self.alike_se
        return math.sqrt(self.half_width(confidence) ** 2 + added), math.sqrt(alike**2 + added)

    @property
    def typical_error(self) -> float:
        """The root mean square of the errors; NaN without any."""
        return _root_mean_square([one.error for one in self.errors])

    @property
    def largest_error(self) -> float:
        """The error that is farthest from 0; NaN without any."""
        return max((one.error for one in self.errors), key=abs, default=math.nan)


@dataclass(frozen=True, slots=True)
class _Roles:
    respondent: str
    rating: str
    prediction: str
    rater: str | None
    situation: str | None


def transferred_mean(
    frame: pl.DataFrame,
    newcomer: str,
    *,
    respondent: str = "respondent",
    rating: str = "rating",
    prediction: str = "prediction",
    rater: str | None = "rater",
    situation: str | None = "situation",
    left_out: Mapping[str, pl.DataFrame] | None = None,
    confidence: float = 0.95,
) -> Transferred:
    """The mean that people would give `newcomer`, from a judge's ratings of all and people's of
    others.

    A row is one person's `rating` of a reply beside the judge's `prediction` of it; the newcomer's
    rows have the prediction alone (ratings of the newcomer are not used: with some, take
    `prediction_powered_mean`). A line from the judge's ratings to people's is fitted to the others,
    each respondent weighing the same, and read off at the newcomer's mean. With four others or more
    it goes through their means: a judge scatters from reply to reply, and a line through single
    ratings is too flat to tell respondents apart. Two or three means leave too little to try such a
    line on, and there it is fitted to the single ratings. A judge that goes against people gets a
    flat line.

    That the line holds for somebody new cannot be known from the others' ratings, only tried: each
    other respondent is left out in turn and foretold from the rest. An error is divided by
    √(1 + h), where h, the leverage, says how far the line of the rest was stretched to reach the
    one left out; the root mean square of these, times √(1 + h) of the newcomer, times Student's
    quantile is the interval's half width. It is a prediction interval, exact where respondents are
    normal draws around one line. It is wide with few respondents because little is known, wider
    where the newcomer lies outside the others, and never narrower than the `alike` one, which lets
    ratings of one rater and of one situation be correlated and takes the line for given.

    `left_out` are frames to be used in the turns of these respondents, for a judge that was itself
    trained on people's ratings and has to be trained anew without them.

    A row without prediction is left out and counted. Raises InputError where nobody else was rated
    or the judge rated nothing of the newcomer.
    """
    roles = _Roles(respondent, rating, prediction, rater, situation)
    for column in (respondent, rating, prediction, rater, situation):
        if column is not None and column not in frame.columns:
            raise UnknownName("column", column, frame.columns)
    others = _others(frame, newcomer, roles)
    means = len(others) >= MEANS_FROM
    line = _line(frame, newcomer, roles, means=means)
    errors = tuple(
        _left_out((left_out or {}).get(name, frame), name, newcomer, roles, means=means)
        for name in (others if len(others) > 1 else ())
    )
    alike = t_margin(line.df, confidence) * line.se
    found = Transferred(
        estimate=line.estimate,
        low=math.nan,
        high=math.nan,
        se=_transfer_se(errors, line.leverage),
        df=_df(line, len(others), means=means),
        alike_low=line.estimate - alike,
        alike_high=line.estimate + alike,
        alike_se=line.se,
        alike_df=line.df,
        slope=line.slope,
        outside=line.outside,
        errors=errors,
        pull=line.pull,
        n=line.n,
        n_judged=line.n_judged,
        dropped=line.dropped,
        confidence=confidence,
        note=_note(line, len(others)),
    )
    margin = found.half_width(confidence)
    return replace(found, low=line.estimate - margin, high=line.estimate + margin)


@dataclass(frozen=True, slots=True)
class _Line:
    """What is read off for the newcomer, and how sure the line is."""

    estimate: float
    slope: float
    leverage: float
    pull: dict[str, float]
    outside: bool
    se: float
    df: int
    n: int
    n_judged: int
    dropped: int


def _told(roles: _Roles) -> pl.Expr:
    return pl.col(roles.prediction).cast(pl.Float64).fill_nan(None).is_not_null()


def _others(frame: pl.DataFrame, newcomer: str, roles: _Roles) -> list[str]:
    """The respondents that people and the judge rated."""
    who = pl.col(roles.respondent).cast(pl.String)
    rows = frame.filter(who != newcomer, pl.col(roles.rating).is_not_null(), _told(roles))
    return rows[roles.respondent].cast(pl.String).unique(maintain_order=True).to_list()


def _line(frame: pl.DataFrame, newcomer: str, roles: _Roles, *, means: bool) -> _Line:
    own = pl.col(roles.respondent).cast(pl.String) == newcomer
    used = own | pl.col(roles.rating).is_not_null()
    rows = frame.filter(used & _told(roles))
    mine = rows.select(own=own)["own"].to_numpy()
    names = rows[roles.respondent].cast(pl.String)
    if mine.all() or not mine.any():
        raise InputError(
            "there is nothing to calibrate the judge on"
            if mine.any() or rows.is_empty()
            else "the judge has rated nothing of this respondent",
            got=newcomer,
            remedy="Let the judge rate the new replies, and replies that people have rated.",
        )
    f = rows[roles.prediction].cast(pl.Float64).to_numpy()
    y = rows[roles.rating].cast(pl.Float64).fill_null(0.0).to_numpy()
    ways = [
        cluster_codes(rows.select(pl.when(~own).then(pl.col(roles.rater)))[roles.rater])
        if column == roles.rater
        else cluster_codes(rows[column])
        for column in (roles.rater, roles.situation)
        if column is not None
    ]
    shares = _Shares.of(names.filter(pl.Series(~mine)))
    read = _through_means if means else _through_ratings
    found = read(y[~mine], f[~mine], f[mine], shares)
    terms = np.zeros(len(f))
    terms[~mine] = found.terms
    terms[mine] = found.slope * (f[mine] - f[mine].mean()) / int(mine.sum())
    fewest = fewest_clusters(int((~mine).sum()), [codes[~mine] for codes in ways])
    few = math.sqrt(fewest / (fewest - 1)) if fewest > 1 else math.inf
    variance = float(cluster_covariance(terms[:, None], ways, adjust=False)[0, 0])
    levels = shares.means(f[~mine])
    return _Line(
        estimate=found.estimate,
        slope=found.slope,
        leverage=found.leverage,
        pull=dict(zip(shares.names, found.pull.tolist(), strict=True)),
        outside=not levels.min() <= f[mine].mean() <= levels.max(),
        se=few * math.sqrt(variance) if fewest > 1 else math.inf,
        df=fewest - 1,
        n=int((~mine).sum()),
        n_judged=int(mine.sum()),
        dropped=frame.filter(used & ~_told(roles)).height,
    )


@dataclass(frozen=True, slots=True)
class _Shares:
    """Which respondent each rating is of, and its weight, so that respondents weigh the same."""

    codes: NDArray[np.int64]
    weights: Array
    """Together 1."""
    names: tuple[str, ...]

    @classmethod
    def of(cls, names: pl.Series) -> _Shares:
        found, codes, sizes = np.unique(names.to_numpy(), return_inverse=True, return_counts=True)
        return cls(codes, 1 / (sizes[codes] * len(sizes)), tuple(found.tolist()))

    @property
    def respondents(self) -> int:
        return len(self.names)

    def means(self, values: Array) -> Array:
        """One for each respondent."""
        return np.asarray(np.bincount(self.codes, values * self.weights) * self.respondents)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A line read off at the newcomer's mean."""

    estimate: float
    slope: float
    leverage: float
    pull: Array
    """By how much the estimate rises with people's mean of each of the others."""
    terms: Array
    """What each rating of the others adds to the error."""


def _through_ratings(y: Array, f: Array, own: Array, shares: _Shares) -> _Reading:
    weights = shares.weights
    mean_y, mean_f = float(weights @ y), float(weights @ f)
    centred = f - mean_f
    spread = float(weights @ centred**2)
    slope = float(weights @ (centred * (y - mean_y))) / spread if spread > 1e-12 else 0.0
    slope = max(slope, 0.0)
    shift = float(own.mean()) - mean_f
    lever = shift * centred / spread if slope > 0 else np.zeros_like(centred)
    pull = np.asarray(np.bincount(shares.codes, weights * (1 + lever)), dtype=np.float64)
    terms = weights * (1 + lever) * (y - mean_y - slope * centred)
    return _Reading(mean_y + slope * shift, slope, 1 / shares.respondents, pull, terms)


def _through_means(y: Array, f: Array, own: Array, shares: _Shares) -> _Reading:
    number = shares.respondents
    people, judge = shares.means(y), shares.means(f)
    centred = judge - judge.mean()
    spread = float(centred @ centred)
    slope = max(float(centred @ people) / spread, 0.0) if spread > 1e-12 else 0.0
    shift = float(own.mean() - judge.mean())
    reach = shift / spread if slope > 0 else 0.0
    lever = 1 + number * reach * centred
    # The judge's own scatter moves the means it is held by, and with them the slope.
    rest = people - people.mean() - slope * centred
    bend = slope * lever - number * reach * rest
    apart_y, apart_f = y - people[shares.codes], f - judge[shares.codes]
    terms = shares.weights * (lever[shares.codes] * apart_y - bend[shares.codes] * apart_f)
    estimate = float(people.mean()) + slope * shift
    return _Reading(estimate, slope, 1 / number + shift * reach, lever / number, terms)


def _left_out(
    frame: pl.DataFrame, name: str, newcomer: str, roles: _Roles, *, means: bool
) -> TransferError:
    rest = frame.filter(pl.col(roles.respondent).cast(pl.String) != newcomer)
    rated = rest.filter(
        pl.col(roles.respondent).cast(pl.String) == name,
        pl.col(roles.rating).is_not_null(),
        _told(roles),
    )
    ratings = rated[roles.rating].cast(pl.Float64).to_numpy()
    line = _line(rest, name, roles, means=means)
    return TransferError(name, line.estimate, float(ratings.mean()), len(ratings), line.leverage)


def _transfer_se(errors: Sequence[TransferError], leverage: float) -> float:
    scaled = [one.error / math.sqrt(1 + one.leverage) for one in errors]
    return _root_mean_square(scaled) * math.sqrt(1 + leverage)


def _df(line: _Line, others: int, *, means: bool) -> int:
    # Outside three others the slope alone decides, and it is one more thing to know from them.
    beyond = others == MEANS_FROM - 1 and line.outside
    return others - 1 - int(line.slope > 0 and (means or beyond))


def _root_mean_square(errors: Sequence[float]) -> float:
    return math.sqrt(sum(one**2 for one in errors) / len(errors)) if errors else math.nan


def _note(line: _Line, others: int) -> str:
    notes = []
    if line.slope == 0:
        notes.append("the judge does not rise with people's ratings, so it tells nothing here")
    if others == 1:
        notes.append(
            "people rated a single other respondent: how far the judge misses somebody new cannot "
            "be tried"
        )
    elif others == 2:
        notes.append("people rated two other respondents only: the interval is very wide")
    if line.outside and line.slope > 0:
        notes.append(
            "the judge puts this respondent outside all that it was calibrated on: the line is "
            "drawn beyond them"
        )
    return "; ".join(notes)
