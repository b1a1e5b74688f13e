"""The charts of a rated study, each with its name, title and note."""

from __future__ import annotations

from collections.abc import Iterator

from empathylab.analysis.overview.levels import RatingLevel, rating_levels
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.ratings.power import PowerSetting, power_setting
from empathylab.analysis.ratings.raters import INCONSISTENCIES
from empathylab.analysis.text.apa import listed
from empathylab.analysis.text.names import name_of
from empathylab.analysis.text.numbers import number, percent
from empathylab.report.blocks import Figure, optional_figure, slug
from empathylab.report.ratings.charts import (
    emotions_chart,
    levels_chart,
    mean_emotions_chart,
    shares_chart,
)
from empathylab.report.ratings.model_charts import forest_chart, model_means_chart, power_chart
from empathylab.report.ratings.rater_charts import (
    inconsistency_chart,
    numbers_chart,
    variable_title,
)
from empathylab.report.ratings.rater_charts import levels_chart as properties_chart
from empathylab.report.ratings.specification_chart import specification_chart

MOST_ARMS = 40
"""Of a chart that is shown before anything is opened."""
_LEVELS = "95% intervals; a rater's ratings count as one cluster."
_EMOTIONS = "Proportion of good ratings with Wilson's 95% interval; largest difference first."
_EMOTION_MEANS = (
    "Means with 95% intervals; a rater's ratings count as one cluster; largest difference first."
)
_FOREST = "Coefficients with 95% intervals, raters and situations random; compared with {}."
_MEANS = "Estimated means with 95% intervals, raters and situations as random effects."
_SPECIFICATIONS = "The same comparison under every reasonable choice, smallest estimate first."
_CONTRADICTIONS = "Answers on the opposite side of the midpoint from most of the rater's answers."
_OF_ARMS = "Proportions of each arm's ratings."
_OF_RATERS = "Proportions of each arm's raters."


def figures(result: RatingsResult) -> Iterator[Figure]:
    """All charts that the result has something for."""
    yield from rating_figures(result)
    yield from rater_figures(result)


def rating_figures(result: RatingsResult) -> Iterator[Figure]:
    """How the arms were rated."""
    several = len(result.dimensions) > 1
    yield from _levels(result)
    for dimension in result.comparison.scales:
        yield from optional_figure(
            _name("answers", dimension, several=several),
            _title("How the ratings are distributed", dimension, several=several),
            shares_chart(result.comparison, dimension),
            _OF_ARMS,
        )
    for dimension in result.dimensions:
        yield from _emotions(result, dimension, several=several)
    yield from _models(result, several=several)


def _emotions(result: RatingsResult, dimension: str, *, several: bool) -> Iterator[Figure]:
    """Means where the scale is one of degrees, else good ratings."""
    name = _name("emotions", dimension, several=several)
    means = next((item for item in result.means if item.dimension == dimension), None)
    if dimension in result.scales.by_mean and means is not None:
        given = next((item for item in result.study.dimensions if item.name == dimension), None)
        ends = (given and given.values) or (means.lowest, means.highest)
        title = _title("Mean rating by emotion", dimension, several=several)
        chart = mean_emotions_chart(means, (min(ends), max(ends)))
        yield from optional_figure(name, title, chart, _EMOTION_MEANS)
    elif dimension in result.comparison.scales:
        title = _title("Good ratings by emotion", dimension, several=several)
        chart = emotions_chart(result.comparison, dimension)
        yield from optional_figure(name, title, chart, _EMOTIONS)


def _levels(result: RatingsResult) -> Iterator[Figure]:
    """One chart for each kind of scale."""
    levels = rating_levels(result)
    kinds = list(dict.fromkeys((level.good, level.lowest, level.highest) for level in levels))
    for place, kind in enumerate(kinds, start=1):
        mine = [level for level in levels if (level.good, level.lowest, level.highest) == kind]
        good, lowest, highest = kind
        # Rows of a chart on one of several dimensions are arms, so its title names the dimension.
        [first, *others] = dict.fromkeys(level.dimension for level in mine)
        on = f" on {first}" if len(result.dimensions) > 1 and not others else ""
        ends = f", from {lowest:g} to {highest:g}"
        title = f"Replies rated {good}{on}" if good else f"Mean rating{on}{ends}"
        name = "ratings" if place == 1 else f"ratings-{place}"
        if len(result.arms) > MOST_ARMS and place == 1:
            ends_only, omitted = _ends(mine, result.reference)
            note = f"{_LEVELS} {omitted} arms in between are not shown."
            yield from optional_figure(name, title, levels_chart(ends_only), note)
            name = "ratings-all"
        yield from optional_figure(name, title, levels_chart(mine), _LEVELS)


def _ends(levels: list[RatingLevel], reference: str) -> tuple[list[RatingLevel], int]:
    """The arms rated highest and lowest on the first dimension, and how many are between them."""
    first = [level for level in levels if level.dimension == levels[0].dimension]
    order = [level.arm for level in sorted(first, key=lambda level: -level.estimate)]
    half = MOST_ARMS // 4
    kept = [arm for arm in order if arm in {*order[:half], *order[-half:], reference}]
    place = {arm: number for number, arm in enumerate(kept)}
    shown = [level for level in levels if level.arm in place]
    return sorted(shown, key=lambda level: place[level.arm]), len(order) - len(kept)


def _models(result: RatingsResult, *, several: bool) -> Iterator[Figure]:
    title = "Mixed models: coefficients" if len(result.models) > 1 else "Mixed model"
    note = _FOREST.format(name_of(result.reference))
    yield from optional_figure("models", title, forest_chart(result.models), note)
    for model in result.models:
        if not model.by_valence:
            name = _name("model-means", model.dimension, several=several)
            title = _title("Means from the mixed model", model.dimension, several=several)
            yield from optional_figure(name, title, model_means_chart(model), _MEANS)
    if result.multiverse is not None:
        chart = specification_chart(result.multiverse)
        yield from optional_figure("specifications", "Specification curve", chart, _SPECIFICATIONS)
    for dimension in result.comparison.scales:
        given = power_setting(result.comparison, dimension)
        if given is not None and result.study.design == "between":
            name = _name("power", dimension, several=several)
            title = _title("Power of a study like this", dimension, several=several)
            yield from optional_figure(name, title, power_chart(given), _power(given))


def rater_figures(result: RatingsResult) -> Iterator[Figure]:
    """Who the raters are; small charts."""
    compared = result.rater_comparison
    for numeric in compared.numeric if compared else ():
        if numeric.variable != INCONSISTENCIES:
            title = f"Raters: {variable_title(numeric.variable)}"
            name = f"raters-{slug(numeric.variable)}"
            unknown = [name_of(arm.arm) for arm in numeric.arms if not arm.n]
            note = f"{_OF_RATERS} Not known: {listed(unknown)}." if unknown else _OF_RATERS
            yield from optional_figure(name, title, numbers_chart(numeric), note, wide=False)
    if result.inconsistencies is not None:
        chart = inconsistency_chart(result.inconsistencies)
        title = "Raters: contradictions in the questionnaire"
        yield from optional_figure(
            "raters-contradictions", title, chart, _CONTRADICTIONS, wide=False
        )
    for categorical in compared.categorical if compared else ():
        title = f"Raters: {variable_title(categorical.variable)}"
        pooled = (
            f" Pooled as others: {', '.join(categorical.pooled)}." if categorical.pooled else ""
        )
        name = f"raters-{slug(categorical.variable)}"
        note = f"{_OF_RATERS}{pooled}"
        yield from optional_figure(name, title, properties_chart(categorical), note, wide=False)


def _name(name: str, dimension: str, *, several: bool) -> str:
    return f"{name}-{slug(dimension)}" if several else name


def _title(title: str, dimension: str, *, several: bool) -> str:
    return f"{title}: {dimension}" if several else title


def _power(given: PowerSetting) -> str:
    return (
        f"Power of the test of two proportions at α = .05 if {percent(given.share)} of "
        f"the ratings of {name_of(given.reference)} are good and each rater gives "
        f"{given.ratings_per_rater} ratings with an ICC of {number(given.icc, 3)}; the dashed line "
        "is this study."
    )
