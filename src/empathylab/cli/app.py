"""The command `empathylab`: its groups, and how errors become sentences and exit codes."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from empathylab import __version__
from empathylab.cli import (
    analyze,
    appraise,
    ask,
    converse,
    data,
    evaluate,
    export,
    judge,
    lab,
    models,
    plugins,
    report,
    respond,
    runs,
    scales,
    stats,
    study,
    tasks,
    view,
)
from empathylab.cli.examples import examples
from empathylab.errors import EmpathyLabError
from empathylab.plugins import PluginWarning

_INTERRUPTED = 130


class LabGroup(TyperGroup):
    """Turns errors of the tree into one sentence on stderr and the exit code of the contract."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except EmpathyLabError as error:
            typer.echo(f"{_bold('Error:')} {error}" if error.exit_code else str(error), err=True)
            raise typer.Exit(error.exit_code) from error
        except KeyboardInterrupt as error:
            typer.echo(
                "\nInterrupted. Answers so far are kept. Run the same command again to resume.",
                err=True,
            )
            raise typer.Exit(_INTERRUPTED) from error
        except BrokenPipeError as error:  # the reader of our output has gone: `… | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from error


def _bold(text: str) -> str:
    return typer.style(text, fg="red", bold=True) if sys.stderr.isatty() else text


app = typer.Typer(
    cls=LabGroup,
    name="empathylab",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"empathylab {__version__}")
        raise typer.Exit


@app.callback(
    epilog=examples(
        ("empathylab evaluate", "measures the embedded model."),
        ("empathylab evaluate openai/gpt-4o-mini", "measures any other."),
        ("empathylab COMMAND --help", "explains a command, with examples."),
        ("empathylab --install-completion", "completes commands and options in your shell."),
    )
    + "\n\nExit codes: 0 done; 1 failed, or below a gate; 2 the user can fix it; 130 interrupted. "
    "Results go to stdout, everything else to stderr. `EMPATHYLAB_LAB` names the lab's folder, and "
    "keys are read from the environment only: `empathylab models` says which."
)
def _empathylab(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Measures how empathetic a language model is."""


app.command("evaluate", epilog=evaluate.EXAMPLE)(evaluate.evaluate)
app.command("appraise", epilog=appraise.EXAMPLE)(appraise.appraise)
app.command("respond", epilog=respond.EXAMPLE)(respond.respond)
app.command("converse", epilog=converse.EXAMPLE)(converse.converse)
app.command("ask", epilog=ask.EXAMPLE)(ask.ask)
app.command("judge", epilog=judge.EXAMPLE)(judge.judge)
app.command("report", epilog=report.EXAMPLE)(report.report)
app.command("view", epilog=view.EXAMPLE)(view.view)
app.command("export", epilog=export.EXAMPLE)(export.export)
app.command("plugins", epilog=plugins.EXAMPLE)(plugins.plugins)
app.add_typer(models.app, name="models")
app.add_typer(runs.app, name="runs")
app.add_typer(data.app, name="data")
app.add_typer(lab.app, name="lab")
app.add_typer(scales.app, name="scales")
app.add_typer(study.app, name="study")
app.add_typer(analyze.app, name="analyze")
app.add_typer(stats.app, name="stats")
app.add_typer(tasks.app, name="tasks")


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning about a plugin is for the user: one line, without a place in the code."""
    own = issubclass(category, PluginWarning)
    text = f"{message}\n" if own else warnings.formatwarning(message, category, filename, lineno)
    (file or sys.stderr).write(text)


def main() -> None:
    """The entry point of the installed command."""
    warnings.showwarning = _show_warning
    app(prog_name="empathylab")
