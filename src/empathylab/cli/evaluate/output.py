"""What an evaluation prints: as text, as JSON, as Markdown, and a JUnit file for CI systems."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from empathylab.cli.evaluate.measurement import Evaluated

if TYPE_CHECKING:
    from empathylab.analysis.scores.gates import Gate

NOT_SCORED = (
    "Replies were not scored. To score them, name a judge: empathylab evaluate … --judge "
    "PROVIDER/MODEL"
)


def print_text(found: Evaluated) -> None:
    """Tables, scores with the judge's card, caveats, gates, and where the report is."""
    from empathylab.cli.summary import print_summary

    lines = [*_scores(found), *map(_gate_line, found.gates)]
    print_summary(found.data, found.tallies, found.report, lines)


def print_markdown(found: Evaluated) -> None:
    """The same for a page of a CI system."""
    out = ["# EmpathyLab", ""]
    if found.gates:
        out += ["| condition | result |", "| --- | --- |"]
        out += [
            f"| {_cell(gate.condition)} | {'passed' if gate.passed else '**failed**'}: "
            f"{_cell(gate.reason)} |"
            for gate in found.gates
        ]
        out.append("")
    scored = [(result.judge, entry) for result in _results(found) for entry in result.respondents]
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
    out += [f"- {line}" for line in _scores(found)]
    out += [f"- {caution}" for caution in found.data.cautions(_names(found))]
    sys.stdout.write("\n".join(out) + "\n")


def json_content(found: Evaluated) -> dict[str, Any]:
    """The keys that an evaluation adds to the description of the lab."""
    return {
        "respondents": [_respondent(found, name) for name in _names(found)],
        "gates": [
            {
                "respondent": gate.respondent,
                "condition": gate.condition,
                "value": gate.value,
                "passed": gate.passed,
                "reason": gate.reason,
            }
            for gate in found.gates
        ],
    }


def write_junit(path: Path, gates: Sequence[Gate]) -> None:
    """One test case for each condition."""
    failed = sum(not gate.passed for gate in gates)
    counts = {"tests": str(len(gates)), "failures": str(failed), "errors": "0"}
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "empathylab", **counts})
    for gate in gates:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": gate.respondent, "name": gate.condition, "time": "0"}
        )
        if not gate.passed:
            failure = ElementTree.SubElement(case, "failure", {"message": gate.reason})
            failure.text = str(gate)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode", xml_declaration=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def _names(found: Evaluated) -> list[str]:
    return [one.respondent for one in found.measured]


def _results(found: Evaluated) -> list[Any]:
    return [result for result in found.scores.values() if result.respondents]


def _scores(found: Evaluated) -> list[str]:
    if not found.scores:
        return [NOT_SCORED]
    lines = [str(one) for result in found.scores.values() for one in result.conclusions]
    unscored = [name for name, result in found.scores.items() if not result.respondents]
    lines += [f"{name}: the judge gave no reply a full set of scores." for name in unscored]
    caveats = [caveat for result in found.scores.values() for caveat in result.caveats]
    return [*dict.fromkeys([*lines, *caveats])]


def _gate_line(gate: Gate) -> str:
    return f"Gate {gate}"


def _respondent(found: Evaluated, name: str) -> dict[str, Any]:
    """One respondent: its replies with their scores, its scales, and how its answers turned out."""
    measured = next(one for one in found.measured if one.respondent == name)
    result = found.scores.get(name)
    scored = [] if result is None else list(result.respondents)
    content = found.data.to_dict()
    lengths = next((row for row in content["replies"] if row["respondent"] == name), None)
    outcomes: dict[str, int] = {}
    for tally in found.tallies:
        if tally.model == name:
            for outcome, count in tally.outcomes.items():
                outcomes[outcome] = outcomes.get(outcome, 0) + count
    return {
        "respondent": name,
        "replies": {
            "n": lengths["asked"] if lengths else 0,
            "usable": lengths["replies"] if lengths else 0,
            "scored": sum(one.n for one in scored),
            "scores": _score_table(scored[0]) if len(scored) == 1 else {},
            "runs": [{"run": one.run, "n": one.n, "scores": _score_table(one)} for one in scored],
            "judge": None if result is None else result.judge,
            "judge_card": None if result is None else result.judge_card(),
        },
        "scales": [row for row in content["changes"] if row["respondent"] == name],
        "outcomes": outcomes,
        "requests": measured.requests,
        "usable": measured.usable,
    }


def _score_table(scores: Any) -> dict[str, dict[str, float | None]]:
    return {
        score.dimension: {
            "mean": score.mean,
            "low": None if score.low != score.low else score.low,
            "high": None if score.high != score.high else score.high,
        }
        for score in scores.scores
    }


def _value(value: float | None) -> str:
    from empathylab.analysis.text.numbers import number

    return number(value, 2)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
