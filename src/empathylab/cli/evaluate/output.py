"""What an evaluation prints: as text, as JSON or as Markdown."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from empathylab.cli.evaluate.output_options import OutputOptions
from empathylab.cli.tables import print_json

if TYPE_CHECKING:
    from empathylab.analysis.scores.estimates import Comparison
    from empathylab.analysis.scores.gates import Gate
    from empathylab.api.evaluation.result import Evaluation


def show(evaluation: Evaluation, output: OutputOptions) -> None:
    """Prints the results and writes the JUnit file."""
    from empathylab.api.run_summary import print_parts

    if output.as_json:
        print_json(evaluation)
    elif output.summary == "md":
        print_markdown(evaluation)
    else:
        print_parts(evaluation.summary_parts())
    output.junit.gates = evaluation.gates
    problem = evaluation.asked.problem()
    output.junit.write(None if problem is None else str(problem))


def print_markdown(evaluation: Evaluation) -> None:
    """The results for a page of a CI system."""
    out = ["# EmpathyLab", ""]
    if evaluation.gates:
        out += ["| condition | result |", "| --- | --- |"]
        out += [
            f"| {_cell(gate.condition)} | {_outcome(gate)}: {_cell(gate.reason)} |"
            for gate in evaluation.gates
        ]
        out.append("")
    results = evaluation.scores.values()
    scored = [(result.judge, entry) for result in results for entry in result.respondents]
    if scored:
        names = [score.dimension for score in scored[0][1].scores]
        out += [
            f"| respondent | run | judge | n | {' | '.join(names)} |",
            f"| --- | ---: | --- | ---: {'| ---: ' * len(names)}|",
        ]
        out += [
            f"| {_cell(entry.respondent)} | {entry.run} | {_cell(judge)} | {entry.n} | "
            f"{' | '.join(_value(score.mean) for score in entry.scores)} |"
            for judge, entry in scored
        ]
        out.append("")
    for comparison in evaluation.comparisons:
        out += _changes(comparison)
    out += [f"- {line}" for line in evaluation.score_lines()]
    out += [f"- {caution}" for caution in evaluation.overview.cautions(evaluation.sessions.models)]
    sys.stdout.write("\n".join(out) + "\n")


def _changes(comparison: Comparison) -> list[str]:
    """What changed from the baseline: by dimension, and the replies that lost most."""
    from empathylab.analysis.text.numbers import signed

    changes, reference = comparison.dimensions, _cell(comparison.reference)
    rows = [
        ("mean", *(change.dimension for change in changes)),
        ("---", *("---:" for _ in changes)),
        (reference, *(_value(change.baseline) for change in changes)),
        (f"run {comparison.run}", *(_value(change.mean) for change in changes)),
        ("difference", *(signed(change.difference, 2) for change in changes)),
    ]
    out = [f"## Change from {reference}", "", *map(_row, rows), ""]
    if comparison.losses:
        names = (reference, f"run {comparison.run}")
        replies = (f"reply of {names[0]}", f"reply of {names[1]}")
        out += ["Situations that lost most:", ""]
        out += [_row(("situation", *names, *replies)), _row(("---", "---:", "---:", "---", "---"))]
        out += [
            _row(
                (
                    loss.situation,
                    *(_value(loss.baseline), _value(loss.score)),
                    *(_cell(loss.baseline_reply), _cell(loss.reply)),
                )
            )
            for loss in comparison.losses
        ]
        out.append("")
    return out


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _outcome(gate: Gate) -> str:
    return gate.outcome if gate.passed else f"**{gate.outcome}**"


def _value(value: float | None) -> str:
    from empathylab.analysis.text.numbers import number

    return number(value, 2)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
