"""The sections on ratings and on raters."""

from __future__ import annotations

from collections.abc import Sequence

from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.ratings.collection_periods import collection_table
from empathylab.analysis.ratings.mixed_models import coefficient_table, random_table
from empathylab.analysis.ratings.model import DimensionModel
from empathylab.analysis.ratings.rows import comparison_table, count_table, mean_table, rater_table
from empathylab.analysis.text.apa import counted
from empathylab.analysis.text.names import name_of
from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import number, percent
from empathylab.report.benchmark.section import LeaderboardSection
from empathylab.report.blocks import Block, Fold, Heading, Partial, Section, Table, Text, kept
from empathylab.report.ratings.figures import rater_figures, rating_figures

_TESTS = (
    "Difference in percentage points with Newcombe’s 95% interval; p corrected over the subsets of "
    "one kind. χ² is the published test: good against other ratings, with Yates’ correction. Both "
    "treat all ratings as independent. Ratings by the same rater are correlated, so these "
    "intervals are too narrow and these p values too small; p clustered, the mixed model and the "
    "intervals of the conclusions take this into account."
)
_MEANS = (
    "Mean and difference from the reference with 95% interval, raters as the independent units; g "
    "is Hedges’ standardised difference."
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
    named = len(study.dimensions) > 1
    drawn = list(rating_figures(study))
    main = [figure for figure in drawn if figure.name.startswith("ratings")]
    answers = [figure for figure in drawn if figure.name.startswith("answers")]
    emotions = [figure for figure in drawn if figure.name.startswith("emotions")]
    models = [figure for figure in drawn if figure not in (*main, *answers, *emotions)]
    comparison, kinds = study.comparison, ("all", "valence")
    counts = [row for kind in kinds for row in count_table(comparison, kind, named=named)]
    tests = [row for kind in kinds for row in comparison_table(comparison, kind, named=named)]
    varied = [mean for mean in study.means if not mean.constant]
    means = [row for kind in kinds for row in mean_table(varied, kind)]
    heading = "How people rated the replies" if alone else study.study.title
    of = "" if alone else f", {study.study.name}"
    constant = [
        f"Every rating of {mean.dimension} is {mean.lowest:g}, so it shows no difference between "
        "arms or raters."
        for mean in study.means
        if mean.constant
    ]
    # Arms that were rated at different times are compared only after saying so.
    before = (
        Text((*constant, *study.caveats), "caveats"),
        Table(title=f"When the arms were rated{of}", rows=collection_table(study.collected)),
    )
    return list(
        kept(
            Heading(id=place, title=heading),
            Text((_described(study),)),
            *(before if study.apart else ()),
            *main,
            *answers[:1],
            *(() if study.apart else before[:1]),
            Fold(
                id=f"{place}-comparisons",
                title="All comparisons",
                printed=True,
                blocks=kept(Text(tuple(_sentences(study)), "list"), *_model_note(study)),
            ),
            Fold(
                id=f"{place}-emotions",
                title="By emotion",
                blocks=kept(
                    *emotions,
                    Table(
                        title=f"Tests by emotion{of}",
                        rows=comparison_table(comparison, "emotion", named=named),
                        caption="Good ratings compared with the reference.",
                    ),
                    Table(
                        title=f"Means by emotion{of}",
                        rows=mean_table(varied, "emotion"),
                        caption="Means with 95% intervals.",
                    ),
                ),
            ),
            Fold(
                id=f"{place}-numbers",
                title="Counts, means and tests",
                blocks=kept(
                    *answers[1:],
                    Table(
                        title=f"Counts of ratings{of}",
                        rows=counts,
                        caption="Ratings with percentages.",
                    ),
                    Table(title=f"Means of ratings{of}", rows=means, caption=_MEANS),
                    Table(
                        title=f"Tests of arms{of}",
                        rows=[_narrow(row) for row in tests],
                        caption=_TESTS,
                    ),
                ),
            ),
            Fold(
                id=f"{place}-models",
                title="Mixed models and power",
                blocks=kept(
                    *models,
                    *(block for model in study.models for block in _model(model, of)),
                ),
            ),
        )
    )


def _described(study: RatingsResult) -> str:
    compared = (
        f"Arms are compared with {name_of(study.reference)}."
        if len(study.arms) > 1
        else f"The only rated arm is {name_of(study.reference)}."
    )
    mean = number(study.recognised.ratings_per_reply, 1)
    per_reply = "1 rating" if mean == "1.0" else f"{mean} ratings"
    return (
        f"{study.study.title}: {counted(study.ratings.height, 'rating')} by "
        f"{counted(study.raters.height, 'rater')}, {study.study.design} subjects, "
        f"{per_reply} per reply. {compared}"
    )


def _sentences(study: RatingsResult) -> list[str]:
    return [
        " ".join((conclusion.sentence, *conclusion.caveats)) for conclusion in study.conclusions
    ]


def _model_note(study: RatingsResult) -> list[Block]:
    if study.model is None or not study.model.formula:
        return []
    said = f"Model: {study.model.name}, {study.model.formula}. {study.model.reason}"
    return [Text((said,), "note")]


def _model(model: DimensionModel, of: str) -> list[Block]:
    by = " with valence" if model.by_valence else ""
    title = f"Mixed model of {model.dimension}{by}{of}"
    if model.model is None:
        return [Text((f"{title}: no model could be fitted: {model.problem}",), "note")]
    kind = (
        "Ordinal, logit link, Laplace approximation; a coefficient above 0 raises ratings."
        if model.kind == "clmm"
        else "Linear, REML, Satterthwaite’s degrees of freedom."
    )
    notes = " ".join(map(note_text, (*model.model.notes, *model.model.problems)))
    caption = f"{model.model.formula}, n = {number(model.model.n, 0)}. {kind} {notes}".strip()
    return [
        Table(title=f"{title}, coefficients", rows=coefficient_table(model.model), caption=caption),
        Table(
            title=f"{title}, random effects",
            rows=random_table(model.model),
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
    """Who the raters are, and whether those of the arms are alike."""
    blocks: list[Block] = []
    lead = []
    for place, study in enumerate(studies, start=1):
        drawn = list(rater_figures(study))
        compared = study.rater_comparison
        of = "" if len(studies) == 1 else f", {study.study.name}"
        if not drawn and compared is None:
            continue
        lead.append(_raters(study))
        blocks += kept(
            *([Heading(id=f"raters-{place}", title=study.study.title)] if of else []),
            *drawn[:2],
            Fold(
                id=f"raters-{place}-more",
                title=f"More about the raters{of}",
                blocks=drawn[2:],
            ),
            Fold(
                id=f"raters-{place}-arms",
                title=f"Are the arms’ raters similar?{of}",
                blocks=kept(
                    Table(
                        title=f"Raters of the arms{of}",
                        rows=rater_table(compared) if compared else (),
                        caption=_ALIKE,
                    )
                ),
            ),
        )
    return Section(id="raters", title="Raters", blocks=blocks, lead=lead)


def _raters(study: RatingsResult) -> str:
    per_arm = ", ".join(
        f"{number(count, 0)} of {name_of(arm)}"
        for arm, count in study.recognised.raters_per_arm.items()
    )
    said = f"{counted(study.raters.height, 'rater')} gave the ratings: {per_arm}."
    if study.inconsistencies is None:
        return said
    found = study.inconsistencies
    return (
        f"{said} {percent(found.share_without)} of {found.n} raters never contradict themselves in "
        f"their questionnaires; {number(100 * found.share_over_half, 1)}% do so in more than half "
        "of the answers that can be checked."
    )
