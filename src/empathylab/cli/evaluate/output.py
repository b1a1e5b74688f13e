"""What an evaluation prints: as text, as JSON, as Markdown, and a JUnit file for CI systems."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from empathylab.cli.evaluate.shown import Shown
from empathylab.cli.tables import print_json

if TYPE_CHECKING:
    from empathylab.analysis.scores.gates import Gate
    from empathylab.api.evaluation.result import Evaluation


def show(evaluation: Evaluation, shown: Shown) -> None:
    """Prints the results and writes the JUnit file."""
    from empathylab.api.run_summary import print_parts

    if shown.as_json:
        print_json(evaluation)
    elif shown.summary == "md":
        print_markdown(evaluation)
    else:
        print_parts(evaluation.summary_parts())
    if shown.junit is not None:
        write_junit(shown.junit, evaluation.gates)


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
    out += [f"- {line}" for line in evaluation.score_lines()]
    out += [f"- {caution}" for caution in evaluation.overview.cautions(evaluation.sessions.models)]
    sys.stdout.write("\n".join(out) + "\n")


def _outcome(gate: Gate) -> str:
    if not gate.passed:
        return "**failed**"
    return "passed" if gate.checked else "not checked"


def write_junit(path: Path, gates: Sequence[Gate]) -> None:
    """One test case for each condition."""
    from empathylab.report.writing import write_whole

    failed = sum(not gate.passed for gate in gates)
    skipped = sum(not gate.checked for gate in gates)
    counts = {"tests": str(len(gates)), "failures": str(failed), "errors": "0"}
    counts["skipped"] = str(skipped)
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "empathylab", **counts})
    for gate in gates:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": gate.respondent, "name": gate.condition, "time": "0"}
        )
        if not gate.passed:
            failure = ElementTree.SubElement(case, "failure", {"message": gate.reason})
            failure.text = str(gate)
        elif not gate.checked:
            ElementTree.SubElement(case, "skipped", {"message": gate.reason})
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode", xml_declaration=True)
    write_whole(path, text + "\n")


def _value(value: float | None) -> str:
    from empathylab.analysis.text.numbers import number

    return number(value, 2)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
