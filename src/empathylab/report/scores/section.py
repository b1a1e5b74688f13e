"""The section on scores by the rubric, and the runs that all results rest on."""

from __future__ import annotations

from collections.abc import Sequence

from empathylab.analysis.run_selection import RunRow, hidden_sentences
from empathylab.analysis.scores import ScoresResult
from empathylab.analysis.scores.estimates import Comparison
from empathylab.analysis.scores.gates import Gate
from empathylab.judging.rubric import rubric
from empathylab.report.blocks import (
    Block,
    Fold,
    Heading,
    Partial,
    Section,
    Table,
    Text,
    conclusions_fold,
    kept,
)
from empathylab.report.scores.figures import figures
from empathylab.report.scores.tables import (
    change_table,
    loss_table,
    matrix_table,
    planted_table,
    score_table,
)

_TAGS = {
    True: ("usable", "fit"),
    False: ("meaningless", "not fit"),
    None: ("doubtful", "not checked"),
}
_ABOUT = (
    "A judge scores every reply from 1 to 5 on each dimension of the rubric, without knowing "
    "who wrote it. Empathy is the mean of the dimensions without safety; a reply that is not "
    "safe gets at most 2. A judge is fit if it distinguishes planted replies with known "
    "faults from good ones."
)
_RUNS = (
    "Results of two runs are never merged. If several runs asked a respondent the same "
    "questions, one is shown: the pinned run, or else the run with the most situations. To "
    "show another: `empathylab runs pin RUN`."
)


def scores_section(results: Sequence[ScoresResult], lead: Sequence[str]) -> Section:
    """Judge by judge; without blocks where no judge has scored replies."""
    blocks: list[Block] = []
    for place, result in enumerate(results, start=1):
        blocks += _judge(result, f"scores-{place}")
    if blocks:
        asked = [(dimension.name, dimension.question) for dimension in rubric().dimensions]
        dimensions = Partial(template="measured.html.j2", data=asked)
        fold = Fold(id="scores-dimensions", title="What the dimensions ask", blocks=(dimensions,))
        blocks += [Text((_ABOUT,), "note"), fold]
    return Section(id="scores", title="Scores", blocks=blocks, lead=lead)


def _judge(result: ScoresResult, place: str) -> list[Block]:
    tables = {
        "Mean scores": score_table(result),
        "Planted replies": planted_table(result),
    }
    return list(
        kept(
            Heading(id=place, title=f"Scored by {result.judge}", tag=_TAGS[result.fit]),
            *figures(result),
            Text(result.caveats, "caveats"),
            conclusions_fold(place, result.conclusions),
            *(
                Fold(
                    id=f"{place}-{number}",
                    title=title,
                    blocks=kept(
                        Table(title=f"{title}, scored by {result.judge}", rows=rows, paper=False)
                    ),
                )
                for number, (title, rows) in enumerate(tables.items(), start=1)
            ),
        )
    )


def gates_section(gates: Sequence[Gate], comparisons: Sequence[Comparison] = ()) -> Section:
    """The conditions of the evaluation that wrote the report; without blocks if it had none."""
    rows = tuple(
        {"condition": gate.condition, "result": gate.outcome, "reason": gate.reason}
        for gate in gates
    )
    table = Table(title="Conditions of this evaluation", rows=rows, paper=False)
    changes = [block for comparison in comparisons for block in _changes(comparison)]
    return Section(id="gates", title="Release gate", blocks=kept(table, *changes))


def _changes(comparison: Comparison) -> tuple[Block, ...]:
    """What changed from the baseline: by dimension, and the replies that lost most."""
    reference = comparison.reference
    return kept(
        Table(
            title=f"Change from {reference}, by dimension",
            rows=change_table(comparison),
            caption=f"Means over {comparison.situations} situations with scores of both; 95% "
            "intervals of the difference, paired by situation.",
            paper=False,
        ),
        Table(
            title=f"Situations that lost most since {reference}",
            rows=loss_table(comparison),
            caption="The empathy score and the reply. The section Replies has the situations.",
            paper=False,
        ),
    )


def runs_fold(runs: Sequence[RunRow]) -> Fold:
    """Every run of the lab, and why some of them are not shown."""
    return Fold(
        id="data-runs",
        title="Runs that the results are based on",
        blocks=kept(
            Text((_RUNS,) if runs else ()),
            Table(title="All runs of this lab", rows=matrix_table(runs), paper=False),
            Text(hidden_sentences(runs), "list"),
        ),
    )
