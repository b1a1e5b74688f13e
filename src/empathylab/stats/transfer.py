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
    """Respondents less one."""
    alike_low: float
    alike_high: float
    """Holds only if the judge errs on this respondent just as on the others together."""
    alike_se: float
    alike_df: int
    slope: float
    """By how much people's rating rises with the judge's; 0 where it does not."""
    errors: tuple[TransferError, ...]
    """One for each respondent that people rated; none where there is a single one."""
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
    `prediction_powered_mean`). People's ratings of the others are regressed on the judge's, each
    respondent weighing the same, and the line is read off at the newcomer's mean. A judge that goes
    against people gets a flat line.

    That the line holds for somebody new cannot be known from the others' ratings, only tried: each
    other respondent is left out in turn and foretold from the rest. The interval's half width is
    Student's quantile, with one degree of freedom less than respondents, times the root mean square
    of these errors times √(A² − 1) / A for A respondents: a prediction interval, exact where the
    line is flat and respondents are normal draws from one population. It is wide with few
    respondents because little is known, and never narrower than the `alike` one, which lets ratings
    of one rater and of one situation be correlated and takes the line for given.

    `left_out` are frames to be used in the turns of these respondents, for a judge that was itself
    trained on people's ratings and has to be trained anew without them.

    A row without prediction is left out and counted. Raises InputError where nobody else was rated
    or the judge rated nothing of the newcomer.
    """
    roles = _Roles(respondent, rating, prediction, rater, situation)
    for column in (respondent, rating, prediction, rater, situation):
        if column is not None and column not in frame.columns:
            raise UnknownName("column", column, frame.columns)
    line = _line(frame, newcomer, roles)
    others = line.respondents
    errors = tuple(
        _left_out((left_out or {}).get(name, frame), name, newcomer, roles)
        for name in (others if len(others) > 1 else ())
    )
    alike = t_margin(line.df, confidence) * line.se
    found = Transferred(
        estimate=line.estimate,
        low=math.nan,
        high=math.nan,
        se=_transfer_se([one.error for one in errors]),
        df=len(others) - 1,
        alike_low=line.estimate - alike,
        alike_high=line.estimate + alike,
        alike_se=line.se,
        alike_df=line.df,
        slope=line.slope,
        errors=errors,
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
    se: float
    df: int
    n: int
    n_judged: int
    dropped: int
    respondents: tuple[str, ...]


def _line(frame: pl.DataFrame, newcomer: str, roles: _Roles) -> _Line:
    who = pl.col(roles.respondent).cast(pl.String)
    told = pl.col(roles.prediction).cast(pl.Float64).fill_nan(None).is_not_null()
    own = who == newcomer
    used = own | pl.col(roles.rating).is_not_null()
    rows = frame.filter(used & told)
    mine = rows.select(own=own)["own"].to_numpy()
    names = rows[roles.respondent].cast(pl.String)
    others = tuple(names.filter(pl.Series(~mine)).unique(maintain_order=True).to_list())
    if not others or not mine.any():
        raise InputError(
            "there is nothing to calibrate the judge on"
            if not others
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
    weights = _equal_weights(names.filter(pl.Series(~mine)))
    estimate, slope, terms = _read_off(y, f, mine, weights)
    fewest = fewest_clusters(int((~mine).sum()), [codes[~mine] for codes in ways])
    few = math.sqrt(fewest / (fewest - 1)) if fewest > 1 else math.inf
    variance = float(cluster_covariance(terms[:, None], ways, adjust=False)[0, 0])
    return _Line(
        estimate=estimate,
        slope=slope,
        se=few * math.sqrt(variance) if fewest > 1 else math.inf,
        df=fewest - 1,
        n=int((~mine).sum()),
        n_judged=int(mine.sum()),
        dropped=frame.filter(used & ~told).height,
        respondents=others,
    )


def _equal_weights(names: pl.Series) -> Array:
    """A weight for each rating, so that respondents weigh the same; together 1."""
    counts = names.value_counts(name="n")
    sizes = names.replace_strict(counts[names.name], counts["n"], return_dtype=pl.Float64)
    return 1 / (sizes.to_numpy() * len(counts))


def _read_off(
    y: Array, f: Array, mine: NDArray[np.bool_], weights: Array
) -> tuple[float, float, Array]:
    """The line's value at the newcomer's mean, its slope, and what each row adds to the error."""
    mean_y, mean_f = float(weights @ y[~mine]), float(weights @ f[~mine])
    centred = f[~mine] - mean_f
    spread = float(weights @ centred**2)
    slope = float(weights @ (centred * (y[~mine] - mean_y))) / spread if spread > 1e-12 else 0.0
    slope = max(slope, 0.0)
    shift = float(f[mine].mean()) - mean_f
    lever = shift * centred / spread if slope > 0 else np.zeros_like(centred)
    terms = np.zeros(len(f))
    terms[~mine] = weights * (1 + lever) * (y[~mine] - mean_y - slope * centred)
    terms[mine] = slope * (f[mine] - f[mine].mean()) / int(mine.sum())
    return mean_y + slope * shift, slope, terms


def _left_out(frame: pl.DataFrame, name: str, newcomer: str, roles: _Roles) -> TransferError:
    rest = frame.filter(pl.col(roles.respondent).cast(pl.String) != newcomer)
    rated = rest.filter(
        pl.col(roles.respondent).cast(pl.String) == name,
        pl.col(roles.rating).is_not_null(),
        pl.col(roles.prediction).cast(pl.Float64).fill_nan(None).is_not_null(),
    )
    ratings = rated[roles.rating].cast(pl.Float64).to_numpy()
    return TransferError(
        name, _line(rest, name, roles).estimate, float(ratings.mean()), len(ratings)
    )


def _transfer_se(errors: Sequence[float]) -> float:
    size = len(errors)
    return _root_mean_square(errors) * math.sqrt(size**2 - 1) / size if size > 1 else math.nan


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
    return "; ".join(notes)
