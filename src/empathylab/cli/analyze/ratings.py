"""`empathylab analyze ratings`: the arms of a rated study, or of a table of ratings, compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.cli.actor import operator
from empathylab.cli.examples import examples
from empathylab.cli.options import (
    DEFAULT_LAB,
    EngineOption,
    JsonOption,
    LabOption,
    PeekOption,
    StudyOption,
    TableFormat,
    TrackOption,
    WordsOption,
    WorkersOption,
    argument,
    column_option,
    option,
    scale_points,
    table_option,
)
from empathylab.cli.tables import note_semicolons, print_formatted, print_json, print_notes
from empathylab.columns import on_scale
from empathylab.errors import InputError
from empathylab.tables import read_table, renamed

if TYPE_CHECKING:
    from empathylab.analysis.ratings import RatingsResult
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
        "empathylab analyze ratings mine.csv --rater annotator --situation post --arm system",
        "compares the arms of a table of your own, without a lab.",
    ),
    (
        "empathylab analyze ratings --words",
        "prints methods and results for a paper.",
    ),
)


def ratings(
    file: Annotated[
        Path | None,
        argument(
            "A long table (CSV, TSV, JSONL or Parquet): one rating per row, with the columns "
            "rater, situation, arm and rating. Without it, the study in the lab is analysed.",
            metavar="FILE",
        ),
    ] = None,
    study: StudyOption = None,
    reference: Annotated[
        str | None,
        option(
            "The arm the others are compared with. Default: the arm with replies by people, else "
            "the first of the study."
        ),
    ] = None,
    by: Annotated[
        Literal["all", "valence", "emotion"] | None,
        option(
            "Level of the printed tables. JSON includes all levels. Default: valence; with "
            "--table all."
        ),
    ] = None,
    only: Annotated[
        str | None, option("Only the situations of this set or sample.", metavar="SET")
    ] = None,
    good_from: Annotated[
        list[str] | None,
        option(
            "The lowest rating that counts as good. Default: the top point; continuous scales are "
            "then compared by means. Repeatable, once per dimension.",
            metavar="[DIMENSION=]NUMBER",
        ),
    ] = None,
    margin: Annotated[
        list[str] | None,
        option(
            "The smallest difference that matters: arms that differ by less are equivalent. In "
            "points for continuous scales and scales with five or more points, otherwise in "
            "percentage points of good ratings. Repeatable, once per dimension.",
            metavar="[DIMENSION=]NUMBER",
        ),
    ] = None,
    failed_attention: Annotated[
        str | None,
        column_option(
            "Repeat the analysis without raters who failed an attention check, according to this "
            "column."
        ),
    ] = None,
    too_fast: Annotated[
        float | None,
        option(
            "Repeat the analysis without raters who took less time than this.",
            metavar="SECONDS",
            min=0,
        ),
    ] = None,
    straight_lining: Annotated[
        bool,
        option(
            "Repeat the analysis without raters who always gave the same rating.",
            "--straight-lining",
        ),
    ] = False,
    inconsistent: Annotated[
        int | None,
        option(
            "Repeat the analysis without raters whose questionnaire has more contradictions than "
            "this.",
            metavar="COUNT",
            min=0,
        ),
    ] = None,
    everybody: Annotated[
        bool, option("Ignore the study's exclusion rules.", "--everybody")
    ] = False,
    compare: Annotated[
        list[str] | None, column_option("Also compare raters by this column; repeatable.")
    ] = None,
    bootstrap: Annotated[
        int,
        option(
            "Also compute intervals from this many studies simulated from the mixed model. The lab "
            "stores them: run a stopped command again to resume.",
            metavar="COUNT",
            min=0,
        ),
    ] = 0,
    sd_intervals: Annotated[
        bool,
        option(
            "Also compute profile intervals of the variation between raters and between "
            "situations.",
            "--sd-intervals",
        ),
    ] = False,
    multiverse: Annotated[
        bool,
        option(
            "Also repeat the comparison under every reasonable choice of threshold, link, "
            "exclusions and clustering.",
            "--multiverse",
        ),
    ] = False,
    bayes: Annotated[
        bool,
        option(
            "Also compute the posterior of each ordinal model, with stated and varied priors. "
            "Takes minutes. Needs empathylab[bayes].",
            "--bayes",
        ),
    ] = False,
    chart: Annotated[
        Path | None, option("With --multiverse: draw the specification curve.", metavar="FILE.svg")
    ] = None,
    words: WordsOption = False,
    table: Annotated[
        TableFormat | None, table_option("the conclusions, or with --by the published tests")
    ] = None,
    engine: EngineOption = None,
    workers: WorkersOption = None,
    track: TrackOption = None,
    peek: PeekOption = None,
    rater: Annotated[str, column_option("The column of FILE with the rater.")] = "rater",
    situation: Annotated[
        str, column_option("The column of FILE with the situation.")
    ] = "situation",
    arm: Annotated[
        str, column_option("The column of FILE with what is compared, such as the model.")
    ] = "arm",
    rating: Annotated[str, column_option("The column of FILE with the rating.")] = "rating",
    levels: Annotated[
        str | None,
        option(
            "The points of the scale in FILE, lowest first; other ratings are errors. Needed if "
            "ratings are words other than Bad, Okay and Good.",
            metavar="A,B,…",
        ),
    ] = None,
    missing: Annotated[
        list[str] | None,
        option(
            "A code in FILE for a missing rating, such as 'k. A.' or 99; repeatable. Empty cells, "
            "NA and n/a always count as missing.",
            metavar="CODE",
        ),
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Compares the arms of a rated study or table, overall, by valence and by emotion.

    Prints conclusions first: which arm was rated higher, which arms are equivalent, what is
    inconclusive. They come from the mixed model that fits the study's design. Below them are the
    published test (good against other ratings, chi-square with Yates' correction), the test
    clustered by rater, means of scales with five or more points, and whether the arms' raters are
    similar. Exclusion rules, from the study file or from options, are applied in a second analysis.
    """
    from empathylab.analysis.ratings.methods_prose import compared_text
    from empathylab.analysis.ratings.scales import by_dimension
    from empathylab.api.progress import counts
    from empathylab.cli.analyze.ratings_output import draw_specifications, paper_rows, print_ratings
    from empathylab.compute import choose

    choose(engine, workers)
    rules = _rules(failed_attention, too_fast, inconsistent, straight_lining=straight_lining)
    with counts("simulated studies") as progress:
        options: dict[str, Any] = {
            "reference": reference,
            "good_from": by_dimension(good_from, "--good-from"),
            "margin": by_dimension(margin, "--margin"),
            "rules": rules if rules or everybody else None,
            "compare": compare or (),
            "bootstrap": bootstrap,
            "spread": sd_intervals,
            "specifications": multiverse or chart is not None,
            "bayes": bayes,
            "progress": progress,
        }
        of_lab = {"--study": study, "--only": only, "--peek": peek}
        if file is None:
            if levels is not None:
                _refuse_levels(levels)
            if missing:
                raise InputError("a lab has no codes", got="--missing", remedy="Remove --missing.")
            analysis = _of_lab(lab, of_lab, options)
        else:
            columns = {"rater": rater, "situation": situation, "arm": arm, "rating": rating}
            options["levels"] = [word.strip() for word in (levels or "").split(",") if word.strip()]
            analysis = _of_file(file, of_lab, columns, missing or [], options)
    if track is not None:
        _track(track, analysis)
    if chart is not None and analysis.multiverse is not None:
        draw_specifications(analysis.multiverse, chart)
    if words or table is not None:
        print_notes(analysis.doubtful_entries)
    if json:
        print_json(analysis.to_dict())
    elif words:
        typer.echo("\n\n".join(analysis.paragraphs()))
    elif table is not None:
        rows = paper_rows(analysis, by)
        against = compared_text(analysis.reference_arm, analysis.arms)
        print_formatted(
            rows,
            table,
            caption=f"{analysis.study.title}: {against}",
        )
    else:
        print_ratings(analysis, by or "valence")


def _refuse_levels(levels: str) -> None:
    raise InputError(
        "the study in the lab already names the points of its scales",
        got=f"--levels {levels}",
        remedy="Remove --levels, or name a file.",
    )


def _of_lab(folder: Path, given: dict[str, str | None], options: dict[str, Any]) -> RatingsResult:
    from empathylab.analysis.ratings import from_lab
    from empathylab.store import Lab

    with Lab.open_to_analyse(folder) as lab:
        return from_lab(
            lab,
            given["--study"],
            only=given["--only"],
            peek=given["--peek"],
            who=operator(),
            **options,
        )


def _of_file(
    file: Path,
    of_lab: dict[str, str | None],
    columns: dict[str, str],
    missing: list[str],
    options: dict[str, Any],
) -> RatingsResult:
    import polars as pl

    from empathylab.analysis.ratings import from_table

    for name, value in of_lab.items():
        if value is not None:
            raise InputError(
                "a table has no study", got=f"{name} {value}", remedy=f"Remove {name}."
            )
    table = read_table(file)
    note_semicolons(file)
    renamed(table, columns, where=file.name, options=True)
    if missing:
        given = pl.col(columns["rating"])
        coded = given.cast(pl.String).str.strip_chars().is_in(missing)
        table = table.with_columns(pl.when(~coded).then(given))
    frame = renamed(table, columns, where=file.name, options=True)
    points = scale_points(",".join(options["levels"]))
    if points:
        values = on_scale(table, columns["rating"], points, where=file.name)
        frame = frame.with_columns(values.alias("rating"))
    if "dimension" not in frame.columns:
        frame = frame.with_columns(pl.lit(columns["rating"]).alias("dimension"))
    try:
        return from_table(frame, **options)
    except InputError as error:
        error.where = error.where or file.name
        error.what = error.what.replace("'rating' must", f"{columns['rating']!r} must")
        raise


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

    rules: list[Rule] = []
    if failed_attention is not None:
        rules.append(FailedAttention(column=failed_attention))
    if too_fast is not None:
        rules.append(TooFast(seconds=too_fast))
    if straight_lining:
        rules.append(StraightLining())
    if inconsistent is not None:
        rules.append(Inconsistent(most=inconsistent, column=INCONSISTENCIES))
    return rules
