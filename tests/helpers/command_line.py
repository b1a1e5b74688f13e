"""The command line inside the tests' own process; starting another takes most of a second."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import click
import typer.main
from click.testing import CliRunner

from empathylab.cli import app


class Done(NamedTuple):
    """How a command ended and what it printed."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        """Both streams."""
        return self.stdout + self.stderr


@functools.cache
def command() -> click.Command:
    """The command with all its groups; to build it takes a tenth of a second."""
    return typer.main.get_command(app)


def empathylab(
    *words: object, cwd: Path | None = None, given: str | None = None, **environment: str
) -> Done:
    """The outcome of a command; what would be a traceback is raised."""
    settings = {"NO_COLOR": "1", "COLUMNS": "120"} | environment
    with contextlib.chdir(cwd) if cwd else contextlib.nullcontext():
        arguments = [str(word) for word in words]
        done = CliRunner().invoke(command(), arguments, input=given, env=settings)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def process(*words: object, **environment: str) -> Done:
    """The same in a process of its own, for tests of just that."""
    done = subprocess.run(
        [sys.executable, "-m", "empathylab", *map(str, words)],
        capture_output=True,
        text=True,
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "120"} | environment,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def printed(*words: object, code: int = 0, **environment: str) -> str:
    """What a command prints on stdout, once its exit code has been checked."""
    done = empathylab(*words, **environment)
    assert done.exit_code == code, f"{words}: exit {done.exit_code}\n{done.stderr}"
    return done.stdout


def as_json(*words: object, code: int = 0) -> Any:
    """What a command prints as JSON, once its exit code has been checked."""
    return json.loads(printed(*words, "--json", code=code))
