"""The part of the report on scores by the rubric, and the matrix of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from empathylab.analysis.run_selection import RunRow
from empathylab.analysis.scores import ScoresResult
from empathylab.judging.rubric import rubric
from empathylab.report.appraisal.section import Figure
from empathylab.report.scores.charts import score_chart
from empathylab.report.scores.tables import Rows, matrix_table, planted_table, score_table

_TAGS = {
    True: ("usable", "fit"),
    False: ("meaningless", "not fit"),
    None: ("doubtful", "not tried"),
}


@dataclass(frozen=True, slots=True)
class JudgeScores:
    """What one judge says of the replies."""

    id: str
    judge: str
    tag: tuple[str, str]
    """The class and the word of its label."""
    sentences: tuple[str, ...]
    caveats: tuple[str, ...]
    rows: Rows
    planted: Rows
    figure: Figure | None


@dataclass(frozen=True, slots=True)
class ScoresSection:
    """What the page shows of scores by the rubric, and of the runs."""

    judges: tuple[JudgeScores, ...]
    dimensions: tuple[tuple[str, str], ...]
    """By name, what each dimension asks."""
    runs: Rows
    reasons: tuple[str, ...]
    """Why some runs are not shown."""
    specs: tuple[dict[str, Any], ...]

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The charts of all judges."""
        return tuple(judge.figure for judge in self.judges if judge.figure is not None)


def scores_section(results: Sequence[ScoresResult], runs: Sequence[RunRow]) -> ScoresSection:
    """The section; empty where no judge has scored replies and the lab holds no runs."""
    specs: list[dict[str, Any]] = []
    ordered = sorted(results, key=lambda result: not result.fit)
    judges = tuple(_judge(result, place, specs) for place, result in enumerate(ordered, start=1))
    asked = tuple((one.name, one.question) for one in rubric().dimensions)
    reasons = tuple(run.reason for run in runs if run.reason)
    return ScoresSection(judges, asked if judges else (), matrix_table(runs), reasons, tuple(specs))


def _judge(result: ScoresResult, place: int, specs: list[dict[str, Any]]) -> JudgeScores:
    spec = score_chart(result)
    figure = None
    if spec is not None:
        figure = Figure("scores", f"Mean scores of replies, scored by {result.judge}", len(specs))
        specs.append(spec)
    return JudgeScores(
        id=f"scores-{place}",
        judge=result.judge,
        tag=_TAGS[result.fit],
        sentences=tuple(str(conclusion) for conclusion in result.conclusions),
        caveats=result.caveats,
        rows=score_table(result),
        planted=planted_table(result),
        figure=figure,
    )
