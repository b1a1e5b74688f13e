"""Commands run in this process, as a user types them, with their JSON output."""

from __future__ import annotations

import json
from typing import Any

from typer.testing import CliRunner

from empathylab.cli import app


def run(*words: object, code: int = 0) -> str:
    """What the command prints on stdout, once its exit code has been checked."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, f"{words}: exit {done.exit_code}\n{done.stderr}"
    return done.stdout


def result(*words: object) -> Any:
    """The command's JSON output."""
    return json.loads(run(*words, "--json"))
