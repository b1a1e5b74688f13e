"""`empathylab study preview`: every page of a study in the browser, before it is launched."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, PortOption, argument, option
from empathylab.cli.tables import open_in_browser, print_json
from empathylab.files import read_text

EXAMPLE = "Example: `empathylab study preview my-study.yaml --open`"
_HOST = "127.0.0.1"


def preview(
    file: Annotated[Path, argument("The study's YAML file.", metavar="FILE")],
    port: PortOption = 0,
    open_page: Annotated[bool, option("Open it in the browser.", "--open")] = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Shows every page of every arm and language in the browser, on this machine only.

    Nothing is launched or stored. The pages load again when the file is saved; a file with an
    error shows the message until it is fixed. Replies come from the lab, if it has them.
    """
    import secrets

    from empathylab.cli.study.files import checked_file
    from empathylab.cli.study.serve import require_extra

    require_extra()
    import uvicorn

    from empathylab.study.web.preview import PreviewFile, create_preview
    from empathylab.study.web.serving import listening, server_settings

    read_text(file)  # a missing file is a mistake in the command
    token = secrets.token_urlsafe(16)
    app = create_preview(PreviewFile(file, lambda path: checked_file(path, lab)), token)
    with listening(_HOST, port) as listener:
        link = f"http://{_HOST}:{listener.getsockname()[1]}/{token}/"
        if json:
            print_json({"file": str(file), "preview_link": link}, indent=None)
        else:
            typer.echo(link)
        typer.echo("The pages load again when the file is saved. Stop with Ctrl-C.", err=True)
        sys.stdout.flush()
        if open_page:
            open_in_browser(link)
        config = uvicorn.Config(app, **server_settings(), log_config=None)
        uvicorn.Server(config).run(sockets=[listener])
