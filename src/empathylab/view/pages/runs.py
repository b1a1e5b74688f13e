"""Runs, their requests and answers, and two runs side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection

from empathylab.analysis.run_comparison import compare_runs
from empathylab.analysis.run_selection import run_label
from empathylab.errors import InputError
from empathylab.store.inserts import now
from empathylab.store.listings import runs as listings
from empathylab.store.listings.pages import Listing, Row
from empathylab.store.studies.embargo import judges_open_study
from empathylab.view.rendering import Page
from empathylab.view.tables import Column, Table, fixed_table, whole_number
from empathylab.view.visits import Visit, required

_GOING = timedelta(minutes=2)
"""A run whose last answer is older is taken as stopped."""
_HIDDEN = "Hidden until the study that shows these replies is closed."


def _state(row: Row) -> str:
    if row["finished_at"] is not None and row["answered"] >= row["planned"]:
        return "finished"
    last = row["last_answer_at"] or row["started_at"]
    return "running" if now() - last < _GOING else "stopped"


def _instrument(row: Row) -> str:
    settings = row["settings"]
    used = settings.get("scale") or settings.get("situations") or settings.get("personas")
    return used if isinstance(used, str) else settings.get("study") or ""


def _described(row: Row) -> dict[str, Any]:
    return {
        **row,
        "state": _state(row),
        "instrument": _instrument(row),
        "how": run_label(row["settings"]),
        "progress": f"{row['answered']} of {row['planned']}",
    }


def is_running(connection: Connection, run: int | None) -> bool:
    """Whether this run asks a model now."""
    row = None if run is None else listings.find_run(connection, run)
    return row is not None and _state(row) == "running"


def any_running(rows: Iterable[Row]) -> bool:
    """Whether a model is being asked now."""
    return any(row["state"] == "running" for row in rows)


_RUN_COLUMNS = (
    Column("run", "Run", href=lambda row: f"/runs/{row['run']}"),
    Column("name", "Name"),
    Column("respondent", "Respondent", "respondent"),
    Column("protocol", "Protocol"),
    Column("instrument", "Instrument", note="how"),
    Column("state", "State", "status"),
    Column("progress", "Answered", "progress"),
    Column("usable", "Usable", "number"),
    Column("cost", "Cost", "money"),
    Column("last_answer_at", "Last answer (UTC)", "time"),
)


def runs_table(protocol: str = "", respondent: str = "") -> Table:
    """The runs, the one used last first."""

    def read(connection: Connection, offset: int, limit: int) -> Listing:
        listing = listings.list_runs(
            connection, protocol=protocol, respondent=respondent, offset=offset, limit=limit
        )
        return Listing([_described(row) for row in listing.rows], listing.total)

    empty = "This lab has no runs yet. To measure a model, run: empathylab evaluate"
    return Table("runs", "Runs", _RUN_COLUMNS, read, size=25, empty=empty)


def show_runs(visit: Visit) -> Page:
    """All runs."""
    table = runs_table(visit.asked("protocol"), visit.asked("respondent"))
    newest = table.read(visit.connection, 0, table.size).rows
    choices = {
        "protocol": listings.run_protocols(visit.connection),
        "respondent": listings.run_respondents(visit.connection),
    }
    return Page("Runs", "runs", (table,), {"choices": choices}, live=any_running(newest))


def show_run(visit: Visit) -> Page:
    """One run: settings, progress, cost, outcomes, and its answers."""
    number = visit.number("run")
    row = _described(required(listings.find_run(visit.connection, number)))
    hidden = judges_open_study(visit.connection, number)
    outcomes = fixed_table(
        "outcomes",
        "Outcomes",
        (
            Column("outcome", "Outcome", "outcome", _filtered),
            Column("reason", "Why"),
            Column("count", "Answers", "number"),
        ),
        [] if hidden else listings.run_outcomes(visit.connection, number),
    )
    failures = fixed_table(
        "failures",
        "Requests without an answer",
        (
            Column("kind", "Kind"),
            Column("count", "Requests", "number"),
            Column("message", "Message"),
        ),
        listings.run_failures(visit.connection, number),
    )
    values = {
        "run": row,
        "hidden": _HIDDEN if hidden else "",
        "conversations": listings.run_conversations(visit.connection, number),
        "choices": {"outcome": sorted({row["outcome"] for row in _all(outcomes, visit)})},
    }
    outcome = "" if hidden else visit.asked("outcome")  # it would tell which answers have it
    answers = _answers_table(number, outcome, hidden=hidden)
    title = f"Run {number}: {row['respondent']}"
    return Page(title, "run", (outcomes, failures, answers), values, live=row["state"] == "running")


def _all(table: Table, visit: Visit) -> Iterable[Row]:
    return table.read(visit.connection, 0, table.size).rows


def _filtered(row: Row) -> str:
    return f"?outcome={row['outcome']}#answers"


def _answers_table(run: int, outcome: str, *, hidden: bool) -> Table:
    columns: tuple[Column, ...] = (
        Column("key", "Request", href=lambda row: f"/answers/{row['answer']}"),
        Column("outcome", "Outcome", "outcome", note="reason"),
        Column("text", "Answer"),
        Column("completion_tokens", "Tokens", "number"),
        Column("cost", "Cost", "money"),
        Column("latency", "Time", "seconds"),
    )

    def read(connection: Connection, offset: int, limit: int, *, whole: bool = False) -> Listing:
        return listings.list_answers(
            connection, run, outcome=outcome, offset=offset, limit=limit, whole=whole
        )

    if hidden:
        columns = (columns[0],)
    return Table("answers", "Requests and answers", columns, read, cuts=True)


def show_answer(visit: Visit) -> Page:
    """One request with its answer, in full."""
    answer = required(listings.find_answer(visit.connection, visit.number("answer")))
    hidden = judges_open_study(visit.connection, answer["run_id"])
    if hidden:
        secret = ("text", "reasoning", "logprobs", "reason", "outcome", "messages")
        answer = {**answer, **dict.fromkeys(secret)}
    values = {"answer": answer, "hidden": _HIDDEN if hidden else ""}
    return Page(f"Answer {answer['key']}", "answer", (), values)


def show_comparison(visit: Visit) -> Page:
    """Two runs of one protocol: settings, usable answers, differences."""
    first, second = (whole_number(visit.asked(name)) for name in ("first", "second"))
    known = [
        {**row, "how": run_label(row["settings"])} for row in listings.run_choices(visit.connection)
    ]
    if second is None:
        second = _partner(known, first)
    values: dict[str, Any] = {"known": known, "comparison": None, "problem": ""}
    values["chosen"] = (first, second) if first else _newest_pair(known)
    tables: tuple[Table, ...] = ()
    if first is not None and second is not None:
        runs = [required(listings.find_run(visit.connection, run)) for run in (first, second)]
        try:
            comparison = compare_runs(visit.lab, first, second)
        except InputError as error:
            values["problem"] = str(error)
        else:
            values |= {"comparison": comparison, "runs": runs}
            tables = (_differences(comparison.to_frame().to_dicts()),)
            if not any(judges_open_study(visit.connection, run) for run in (first, second)):
                tables += (_shared_answers(first, second),)
    return Page("Compare runs", "compare_runs", tables, values)


def _partner(known: Sequence[Row], first: int | None) -> int | None:
    """The newest other run of the run's protocol, if possible with its instrument."""
    run = next((row for row in known if row["run"] == first), None)
    if run is None:
        return None
    others = [row for row in known if row["run"] != first and row["protocol"] == run["protocol"]]
    alike = [row for row in others if _instrument(row) == _instrument(run)]
    return next((row["run"] for row in [*alike, *others]), None)


def _newest_pair(known: Sequence[Row]) -> tuple[int, int] | None:
    """The newest two runs of one protocol, the earlier first; None where no protocol has two."""
    later: dict[str, int] = {}
    for row in known:
        if row["protocol"] in later:
            return row["run"], later[row["protocol"]]
        later[row["protocol"]] = row["run"]
    return None


def _differences(rows: list[dict[str, Any]]) -> Table:
    columns = (
        Column("dimension", "Score"),
        Column("estimate", "Difference", "change"),
        Column("low", "Lower limit", "change"),
        Column("high", "Upper limit", "change"),
        Column("p", "p", "number", digits=3),
        Column("n", "Situations", "number"),
    )
    return fixed_table("differences", "Differences, first run minus second", columns, rows)


def _shared_answers(first: int, second: int) -> Table:
    def read(connection: Connection, offset: int, limit: int, *, whole: bool = False) -> Listing:
        return listings.list_shared_answers(
            connection, first, second, offset=offset, limit=limit, whole=whole
        )

    columns = (
        Column("key", "Request"),
        Column(
            "first_outcome", "First outcome", "outcome", lambda row: f"/answers/{row['first_id']}"
        ),
        Column("first_text", "First answer"),
        Column(
            "second_outcome",
            "Second outcome",
            "outcome",
            lambda row: f"/answers/{row['second_id']}",
        ),
        Column("second_text", "Second answer"),
    )
    return Table("answers", "Answers to the same requests", columns, read, cuts=True, size=25)
