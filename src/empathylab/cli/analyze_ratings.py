"""`empathylab analyze ratings`: the arms of a rated study compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption

if TYPE_CHECKING:
    from empathylab.report.ratings_analysis import RatingsAnalysis
    from empathylab.stats.exclusions import Rule

EXAMPLE = (
    "Example: `empathylab analyze ratings --reference human --by emotion` · "
    "`empathylab analyze ratings --words`"
)


def ratings(
    study: Annotated[
        str | None, typer.Option(help="The study; the only one there is, if not given.")
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(help="The arm the others are compared with; human, if there is such an arm."),
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
        float | None,
        typer.Option(help="The lowest rating that counts as good; the top one, if not given."),
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
            help="Also without raters whose questionnaire contradicts itself more often than this.",
            min=0,
        ),
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Also compare this about the raters; repeatable."),
    ] = None,
    words: Annotated[
        bool, typer.Option("--words", help="Print methods and results paragraphs, nothing else.")
    ] = False,
    table: Annotated[
        Literal["markdown", "latex", "csv"] | None,
        typer.Option(help="Print the comparison in this form, and nothing else."),
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Compares the arms of a rated study, overall, by valence and by emotion.

    The published test (good against other ratings, chi-square with Yates' correction), with
    effects, intervals and corrections; beside it what clustering leaves of it, an ordinal mixed
    model with crossed raters and situations, and whether the arms' raters are alike.
    """
    from empathylab.report.ratings_analysis import analyse_ratings
    from empathylab.store import Lab

    rules = _rules(too_fast, inconsistent, straight_lining=straight_lining)
    with Lab.open(lab, create=False) as opened:
        analysis = analyse_ratings(
            opened,
            study,
            reference=reference,
            good_from=good_from,
            rules=rules,
            compare=compare or (),
            only=only,
        )
    if json:
        import json as encoder

        from empathylab.report.ratings_document import ratings_document

        found = ratings_document(analysis)
        typer.echo(encoder.dumps(found, indent=2, ensure_ascii=False, allow_nan=False))
    elif words:
        from empathylab.report.ratings_document import paragraphs

        typer.echo("\n\n".join(paragraphs(analysis)))
    elif table is not None:
        from empathylab.report.ratings_rows import comparison_table
        from empathylab.report.table_formats import table as formatted

        rows = comparison_table(analysis.comparison, by)
        typer.echo(formatted(rows, table, caption=analysis.study.title), nl=False)
    else:
        _print(analysis, by)


def _rules(
    too_fast: float | None, inconsistent: int | None, *, straight_lining: bool
) -> list[Rule]:
    from empathylab.report.ratings_analysis import INCONSISTENCIES
    from empathylab.stats.exclusions import Inconsistent, StraightLining, TooFast

    found: list[Rule] = []
    if too_fast is not None:
        found.append(TooFast(seconds=too_fast))
    if straight_lining:
        found.append(StraightLining())
    if inconsistent is not None:
        found.append(Inconsistent(most=inconsistent, column=INCONSISTENCIES))
    return found


def _print(analysis: RatingsAnalysis, by: str) -> None:
    from empathylab.cli.tables import print_rows
    from empathylab.report.mixed_rows import coefficient_table, random_table
    from empathylab.report.ratings_rows import comparison_table, count_table, rater_table

    kinds = ("all", "valence", "emotion")
    shown = kinds[: kinds.index(by) + 1]
    typer.echo(f"{analysis.study.title}: arms against {analysis.reference}\n")
    counts = [row for kind in shown for row in count_table(analysis.comparison, kind)]
    print_rows(counts, "counts", as_json=False)
    tests = [row for kind in shown for row in comparison_table(analysis.comparison, kind)]
    if tests:
        typer.echo()
        print_rows(tests, "tests", as_json=False)
    for one in analysis.models:
        typer.echo(f"\n{one.dimension}: {one.model.formula if one.model else one.problem}")
        if one.model is not None:
            print_rows(coefficient_table(one.model), "coefficients", as_json=False)
            print_rows(random_table(one.model), "random", as_json=False)
    if analysis.rater_comparison is not None:
        typer.echo("\nAre the arms' raters alike?")
        rows = rater_table(analysis.rater_comparison)
        print_rows(rows, "raters", as_json=False, as_named=analysis.rater_comparison.arms)
    for sentence in _asides(analysis):
        typer.echo(sentence, err=True)


def _asides(analysis: RatingsAnalysis) -> list[str]:
    from empathylab.report.ratings_words import exclusions_paragraph, robustness_paragraph

    said = [
        sentence
        for one in analysis.models
        if one.model is not None
        for sentence in (*one.model.notes, *one.model.problems)
    ]
    if analysis.exclusions is not None:
        said.append(exclusions_paragraph(analysis.exclusions.exclusions))
        said.append(robustness_paragraph(analysis.exclusions))
    return list(dict.fromkeys(said))
