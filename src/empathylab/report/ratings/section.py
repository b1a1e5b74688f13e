"""The sections on ratings and on raters."""

from __future__ import annotations

from collections.abc import Sequence

from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.ratings.collection_periods import collection_table
from empathylab.analysis.ratings.mixed_models import coefficient_table, random_table
from empathylab.analysis.ratings.model import DimensionModel
from empathylab.analysis.ratings.rows import comparison_table, count_table, mean_table, rater_table
from empathylab.analysis.ratings.sentences import with_caveats
from empathylab.analysis.text.apa import counted
from empathylab.analysis.text.names import name_of
from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import number, percent
from empathylab.report.benchmark.section import LeaderboardSection
from empathylab.report.blocks import (
    Block,
    Figure,
    Fold,
    Heading,
    Partial,
    Row,
    Section,
    Table,
    Text,
    kept,
)
from empathylab.report.ratings.figures import MOST_ARMS, rater_figures, rating_figures
from empathylab.report.ratings.model_charts import group_name, term_name
from empathylab.report.ratings.rater_charts import variable_name
from empathylab.stats.arms.means import MeanComparison
from empathylab.stats.mixed import Clmm

_TESTS = (
    "Difference in percentage points with Newcombe's 95% interval; p corrected over the subsets of "
    "one kind. χ² is the published test: good against other ratings, with Yates' correction. Both "
    "treat all ratings as independent. Ratings by the same rater are correlated, so these "
    "intervals are too narrow and these p values too small; p clustered, the mixed model and the "
    "intervals of the conclusions take this into account."
)
_MEANS = (
    "Mean with 95% interval clustered by rater, and difference from the reference with 95% "
    "interval clustered by {}; g is Hedges' standardised difference."
)
_ALIKE = (
    "Numbers as mean (SD), properties as counts. A small p shows that arms differ; a small p TOST "
    "shows that they are equivalent within ±0.3 standard deviations."
)


def ratings_section(
    studies: Sequence[RatingsResult], boards: Sequence[LeaderboardSection], lead: Sequence[str]
) -> Section:
    """How people rated the replies, study by study."""
    blocks: list[Block] = []
    for place, study in enumerate(studies, start=1):
        blocks += _study(study, f"ratings-{place}", alone=len(studies) == 1)
    for board in boards:
        blocks.append(
            Fold(
                id=board.id,
                title=f"Compared on {board.study}: {board.what}",
                blocks=(Partial(template="leaderboard.html.j2", data=board),),
                printed=True,
            )
        )
    return Section(id="ratings", title="Ratings", blocks=blocks, lead=lead)


def _study(study: RatingsResult, place: str, *, alone: bool) -> list[Block]:
    """The main charts of a study, then what lies behind them, closed."""
    of = "" if alone else f", {study.study.name}"
    figures = _figures(study)
    crowded = len(study.arms) > MOST_ARMS
    all_arms = [*figures["ratings"][crowded:], *figures["answers"][:1]]
    caveats = Text((*_constant(study), *study.caveats), "caveats")
    # Arms that were rated at different times are compared only after saying so.
    periods = Table(title=f"When the arms were rated{of}", rows=collection_table(study.collected))
    return list(
        kept(
            Heading(id=place, title="How people rated the replies" if alone else study.study.title),
            Text((_described(study, titled=not alone),)),
            *((caveats, periods) if study.different_periods else ()),
            *(figures["ratings"][:1] if crowded else all_arms),
            *(() if study.different_periods else (caveats,)),
            Fold(
                id=f"{place}-arms",
                title=f"All {len(study.arms)} arms",
                blocks=all_arms if crowded else (),
            ),
            _all_comparisons(study, place),
            _by_emotion(study, place, of, figures["emotions"]),
            _numbers(study, place, of, figures["answers"][1:]),
            _models(study, place, of, figures["models"]),
        )
    )


def _figures(study: RatingsResult) -> dict[str, list[Figure]]:
    """The study's figures by the part of the section that shows them."""
    found: dict[str, list[Figure]] = {"ratings": [], "answers": [], "emotions": [], "models": []}
    for figure in rating_figures(study):
        part = next((name for name in found if figure.name.startswith(name)), "models")
        found[part].append(figure)
    return found


def _constant(study: RatingsResult) -> list[str]:
    return [
        f"Every rating of {mean.dimension} is {mean.lowest:g}, so it shows no difference between "
        "arms or raters."
        for mean in study.means
        if mean.constant
    ]


def _all_comparisons(study: RatingsResult, place: str) -> Fold:
    blocks = kept(Text(tuple(_sentences(study)), "list"), *_model_note(study))
    return Fold(id=f"{place}-comparisons", title="All comparisons", printed=True, blocks=blocks)


def _by_emotion(study: RatingsResult, place: str, of: str, figures: list[Figure]) -> Fold:
    named = len(study.dimensions) > 1
    tests = comparison_table(study.comparison, "emotion", named=named)
    means = mean_table(_varied(study), "emotion", named=named)
    tables = [
        Table(
            title=f"Tests by emotion{of}",
            rows=_without_arm(tests),
            caption=_compared(study, tests),
        ),
        Table(title=f"Means by emotion{of}", rows=means, caption="Means with 95% intervals."),
    ]
    # Means come first where the scale is one of degrees.
    blocks = kept(*figures, *(tables[::-1] if study.scales.by_mean else tables))
    return Fold(id=f"{place}-emotions", title="By emotion", blocks=blocks)


def _compared(study: RatingsResult, rows: Sequence[Row]) -> str:
    """What a table of tests compares; an arm that it has alone is named here."""
    arms = {row["arm"] for row in rows}
    of = f" of {name_of(arms.pop())}" if len(arms) == 1 else ""
    return f"Good ratings{of} compared with {name_of(study.reference)}."


def _without_arm(rows: Sequence[Row]) -> list[Row]:
    """Without the arm, where it is the same in every row."""
    alone = len({row["arm"] for row in rows}) == 1
    return [
        {name: cell for name, cell in row.items() if not (alone and name == "arm")} for row in rows
    ]


def _numbers(study: RatingsResult, place: str, of: str, figures: list[Figure]) -> Fold:
    named, kinds = len(study.dimensions) > 1, ("all", "valence")
    counts = [row for kind in kinds for row in count_table(study.comparison, kind, named=named)]
    varied = _varied(study)
    means = [row for kind in kinds for row in mean_table(varied, kind, named=named)]
    tests = [
        _narrow(row)
        for kind in kinds
        for row in comparison_table(study.comparison, kind, named=named)
    ]
    blocks = kept(
        *figures,
        Table(title=f"Counts of ratings{of}", rows=counts, caption="Ratings with percentages."),
        Table(
            title=f"Means of ratings{of}",
            rows=means,
            caption=_MEANS.format(study.recognised.clusters),
        ),
        Table(
            title=f"Tests of arms{of}",
            rows=_without_arm(tests),
            caption=f"{_compared(study, tests)} {_TESTS}",
        ),
    )
    return Fold(id=f"{place}-numbers", title="Counts, means and tests", blocks=blocks)


def _models(study: RatingsResult, place: str, of: str, figures: list[Figure]) -> Fold:
    tables = (block for model in study.models for block in _model(model, study, of))
    return Fold(
        id=f"{place}-models", title="Mixed models and power", blocks=kept(*figures, *tables)
    )


def _varied(study: RatingsResult) -> list[MeanComparison]:
    """Means of the dimensions whose ratings are not all the same."""
    return [mean for mean in study.means if not mean.constant]


def _described(study: RatingsResult, *, titled: bool) -> str:
    """How the replies were rated; with the study's title where no heading has it."""
    design = f", {study.study.design} subjects" if len(study.arms) > 1 else ""
    compared = (
        f"Arms are compared with {name_of(study.reference)}."
        if len(study.arms) > 1
        else f"The only rated arm is {name_of(study.reference)}."
    )
    title = "" if titled else f"{study.study.title}: "
    mean = number(study.recognised.ratings_per_reply, 1).removesuffix(".0")
    per_reply = "1 rating" if mean == "1" else f"{mean} ratings"
    return (
        f"{title}{counted(study.ratings.height, 'rating')} by "
        f"{counted(study.raters.height, 'rater')}{design}, {per_reply} per reply. {compared}"
    )


def _sentences(study: RatingsResult) -> list[str]:
    caveats, sentences = with_caveats(study.conclusions)
    return [*sentences, *(f"All comparisons: {caveat}" for caveat in caveats)]


def _model_note(study: RatingsResult) -> list[Block]:
    if study.model is None or not study.model.formula:
        return []
    text = f"Model: {study.model.name}, {study.model.formula}. {study.model.reason}"
    return [Text((text,), "note")]


def _model(model: DimensionModel, study: RatingsResult, of: str) -> list[Block]:
    by = " with valence" if model.by_valence else ""
    title = f"Mixed model of {model.dimension}{by}{of}"
    if model.model is None:
        return [Text((f"{title}: no model could be fitted: {model.problem}",), "note")]
    kind = (
        "Ordinal, logit link, Laplace approximation; a coefficient above 0 raises ratings."
        if model.kind == "clmm"
        else "Linear, REML, Satterthwaite's degrees of freedom."
    )
    notes = " ".join(map(note_text, (*model.model.notes, *model.model.problems)))
    caption = f"{model.model.formula}, n = {number(model.model.n, 0)}. {kind} {notes}".strip()
    thresholds = list(model.model.thresholds) if isinstance(model.model, Clmm) else []
    around = study.scales.around(model.dimension, thresholds)
    coefficients = [
        row | {"term": " | ".join(around.get(row["term"], [term_name(row["term"])]))}
        for row in coefficient_table(model.model)
    ]
    groups = [row | {"group": group_name(row["group"])} for row in random_table(model.model)]
    return [
        Table(title=f"{title}, coefficients", rows=coefficients, caption=caption),
        Table(
            title=f"{title}, random effects",
            rows=groups,
            caption="Standard deviations of raters and situations, on the same scale.",
        ),
    ]


def _narrow(row: dict[str, str]) -> dict[str, str]:
    """Without what two tests do not need, and with the test to believe where it is seen."""
    trusted = "p clustered"
    rest = {name: cell for name, cell in row.items() if name not in ("p BH", trusted)}
    found: dict[str, str] = {}
    for name, cell in rest.items():
        if name == "χ²" and trusted in row:
            found[trusted] = row[trusted]
        found[name] = cell
    return found


def raters_section(studies: Sequence[RatingsResult]) -> Section:
    """Who the raters are, and whether those of the arms are comparable."""
    blocks: list[Block] = []
    lead = []
    for place, study in enumerate(studies, start=1):
        drawn = list(rater_figures(study))
        compared = study.rater_comparison
        several = len(studies) > 1
        if not drawn and compared is None:
            continue
        lead.append(_raters(study))
        blocks += kept(
            *([Heading(id=f"raters-{place}", title=study.study.title)] if several else []),
            *drawn[:2],
            Fold(
                id=f"raters-{place}-more",
                title="More about the raters",
                blocks=drawn[2:],
            ),
            Fold(
                id=f"raters-{place}-arms",
                title="Are the arms' raters similar?",
                blocks=kept(
                    Table(
                        title=f"Raters of the arms{f', {study.study.name}' if several else ''}",
                        rows=[
                            row | {"variable": variable_name(row["variable"])}
                            for row in (rater_table(compared) if compared else ())
                        ],
                        caption=_ALIKE,
                    )
                ),
            ),
        )
    return Section(id="raters", title="Raters", blocks=blocks, lead=lead)


def _raters(study: RatingsResult) -> str:
    per_arm = ", ".join(
        f"{number(count, 0)} for {name_of(arm)}"
        for arm, count in study.recognised.raters_per_arm.items()
    )
    text = f"{counted(study.raters.height, 'rater')} gave the ratings; by arm: {per_arm}."
    if study.inconsistencies is None:
        return text
    found = study.inconsistencies
    return (
        f"{text} {percent(found.share_without)} of {found.n} raters never contradict themselves in "
        f"their questionnaires; {number(100 * found.share_over_half, 1)}% do so in more than half "
        "of the answers that can be checked."
    )
