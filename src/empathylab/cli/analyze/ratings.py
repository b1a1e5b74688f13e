"""`empathylab analyze ratings`: the arms of a rated study compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from empathylab.cli.actor import operator
from empathylab.cli.examples import examples
from empathylab.cli.options import (
    DEFAULT_LAB,
    JsonOption,
    LabOption,
    PeekOption,
    StudyOption,
    TrackOption,
)

if TYPE_CHECKING:
    from empathylab.analysis.ratings import RatingsResult
    from empathylab.analysis.ratings.model import DimensionModel
    from empathylab.analysis.ratings.multiverse import Multiverse
    from empathylab.stats.raters.exclusions import Rule
    from empathylab.tracking import Tracker

EXAMPLE = examples(
    (
        "empathylab analyze ratings",
        "compares the arms of the lab's only study.",
    ),
    (
        "empathylab analyze ratings --reference human --by emotion",
        "names the reference, and shows every emotion.",
    ),
    (
        "empathylab analyze ratings --margin 5 --too-fast 60",
        "tests equivalence within 5 percentage points, and repeats it without fast raters.",
    ),
    (
        "empathylab analyze ratings --words",
        "prints methods and results for a paper.",
    ),
)


def ratings(
    study: StudyOption = None,
    reference: Annotated[
        str | None,
        typer.Option(
            help="The arm the others are compared with. Default: the arm with replies by people, "
            "else the first of the study."
        ),
    ] = None,
    by: Annotated[
        Literal["all", "valence", "emotion"],
        typer.Option(help="How fine the printed tables are; JSON holds all."),
    ] = "valence",
    only: Annotated[
        str | None,
        typer.Option(
            metavar="SET", help="Only the situations of this set, or of this draw from one."
        ),
    ] = None,
    good_from: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[DIMENSION=]NUMBER",
            help="The lowest rating that counts as good; the top point, if not given. Without it, "
            "continuous scales are compared by means. Repeatable by dimension.",
        ),
    ] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[DIMENSION=]NUMBER",
            help="The smallest difference that matters: arms that differ by less are equivalent. "
            "In points of scales with five points or more and of continuous scales, else in "
            "percentage points of good ratings. Repeatable by dimension.",
        ),
    ] = None,
    failed_attention: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Also without raters who failed an attention check, by this column about them.",
        ),
    ] = None,
    too_fast: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Also without raters who took less than this.", min=0),
    ] = None,
    straight_lining: Annotated[
        bool,
        typer.Option("--straight-lining", help="Also without raters who always rated the same."),
    ] = False,
    inconsistent: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            help="Also without raters whose questionnaire has more contradictions than this.",
            min=0,
        ),
    ] = None,
    everybody: Annotated[
        bool,
        typer.Option("--everybody", help="Exclude nobody, whatever the study's own rules say."),
    ] = False,
    compare: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Also compare raters by this column; repeatable."),
    ] = None,
    bootstrap: Annotated[
        int,
        typer.Option(
            metavar="COUNT",
            help="Also intervals from this many studies simulated by the mixed model. The lab "
            "keeps them: run a stopped command again to resume.",
            min=0,
        ),
    ] = 0,
    sd_intervals: Annotated[
        bool,
        typer.Option(
            "--sd-intervals", help="Also profile intervals of raters' and situations' variation."
        ),
    ] = False,
    multiverse: Annotated[
        bool,
        typer.Option(
            "--multiverse",
            help="Also the comparison under every reasonable choice: threshold, link, exclusions, "
            "clustering.",
        ),
    ] = False,
    bayes: Annotated[
        bool,
        typer.Option(
            "--bayes",
            help="Also the posterior of each ordinal model, with priors stated and varied. Takes "
            "minutes; needs empathylab[bayes].",
        ),
    ] = False,
    chart: Annotated[
        Path | None,
        typer.Option(metavar="FILE.svg", help="With --multiverse: draw the specification curve."),
    ] = None,
    words: Annotated[
        bool, typer.Option("--words", help="Print methods and results paragraphs, nothing else.")
    ] = False,
    table: Annotated[
        Literal["markdown", "latex", "csv"] | None,
        typer.Option(help="Print the comparison in this form, and nothing else."),
    ] = None,
    track: TrackOption = None,
    peek: PeekOption = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Compares the arms of a rated study, overall, by valence and by emotion.

    First the conclusions: which arm was rated higher, which are equivalent, what is inconclusive,
    by the mixed model that fits the study's design. Then the published test (good against other
    ratings, chi-square with Yates' correction) with effects, intervals and corrections, the test
    clustered by rater, means of scales with five points or more, and whether the arms' raters are
    alike. Exclusion rules, of the study file or given here, are applied in a second analysis.
    """
    from empathylab.analysis.ratings import from_lab
    from empathylab.analysis.ratings.scales import by_dimension
    from empathylab.api.progress import counts
    from empathylab.store import Lab

    rules = _rules(failed_attention, too_fast, inconsistent, straight_lining=straight_lining)
    with Lab.open_to_analyse(lab) as opened, counts("simulated studies") as progress:
        analysis = from_lab(
            opened,
            study,
            reference=reference,
            good_from=by_dimension(good_from, "--good-from"),
            margin=by_dimension(margin, "--margin"),
            rules=rules if rules or everybody else None,
            compare=compare or (),
            only=only,
            bootstrap=bootstrap,
            spread=sd_intervals,
            specifications=multiverse or chart is not None,
            bayes=bayes,
            peek=peek,
            who=operator(),
            progress=progress,
        )
    if track is not None:
        _track(track, analysis)
    if chart is not None and analysis.multiverse is not None:
        _draw(analysis.multiverse, chart)
    if json:
        import json as encoder

        found = analysis.to_dict()
        typer.echo(encoder.dumps(found, indent=2, ensure_ascii=False, allow_nan=False))
    elif words:
        typer.echo("\n\n".join(analysis.paragraphs()))
    elif table is not None:
        from empathylab.report.table_formats import table as formatted

        rows = _paper_rows(analysis, by)
        typer.echo(formatted(rows, table, caption=analysis.study.title), nl=False)
    else:
        _print(analysis, by)


def _track(tracker: Tracker, analysis: RatingsResult) -> None:
    """Logs the study's conclusions over all situations as one run."""
    from empathylab import __version__
    from empathylab.tracking import TrackedRun, metrics_of
    from empathylab.tracking import track as log

    settings = {"study": analysis.study.name, "reference": analysis.reference}
    if analysis.model is not None:
        settings |= {"model": analysis.model.name, "formula": analysis.model.formula or ""}
    metrics: dict[str, float] = {"ratings": float(analysis.ratings.height)}
    for conclusion in analysis.conclusions:
        if conclusion.subset == "all" and conclusion.estimate is not None:
            unit = conclusion.unit.replace(" ", "_").replace("-", "_")
            name = f"{conclusion.dimension}.{conclusion.subject}.{unit}"
            metrics |= metrics_of(name, conclusion.to_dict(), "estimate")
            metrics |= {} if conclusion.p is None else {f"{name}.p": conclusion.p}
    log(
        tracker,
        [TrackedRun(analysis.study.name, settings | {"empathylab": __version__}, metrics)],
    )


def _paper_rows(analysis: RatingsResult, by: str) -> list[dict[str, str]]:
    """The tests; of a study without counts or with one arm what else there is."""
    from empathylab.analysis.ratings.rows import comparison_table, count_table, mean_table

    named = len(analysis.dimensions) > 1
    tests = comparison_table(analysis.comparison, by, named=named)
    counts = [] if tests else count_table(analysis.comparison, by, named=named)
    others = [mean for mean in analysis.means if mean.dimension not in analysis.comparison.scales]
    return [*tests, *counts, *mean_table(others, by)]


def _rules(
    failed_attention: str | None,
    too_fast: float | None,
    inconsistent: int | None,
    *,
    straight_lining: bool,
) -> list[Rule]:
    from empathylab.analysis.ratings.raters import INCONSISTENCIES
    from empathylab.stats.raters.exclusions import (
        FailedAttention,
        Inconsistent,
        StraightLining,
        TooFast,
    )

    found: list[Rule] = []
    if failed_attention is not None:
        found.append(FailedAttention(column=failed_attention))
    if too_fast is not None:
        found.append(TooFast(seconds=too_fast))
    if straight_lining:
        found.append(StraightLining())
    if inconsistent is not None:
        found.append(Inconsistent(most=inconsistent, column=INCONSISTENCIES))
    return found


def _print(analysis: RatingsResult, by: str) -> None:
    from empathylab.analysis.ratings.mixed_models import coefficient_table, random_table
    from empathylab.analysis.ratings.rows import comparison_table, count_table, mean_table
    from empathylab.cli.tables import print_rows

    kinds = ("all", "valence", "emotion")
    shown = kinds[: kinds.index(by) + 1]
    named = len(analysis.dimensions) > 1
    several = len(analysis.arms) > 1
    against = f"arms against {analysis.reference}" if several else f"one arm, {analysis.reference}"
    typer.echo(f"{analysis.study.title}: {against}\n")
    for conclusion in analysis.conclusions:
        if conclusion.subset == "all":
            typer.echo(" ".join([f"- {conclusion}", *conclusion.caveats]))
    if analysis.apart:
        _print_collection(analysis)
        _print_raters(analysis)
    comparison = analysis.comparison
    varied = [mean for mean in analysis.means if not mean.constant]
    tables = {
        "counts": [row for kind in shown for row in count_table(comparison, kind, named=named)],
        "tests": [row for kind in shown for row in comparison_table(comparison, kind, named=named)],
        "means": [row for kind in shown for row in mean_table(varied, kind)],
    }
    for name, rows in tables.items():
        if rows:
            typer.echo()
            print_rows(rows, name, as_json=False)
    for model in analysis.models:
        typer.echo(f"\n{model.dimension}: {model.model.formula if model.model else model.problem}")
        if model.model is not None:
            print_rows(coefficient_table(model.model), "coefficients", as_json=False)
            rows = [row | _sd_interval(model, row["group"]) for row in random_table(model.model)]
            print_rows(rows, "random", as_json=False)
    if not analysis.apart:
        _print_raters(analysis)
    if analysis.bayes:
        typer.echo("\nBayesian models")
        for conclusion in analysis.bayes_conclusions:
            typer.echo(" ".join([f"- {conclusion}", *conclusion.caveats]))
    if analysis.multiverse is not None:
        _print_multiverse(analysis.multiverse)
    for sentence in _asides(analysis):
        typer.echo(sentence, err=True)


def _draw(multiverse: Multiverse, file: Path) -> None:
    from empathylab.errors import InputError
    from empathylab.report.pictures import svg
    from empathylab.report.ratings.specification_chart import specification_chart

    spec = specification_chart(multiverse)
    if spec is None:
        raise InputError("no specification could be estimated", remedy="Omit --chart.")
    try:
        file.write_text(svg(spec), encoding="utf-8")
    except OSError as error:
        raise InputError(
            "the chart cannot be written", where=str(file), got=error.strerror, remedy="Check it."
        ) from None


def _print_multiverse(multiverse: Multiverse) -> None:
    from empathylab.analysis.text.numbers import number, p_value, signed
    from empathylab.cli.tables import print_rows

    typer.echo("\nSpecifications")
    for sentence in multiverse.sentences():
        typer.echo(f"- {sentence}")
    rows = [
        {
            "dimension": specification.dimension,
            "arm": specification.arm,
            "outcome": specification.outcome,
            "method": specification.method,
            "clustering": specification.clustering,
            "excluded": specification.exclusions,
            "SDs": f"{signed(specification.estimate, 2)} [{number(specification.low, 2)}, "
            f"{number(specification.high, 2)}]",
            "p": p_value(specification.p),
        }
        for specification in multiverse.specifications
    ]
    print_rows(rows, "specifications", as_json=False)


def _sd_interval(model: DimensionModel, group: str) -> dict[str, str]:
    """The standard deviation's interval, where one was asked for."""
    from empathylab.analysis.text.numbers import number

    if model.bootstrap is None and not model.spread:
        return {}
    found = model.spread.get(group)
    if found is None and model.bootstrap is not None:
        found = model.bootstrap.intervals.get(f"sd({group})")  # type: ignore[assignment]
    cell = "–" if found is None else f"[{number(found.low, 3)}, {number(found.high, 3)}]"
    return {"sd interval": cell}


def _print_collection(analysis: RatingsResult) -> None:
    from empathylab.analysis.ratings.collection_periods import collection_table
    from empathylab.cli.tables import print_rows

    typer.echo("\nWhen were the arms rated?")
    print_rows(collection_table(analysis.collected), "collected", as_json=False)


def _print_raters(analysis: RatingsResult) -> None:
    from empathylab.analysis.ratings.rows import of_arm, rater_table
    from empathylab.cli.tables import print_rows

    compared = analysis.rater_comparison
    if compared is not None:
        typer.echo("\nAre the arms' raters alike?")
        headings = [of_arm(arm) for arm in compared.arms]
        print_rows(rater_table(compared), "raters", as_json=False, as_named=headings)


def _asides(analysis: RatingsResult) -> list[str]:
    from empathylab.analysis.ratings.prose import means_paragraph
    from empathylab.analysis.text.notes import note_text

    said = list(analysis.caveats)
    said += [means_paragraph(mean) for mean in analysis.means if mean.constant]
    several = len(analysis.dimensions) > 1
    said += [
        f"{model.dimension}: {note_text(note)}" if several else note_text(note)
        for model in analysis.models
        if model.model is not None
        for note in (*model.model.notes, *model.model.problems)
    ]
    said += analysis.exclusion_paragraphs()
    return list(dict.fromkeys(said))
