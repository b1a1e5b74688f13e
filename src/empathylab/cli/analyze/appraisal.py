"""`empathylab analyze appraisal`: scales after situations against rest, and against people's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption

if TYPE_CHECKING:
    from empathylab.analysis.appraisal.analysis import AppraisalAnalysis
    from empathylab.errors import InputError
    from empathylab.store import Lab

EXAMPLE = "Example: `empathylab analyze appraisal --respondent human --level factor`"


def appraisal(
    respondent: Annotated[str | None, typer.Option(help="Only this respondent.")] = None,
    scale: Annotated[str | None, typer.Option(help="Only this scale.")] = None,
    level: Annotated[
        Literal["overall", "emotion", "factor"],
        typer.Option(help="How fine the printed table is; JSON holds all levels."),
    ] = "emotion",
    alpha: Annotated[
        float, typer.Option(help="Of the F test and of the direction.", min=0.0, max=1.0)
    ] = 0.01,
    everybody: Annotated[
        bool,
        typer.Option("--everybody", help="Leave out nobody, whatever the studies' own rules say."),
    ] = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Compares scales after situations with rest, and the change with people's.

    The published procedure (F test, then Student's or Welch's t test; paired for people), with
    effect sizes, corrected p values and a test that treats administrations as clustered by
    situation. Exclusion rules of a study's file are applied to the people that it measured, in a
    second look beside everybody.
    """
    import dataclasses

    from empathylab.analysis.appraisal.analysis import analysis_of, narrowed
    from empathylab.analysis.appraisal.exclusions import (
        exclusion_document,
        exclusion_sentences,
        second_look,
    )
    from empathylab.analysis.appraisal.rows import (
        alignment_rows,
        change_rows,
        counterpart_rows,
        invalid_rows,
        validity_rows,
    )
    from empathylab.analysis.appraisal.self_reports import reports_of
    from empathylab.store import Lab
    from empathylab.store.administrations import read_appraisals

    with Lab.open(lab, create=False) as opened:
        read = read_appraisals(opened)
        analysis = analysis_of(read, alpha=alpha)
        if not analysis.changes:
            raise _nothing_answered(opened)
        reports = reports_of(opened, read)
        look = None if everybody else second_look(opened, read, alpha=alpha)
    scale = _known(analysis, respondent, scale)
    analysis = narrowed(analysis, respondent, scale)
    if look is not None and look.kept is not None:
        look = dataclasses.replace(look, kept=narrowed(look.kept, respondent, scale))
    kept = {(one.respondent, one.scale) for one in analysis.changes}
    reports = [one for one in reports if (one.respondent, one.scale) in kept]
    if json:
        import json as encoder

        found = {
            "alpha": alpha,
            "rows": change_rows(analysis),
            "counterparts": counterpart_rows(analysis),
            "alignment": alignment_rows(analysis),
            "validity": validity_rows(reports),
            "invalid": invalid_rows(analysis),
            "exclusions": exclusion_document(look),
        }
        typer.echo(encoder.dumps(found, indent=2, ensure_ascii=False, allow_nan=False))
        return
    _print(analysis, level)
    for report in reports:
        reasons = " ".join(report.validity.reasons)
        verdict = f"{report.respondent}, {report.scale}: {report.validity.verdict}. {reasons}"
        typer.echo(verdict.strip())
    for sentence in exclusion_sentences(look):
        typer.echo(sentence, err=True)
    if look is not None and look.kept is not None:
        _print_kept(look.kept, level)


def _print_kept(kept: AppraisalAnalysis, level: str) -> None:
    """People's table again, and the distances from them, without those whom the rules leave out.

    Nothing of a scale that only they have answered.
    """
    if kept.summaries or any(one.respondent == "human" for one in kept.changes):
        typer.echo("\nWithout those whom the studies' rules leave out")
        _print(kept, level, only="human")


def _nothing_answered(lab: Lab) -> InputError:
    from empathylab.errors import InputError
    from empathylab.store.ratings import lab_studies
    from empathylab.study.admin.embargo import is_running

    running = [one.name for one in lab_studies(lab).values() if is_running(one)]
    closing = f", or close the study first ({', '.join(running)})" if running else ""
    return InputError(
        "the lab holds no scale that was answered after a situation",
        remedy="Run `empathylab appraise MODEL` or `empathylab data import emotionbench PATH`"
        f"{closing}.",
    )


def _known(analysis: AppraisalAnalysis, respondent: str | None, scale: str | None) -> str | None:
    """The scale's id; both must be among what was analysed."""
    from empathylab.errors import UnknownName
    from empathylab.scales import find_scale

    respondents = {one.respondent for one in analysis.changes}
    scales = {one.scale for one in analysis.changes}
    if respondent is not None and respondent not in respondents:
        raise UnknownName("respondent", respondent, respondents)
    if scale is None:
        return None
    found = find_scale(scale, analysis.scales)
    if found is None or found.id not in scales:
        raise UnknownName("scale", scale, scales)
    return found.id


def _print(analysis: AppraisalAnalysis, level: str, *, only: str | None = None) -> None:
    """The tables, all or of one respondent, and how far everybody is from people."""
    from empathylab.analysis.appraisal.rows import change_rows, invalid_rows
    from empathylab.analysis.text.numbers import number
    from empathylab.cli.tables import print_rows

    levels = ("overall", "emotion", "factor")
    shown = levels[: levels.index(level) + 1]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in change_rows(analysis):
        if row["level"] in shown and only in (None, row["respondent"]):
            groups.setdefault((row["respondent"], row["scale"]), []).append(_printed(row))
    for (respondent, scale), rows in groups.items():
        typer.echo(f"{respondent}, {scale}")
        print_rows(rows, "rows", as_json=False)
        typer.echo()
    for one in analysis.summaries:
        typer.echo(
            f"{one.respondent}, {one.scale}: {number(one.distance, 2)} from people "
            f"({number(one.low, 2)} to {number(one.high, 2)}; 1 = the SD of people's changes)"
        )
    for lost in invalid_rows(analysis):
        typer.echo(
            f"{lost['respondent']}, {lost['scale']}, {lost['phase']}: {lost['count']} could not be "
            f"used: {lost['reason'] or lost['outcome']}",
            err=True,
        )


def _printed(row: dict[str, Any]) -> dict[str, Any]:
    from empathylab.analysis.text.numbers import number, signed

    return {
        "subscale": row["subscale"],
        "after": row["factor"] or row["label"],
        "n": row["n"],
        "rest": number(row["default_mean"]),
        "mean": number(row["mean"]),
        "change": signed(row["delta"]) if row["delta"] is not None else "–",
        "": {"up": "↑", "down": "↓", "none": "–"}[row["direction"]],
        "test": row["test"],
        "t": number(row["statistic"], 2),
        "p Holm": _p(row["p_holm"]),
        "p clustered": _p(row["cluster_p"]),
        "effect": number(row["effect_size"], 2),
    }


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
