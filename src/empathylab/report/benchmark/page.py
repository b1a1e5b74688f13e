"""The leaderboard as one HTML file that needs nothing else."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import jinja2

import empathylab
from empathylab.analysis.benchmark.analysis import Leaderboard
from empathylab.analysis.benchmark.leaderboard import Entry
from empathylab.analysis.benchmark.prose import interval, rests_on, shown, what
from empathylab.analysis.benchmark.rows import HOW, days, ranks
from empathylab.analysis.text.numbers import moment
from empathylab.errors import LabError
from empathylab.store import now

_TAGS = {"people": "usable", "people and judge": "usable", "judge": "doubtful"}


@dataclass(frozen=True, slots=True)
class Line:
    """An entry as the page shows it."""

    ranks: str
    respondent: str
    how: str
    tag: str
    """The class of its label."""
    estimate: str
    interval: str
    at: float
    """Where the estimate lies between the ends of the scale, in percent of its length; in the
    middle where it has none."""
    bar: tuple[float, float] | None
    """The same of the interval; None where there is none."""
    beyond: bool
    """Whether the judge puts it outside all that it was calibrated on."""
    ratings: str
    rated: str
    judge: str
    judged: str
    rests_on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeaderboardSection:
    """What a page shows of a leaderboard."""

    id: str
    """Of its heading, no other of the lab's studies has it."""
    study: str
    """With its version, where it is an older one."""
    title: str
    what: str
    situations: int
    ends: tuple[str, str]
    """Of the scale."""
    lines: tuple[Line, ...]
    estimated: bool
    """Whether a judge stands alone for somebody."""
    notes: tuple[str, ...]


def leaderboard_section(board: Leaderboard) -> LeaderboardSection:
    """The leaderboard for a page: this one's, or a part of the report."""
    outcome = board.entries[0].estimate.outcome
    return LeaderboardSection(
        id=f"leaderboard-{board.ground.study.row}",
        study=board.ground.study.name,
        title=board.study.title,
        what=what(outcome),
        situations=len(board.study.situations),
        ends=(shown(outcome.lowest, outcome), shown(outcome.highest, outcome)),
        lines=tuple(_line(one) for one in board.entries),
        estimated=any(one.found.basis == "judge" for one in board.entries),
        notes=(*([board.asked.note] if board.asked.note else []), *board.notes),
    )


def _line(one: Entry) -> Line:
    head = one.estimate
    outcome = head.outcome

    length = outcome.highest - outcome.lowest

    def place(value: float) -> float:
        return round(100 * (value - outcome.lowest) / length, 2) if length > 0 else 50.0

    return Line(
        ranks=ranks(one),
        respondent=one.respondent,
        how=HOW[one.found.basis],
        tag=_TAGS[one.found.basis],
        estimate=shown(head.estimate, outcome),
        interval=interval(head),
        at=place(head.estimate),
        bar=None if math.isnan(head.low) else (place(head.low), place(head.high)),
        beyond=head.beyond,
        ratings=f"{head.n_ratings:,}",
        rated=days(one.rated_first, one.rated_last),
        judge=one.found.judge or "",
        judged=days(one.judged_first, one.judged_last),
        rests_on=rests_on(one.found),
    )


def render_leaderboard(board: Leaderboard) -> str:
    """The page's HTML."""
    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(_asset),
    )
    return environment.get_template("leaderboard_page.html.j2").render(
        board=leaderboard_section(board),
        style=_asset("report.css") + _asset("leaderboard.css"),
        made_at=moment(now()),
        version=empathylab.__version__,
    )


def write_leaderboard(path: Path, board: Leaderboard) -> Path:
    """The path of the page, written anew."""
    return write_whole(path, render_leaderboard(board).encode())


def write_whole(path: Path, content: bytes) -> Path:
    """The path of the file, written beside and renamed, so that nobody ever opens half of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=path.suffix)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.chmod(name, 0o644)  # noqa: PTH101 - mkstemp gives a name
            os.replace(name, path)  # noqa: PTH105 - mkstemp gives a name
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)  # noqa: PTH108 - mkstemp gives a name
            raise
    except OSError as error:
        raise LabError(
            "the leaderboard cannot be written",
            where=str(path),
            got=error.strerror,
            remedy="Give another file, or make room.",
        ) from error
    return path


def _asset(name: str) -> str:
    return (files("empathylab.report") / "pages" / name).read_text(encoding="utf-8")
