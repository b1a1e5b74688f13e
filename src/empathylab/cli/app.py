"""The command `empathylab`: its groups, and how errors become sentences and exit codes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any, TextIO

import typer
import typer.main
from typer.core import TyperGroup

from empathylab import __version__
from empathylab.cli.examples import examples
from empathylab.cli.options import add_commands, option
from empathylab.errors import EmpathyLabError
from empathylab.plugins import PluginWarning

_INTERRUPTED = 130
# Modules of this package, in the order of `--help`: one command each, or a group of commands.
_COMMANDS = (
    "evaluate",
    "appraise",
    "respond",
    "converse",
    "ask",
    "judge",
    "report",
    "view",
    "export",
    "plugins",
)
_GROUPS = ("models", "runs", "data", "lab", "scales", "study", "analyze", "stats", "tasks")


class _Commands(Mapping[str, Any]):
    """The commands by name; a module is imported when its command is asked for."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in (*_COMMANDS, *_GROUPS):
            raise KeyError(name)
        if name not in self._loaded:
            module = import_module(f"empathylab.cli.{name}")
            holder = typer.Typer(rich_markup_mode="markdown")
            if name in _GROUPS:
                holder.add_typer(module.app, name=name)
            else:
                add_commands(holder, module)
            self._loaded[name] = typer.main.get_group(holder).commands[name]
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*_COMMANDS, *_GROUPS))

    def __len__(self) -> int:
        return len(_COMMANDS) + len(_GROUPS)


class LabGroup(TyperGroup):
    """Turns errors of the tree into one sentence on stderr and the exit code of the contract."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Commands()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            # What pydantic puts before it says nothing to a user.
            error.message = error.message.removeprefix("Value error, ")
            raise
        except EmpathyLabError as error:
            typer.echo(f"{_bold('Error:')} {error}" if error.exit_code else str(error), err=True)
            raise typer.Exit(error.exit_code) from error
        except KeyboardInterrupt as error:
            typer.echo(
                f"\nInterrupted. What a lab has stored is kept. Run the same command "
                f"again{_resuming()} to resume.",
                err=True,
            )
            raise typer.Exit(getattr(error, "exit_code", _INTERRUPTED)) from error
        except BrokenPipeError as error:  # the reader of our output has gone: `… | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from error


def _resuming() -> str:
    """What to leave out of the command, so that it resumes."""
    words = sys.argv[1:]
    new = "--fresh" in words and not {"--shard", "--batch"} & set(words)
    return " without --fresh" if new else ""


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
        ("empathylab evaluate openai/gpt-4o-mini", "measures any other model."),
        ("empathylab COMMAND --help", "explains a command, with examples."),
        ("empathylab --install-completion", "completes commands and options in your shell."),
    )
    + (
        "\n\nExit codes: 0 success; 1 failure, or a failed gate; 2 an error that you can "
        "fix; 130 interrupted. Results go to stdout, everything else to stderr. "
        "`EMPATHYLAB_LAB` names the lab's folder, and API keys are read from the environment "
        "only; `empathylab models` lists the variables."
    )
)
def _empathylab(
    version: Annotated[
        bool, option("Print the version.", "--version", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Measures how empathetic a language model is."""


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
