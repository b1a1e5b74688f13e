"""`empathylab study demo`: a study to try out, with everything in it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, PortOption, option
from empathylab.cli.study.serve import require_extra
from empathylab.cli.tables import open_in_browser, print_json

if TYPE_CHECKING:
    from empathylab.store import Lab

EXAMPLE = "Example: `empathylab study demo --lab demo-lab --open`"
_HOST = "127.0.0.1"


def demo(
    port: PortOption = 8000,
    open_page: Annotated[
        bool, option("Open the rater's first page in the browser.", "--open")
    ] = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Serves a demo study on this machine only, with built-in situations and replies.

    It needs no key and no file. Answers stay in the lab; run the same command again to resume. The
    replies are invented, so the results do not describe a real model.
    """

    require_extra()
    from empathylab.store import Lab
    from empathylab.study.demo import open_demo
    from empathylab.study.session.service import StudyService
    from empathylab.study.web.serving import Serving, listening, serve_study

    listener = listening(_HOST, port)
    try:
        with Lab.open(lab) as opened:
            service = StudyService(opened, open_demo(opened, who=operator()))
            serving = Serving(
                folder=lab,
                study=service.study,
                secret=service.launched.secret,
                log_requests=not sys.stderr.isatty(),
            )
            links = _links(opened, f"http://{_HOST}:{listener.getsockname()[1]}")
    except BaseException:
        listener.close()
        raise
    _print(links, as_json=json)
    if open_page:
        open_in_browser(links["rater_link"])
    serve_study(serving, listener)
    typer.echo("Stopped. All answers are kept. Run the same command again to resume.", err=True)


def _links(lab: Lab, base: str) -> dict[str, str]:
    from empathylab.study.web.console import first_link

    return {
        "study": "demo",
        "address": base,
        "rater_link": f"{base}/",
        "console_link": first_link(lab, base) or f"{base}/console",
    }


def _print(links: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        print_json(links, indent=None)
    else:
        typer.echo(f"Raters    {links['rater_link']}")
        typer.echo(f"Console   {links['console_link']}")
        typer.echo("Take part as often as you like. Stop with Ctrl-C.", err=True)
    sys.stdout.flush()  # the caller waits for these lines
