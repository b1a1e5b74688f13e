"""`empathylab runs`: what was asked of models, and what they answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption

if TYPE_CHECKING:
    from empathylab.store import Lab

app = typer.Typer(
    epilog="Example: `empathylab runs list`",
    no_args_is_help=True,
    help="What was asked of models, and what they answered.",
)

_COLUMNS = ("run", "respondent", "protocol", "instrument", "planned", "answered", "cost")


@app.command("list", epilog="Example: `empathylab runs list`")
def list_runs(lab: LabOption = DEFAULT_LAB, json: JsonOption = False) -> None:
    """Lists all runs; the report shows the last one of each respondent and instrument."""
    from empathylab.analysis.run_selection import selected_runs
    from empathylab.cli.tables import print_rows
    from empathylab.store import Lab, runs_frame

    with Lab.open(lab, create=False) as opened:
        frame = runs_frame(opened)
    shown = set(selected_runs(frame)["run"])
    rows = [
        _row(run) | {"shown": run["run"] in shown, "last_answer": _day(run["last_answer_at"])}
        for run in frame.iter_rows(named=True)
    ]
    print_rows(rows, "runs", as_json=json)


@app.command("show", epilog="Example: `empathylab runs show 3 --answers 5 --reasoning`")
def show(
    run: Annotated[int, typer.Argument(help="The run's number, as `runs list` gives it.")],
    answers: Annotated[
        int, typer.Option(help="How many answers to show, in the order of their keys.", min=0)
    ] = 0,
    reasoning: Annotated[
        bool, typer.Option("--reasoning", help="Show what the model wrote before it answered, too.")
    ] = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Shows a run: its settings, how its answers turned out, and some of them."""
    import json as encoder

    from empathylab.store import Lab

    with Lab.open(lab, create=False) as opened:
        content = _content(opened, run)
        shown = _answers(opened, run, answers, reasoning=reasoning)
    if json:
        typer.echo(encoder.dumps(content | {"answers": shown}, indent=2, ensure_ascii=False))
        return
    for name, value in content.items():
        written = value if isinstance(value, str | int | float) else encoder.dumps(value)
        typer.echo(f"{name}: {written}")
    for answer in shown:
        typer.echo(f"\n{answer['key']}: {answer['outcome']}")
        if answer.get("reasoning"):
            typer.echo(f"[reasoning, {answer['reasoning_tokens']} tokens] {answer['reasoning']}")
        typer.echo(answer["text"])


def _content(lab: Lab, run: int) -> dict[str, Any]:
    import json as encoder

    from empathylab.errors import UnknownName
    from empathylab.store import outcomes_frame, runs_frame

    found = {row["run"]: row for row in runs_frame(lab).iter_rows(named=True)}
    if run not in found:
        raise UnknownName("run", str(run), map(str, found), remedy="See: empathylab runs list")
    row = found[run]
    outcomes = outcomes_frame(lab).filter(run=run).iter_rows(named=True)
    counts: dict[str, int] = {}
    for outcome in outcomes:
        counts[outcome["outcome"]] = counts.get(outcome["outcome"], 0) + outcome["count"]
    told = {
        "reported_model": row["reported_model"],
        "prompt_tokens": row["prompt_tokens"],
        "completion_tokens": row["completion_tokens"],
        "started_at": str(row["started_at"]),
        "finished_at": row["finished_at"] and str(row["finished_at"]),
        "software": row["software"],
    }
    return _row(row) | told | {"outcomes": counts, "settings": encoder.loads(row["settings"])}


def _answers(lab: Lab, run: int, count: int, *, reasoning: bool) -> list[dict[str, Any]]:
    from sqlalchemy import select

    from empathylab.store.schema import answers

    columns = [answers.c.key, answers.c.outcome, answers.c.reason, answers.c.text]
    if reasoning:
        columns += [answers.c.reasoning, answers.c.reasoning_tokens]
    query = select(*columns).where(answers.c.run_id == run).order_by(answers.c.key).limit(count)
    return lab.frame(query).to_dicts()


def _row(run: dict[str, Any]) -> dict[str, Any]:
    import json as encoder

    settings = encoder.loads(run["settings"])
    instrument = settings.get("scale") or settings.get("situations")
    known = run | {"instrument": instrument, "answered": run["answered"] or 0}
    return {name: known[name] for name in _COLUMNS}


def _day(moment: Any) -> str | None:
    return None if moment is None else moment.date().isoformat()
