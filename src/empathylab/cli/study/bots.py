"""`empathylab study bots`: simulated raters walk a study's pages before people do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.tables import print_titled, show
from empathylab.errors import InputError

if TYPE_CHECKING:
    from empathylab.study.bots import BotReport
    from empathylab.study.session.service import StudyService

EXAMPLE = (
    "Example: `empathylab study bots between-subjects --n 200` · "
    "`empathylab study bots between-subjects --url https://study.example.org --think 5`"
)


def bots(
    study: Annotated[
        str, argument("A launched study, or its link for simulated raters.", metavar="STUDY|URL")
    ],
    n: Annotated[int, option("How many raters.", "--n", min=1)] = 20,
    behaviour: Annotated[
        Literal["careful", "fast", "dropout", "straightliner", "backtracker"] | None,
        option("How the bots behave. Default: a mix."),
    ] = None,
    url: Annotated[
        str | None,
        option("Where the study is served. Default: a temporary server.", metavar="ADDRESS"),
    ] = None,
    concurrency: Annotated[int, option("Raters at the same time.", min=1)] = 20,
    think: Annotated[float, option("Average time per page.", metavar="SECONDS", min=0)] = 0.0,
    seed: Annotated[int, option("Seed of the bots' behaviour and answers.")] = 1,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Sends simulated raters through a study's real pages, to pilot it before you pay anyone.

    They fill in the forms like a browser without JavaScript and do not know the arms. They are
    marked as simulated and excluded from all results. They use slots of their own: as many as the
    study has for participants.
    """
    from empathylab.api.progress import counts
    from empathylab.api.studies import walked
    from empathylab.study.bots import Settings, mixed

    crowd = [behaviour] * n if behaviour else mixed(n, seed)
    settings = Settings(concurrency=concurrency, think=think, seed=seed)
    with _reached(study, url, lab) as (links, service), counts("done") as progress:
        report = walked(
            links, service, crowd, settings, lambda done: progress("simulated raters", done, n)
        )
    show(report, _print, as_json=json)


@contextlib.contextmanager
def _reached(
    study: str, url: str | None, folder: object
) -> Iterator[tuple[list[str], StudyService | None]]:
    """The links for simulated raters, and the study's service if its lab is on this machine."""
    from pathlib import Path
    from urllib.parse import parse_qs, urlsplit

    from empathylab.api.studies import simulated_links
    from empathylab.store import Lab

    if study.startswith(("http://", "https://")):
        if "visit" not in parse_qs(urlsplit(study).query):
            raise InputError(
                "this is not a link for simulated raters",
                got=study,
                remedy="Name the study, and give its address with --url.",
            )
        yield [study], None
        return
    with Lab.open(Path(str(folder)), create=False) as opened:
        with simulated_links(opened, study, url) as links:
            yield links


def _ends(report: BotReport) -> Iterator[tuple[str, int]]:
    yield from report.ends.items()
    for name, count in (("(dropped out)", report.dropped), ("(failed)", report.lost)):
        if count:
            yield name, count


def _print(report: BotReport) -> None:
    finished = ""
    if report.finished is not None:
        others = report.bots - report.finished - report.dropped - report.lost
        finished = f"{report.finished} finished, {others} ended early or found the study full, "
    typer.echo(
        f"{report.bots} simulated raters in {report.seconds:.1f} s: {finished}"
        f"{report.dropped} dropped out, {report.lost} failed; {report.refused} pages rejected, "
        f"{sum(report.errors.values())} errors."
    )
    typer.echo(
        f"Answers were acknowledged within {report.submit_p50_ms:.0f} ms (median) and "
        f"{report.submit_p99_ms:.0f} ms (99th percentile)."
    )
    tables: list[list[dict[str, Any]]] = [
        [{"behaviour": behaviour, "raters": n} for behaviour, n in report.behaviours.items()],
        [{"last page": page, "raters": n} for page, n in _ends(report)],
        [
            {
                "block": block.block,
                "pages": block.pages,
                "given_back": block.refused,
                "median_ms": f"{block.median_ms:.1f}",
            }
            for block in report.blocks
        ],
        [{"arm": arm, "simulated completions": n} for arm, n in (report.arms or {}).items()],
        [{"error": error, "times": n} for error, n in report.errors.items()],
    ]
    for rows in tables:
        print_titled("", rows)
    typer.echo("\nThey are marked as simulated and are not part of any result.", err=True)
