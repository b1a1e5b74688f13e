"""`empathylab runs`: what was asked of models, and what they answered."""

from __future__ import annotations

import json as encoder
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.tables import print_json, print_notes, show, show_rows
from empathylab.errors import InputError
from empathylab.files import write_new

if TYPE_CHECKING:
    from empathylab.store import Lab

app = typer.Typer(
    epilog="Example: `empathylab runs list`",
    no_args_is_help=True,
    help="Lists, shows and compares runs: what models were asked and what they answered.",
)

_COLUMNS = ("run", "name", "respondent", "protocol", "instrument", "planned", "answered", "cost")

_RunArgument = Annotated[str, argument("The run's number or name.", metavar="RUN")]


@app.command("list", epilog="Example: `empathylab runs list`")
def list_runs(lab: LabOption = DEFAULT_LAB, json: JsonOption = False) -> None:
    """Lists all runs, and says which of several similar runs the report shows.

    If several runs asked a respondent the same questions, the report shows the pinned run, or else
    the run with the most situations.
    """
    from empathylab.analysis.run_selection import hidden_sentences, run_label, run_matrix
    from empathylab.store import Lab, runs_frame

    with Lab.open(lab, create=False) as opened:
        frame = runs_frame(opened)
    matrix = {row.run: row for row in run_matrix(frame)}
    rows = [
        _row(run)
        | {
            "how": run_label(encoder.loads(run["settings"])),
            "pinned": matrix[run["run"]].pinned,
            "shown": matrix[run["run"]].shown,
            "last_answer": _day(run["last_answer_at"]),
        }
        for run in frame.sort("run").iter_rows(named=True)
    ]
    show_rows(rows, "runs", as_json=json)
    if not json:
        if not rows:
            print_notes(["The lab has no runs yet. Ask a model: empathylab evaluate MODEL"])
        for sentence in hidden_sentences(matrix.values()):
            typer.echo(sentence)


@app.command("show", epilog="Example: `empathylab runs show 3 --answers 5 --reasoning`")
def show_run(
    run: _RunArgument,
    answers: Annotated[
        int, option("How many answers to show, in the order of their keys.", min=0)
    ] = 0,
    reasoning: Annotated[
        bool, option("Also show the model's reasoning before each answer.", "--reasoning")
    ] = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Shows a run: its settings, the outcomes of its answers, and some of the answers."""
    from empathylab.store import Lab
    from empathylab.store.run_labels import find_run

    with Lab.open(lab, create=False) as opened:
        number = find_run(opened, run)
        if answers:
            _require_shown(opened, number)
        content = _content(opened, number)
        shown = _answers(opened, number, answers, reasoning=reasoning)
    if json:
        print_json(content | {"answers": shown})
        return
    for name, value in content.items():
        written = value if isinstance(value, str | int | float) else encoder.dumps(value)
        typer.echo(f"{name}: {written}")
    for answer in shown:
        typer.echo(f"\n{answer['key']}: {answer['outcome']}")
        if answer.get("reasoning"):
            typer.echo(f"[reasoning, {answer['reasoning_tokens']} tokens] {answer['reasoning']}")
        typer.echo(answer["text"])


@app.command("name", epilog="Example: `empathylab runs name 4 release-1`")
def name(
    run: _RunArgument,
    name: Annotated[str | None, argument("The new name.")] = None,
    remove: Annotated[bool, option("Remove its name.", "--remove")] = False,
    move: Annotated[bool, option("Take the name from the run that has it.", "--move")] = False,
    lab: LabOption = DEFAULT_LAB,
) -> None:
    """Gives a run a name, so that `evaluate --baseline` and these commands find it."""
    from empathylab.store import Lab
    from empathylab.store.run_labels import name_run

    if (name is None) != remove:
        raise InputError(
            "give a name or --remove", where="runs name", remedy="Write: runs name 4 release-1"
        )
    with Lab.open(lab, create=False) as opened:
        number = name_run(opened, run, name, move=move)
    typer.echo(
        f"Run {number} no longer has a name." if remove else f"Run {number} is called {name}."
    )


@app.command("pin", epilog="Example: `empathylab runs pin release-1`")
def pin(
    run: _RunArgument,
    remove: Annotated[bool, option("Unpin it.", "--remove")] = False,
    lab: LabOption = DEFAULT_LAB,
) -> None:
    """Makes the report show this run, not others with the same questions to the respondent."""
    from empathylab.store import Lab
    from empathylab.store.run_labels import pin_run

    with Lab.open(lab, create=False) as opened:
        number = pin_run(opened, run, pinned=not remove)
    typer.echo(f"Run {number} is {'no longer pinned' if remove else 'pinned'}.")


@app.command("delete", epilog="Example: `empathylab runs delete 7 --yes`")
def delete(
    run: _RunArgument,
    yes: Annotated[bool, option("Do not ask for confirmation.", "--yes")] = False,
    lab: LabOption = DEFAULT_LAB,
) -> None:
    """Deletes a run with its answers, unless it is named, pinned or rated."""
    from empathylab.store import Lab
    from empathylab.store.run_labels import delete_run, find_run

    with Lab.open(lab, create=False) as opened:
        number = find_run(opened, run)
        content = _content(opened, number)
        if not yes:
            what = f"{content['protocol']} of {content['respondent']}"
            asked = f"Delete run {number} ({what}) with {content['answered']} answers?"
            typer.confirm(asked, abort=True, err=True)
        delete_run(opened, str(number))
    typer.echo(f"Run {number} is deleted.")


@app.command("compare", epilog="Example: `empathylab runs compare release-1 9`")
def compare(
    first: _RunArgument,
    second: _RunArgument,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Compares two runs on the situations that both have, and lists their other differences."""
    from empathylab.analysis.run_comparison import compare_runs
    from empathylab.store import Lab
    from empathylab.store.run_labels import find_run

    with Lab.open(lab, create=False) as opened:
        result = compare_runs(opened, find_run(opened, first), find_run(opened, second))
    show(result, lambda comparison: typer.echo(comparison.summary()), as_json=json)


@app.command("export", epilog="Example: `empathylab runs export 4 answers.jsonl`")
def export(
    run: _RunArgument,
    file: Annotated[Path, argument("A new JSONL file: one answer per line.")],
    lab: LabOption = DEFAULT_LAB,
) -> None:
    """Writes a run's questions and answers to a file."""
    from sqlalchemy import select

    from empathylab.store import Lab
    from empathylab.store.run_labels import find_run
    from empathylab.store.schema import answers

    columns = [column for column in answers.c if column.name not in ("id", "fingerprint")]
    with Lab.open(lab, create=False) as opened:
        number = find_run(opened, run)
        _require_shown(opened, number)
        query = select(*columns).where(answers.c.run_id == number).order_by(answers.c.key)
        with opened.reading() as connection:
            rows = [dict(row._mapping) for row in connection.execute(query)]
    lines = [encoder.dumps(row, default=str, ensure_ascii=False) for row in rows]
    write_new(file, "".join(f"{line}\n" for line in lines))
    typer.echo(f"{file}: {len(rows)} answers of run {number}")


def _require_shown(lab: Lab, run: int) -> None:
    from empathylab.store.studies.embargo import judges_open_study

    with lab.reading() as connection:
        hidden = judges_open_study(connection, run)
    if hidden:
        raise InputError(
            "the answers of this judge are hidden, because a study that is still open shows the "
            "replies",
            where=f"run {run}",
            remedy="Close the study first.",
        )


def _content(lab: Lab, run: int) -> dict[str, Any]:
    from empathylab.store import runs_frame
    from empathylab.store.queries import outcomes_frame

    row = runs_frame(lab).filter(run=run).row(0, named=True)
    outcomes = outcomes_frame(lab).filter(run=run).iter_rows(named=True)
    counts: dict[str, int] = {}
    for outcome in outcomes:
        counts[outcome["outcome"]] = counts.get(outcome["outcome"], 0) + outcome["count"]
    details = {
        "reported_model": row["reported_model"],
        "prompt_tokens": row["prompt_tokens"],
        "completion_tokens": row["completion_tokens"],
        "started_at": str(row["started_at"]),
        "finished_at": row["finished_at"] and str(row["finished_at"]),
        "software": row["software"],
    }
    return _row(row) | details | {"outcomes": counts, "settings": encoder.loads(row["settings"])}


def _answers(lab: Lab, run: int, count: int, *, reasoning: bool) -> list[dict[str, Any]]:
    from sqlalchemy import select

    from empathylab.store.schema import answers

    columns = [answers.c.key, answers.c.outcome, answers.c.reason, answers.c.text]
    if reasoning:
        columns += [answers.c.reasoning, answers.c.reasoning_tokens]
    query = select(*columns).where(answers.c.run_id == run).order_by(answers.c.key).limit(count)
    return lab.frame(query).to_dicts()


def _row(run: dict[str, Any]) -> dict[str, Any]:
    from empathylab.analysis.run_selection import instrument_of

    instrument = instrument_of(encoder.loads(run["settings"]))
    known = run | {"instrument": instrument, "answered": run["answered"] or 0}
    return {name: known[name] for name in _COLUMNS}


def _day(moment: Any) -> str | None:
    return None if moment is None else moment.date().isoformat()
