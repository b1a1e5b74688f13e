"""The page of every command, from the command line itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer.main

from empathylab.cli import app

HEAD = """# Commands

<!-- Written from the program by scripts/write_reference.py; do not edit by hand. -->

This page lists every command with its options, as `--help` does. Results go to stdout, everything
else to stderr. Exit codes: 0 done; 1 failed; 2 an option, file or setting is wrong, and the message
says how to fix it; 130 interrupted.
"""


def page() -> str:
    """The whole page."""
    return HEAD + "".join(_section(path, command) for path, command in walk())


def walk() -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its full name."""
    yield from _walk(typer.main.get_command(app), "empathylab")


def _walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", {})
    if not children or command.invoke_without_command:
        yield path, command
    for name, child in children.items():
        yield from _walk(child, f"{path} {name}")


def _section(path: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join([path, *(_placeholder(argument) for argument in arguments)])
    lines = ["", f"## `{usage}`", "", (command.help or "").strip(), ""]
    if command.epilog:
        lines += [command.epilog.strip(), ""]
    if arguments or options:
        lines += ["| | meaning | default |", "| --- | --- | --- |"]
        lines += [f"| `{_placeholder(a)}` | {a.help or ''} | |" for a in arguments]
        lines += [f"| {_names(o)} | {_meaning(o)} | {_default(o)} |" for o in options]
    return "\n".join(lines) + "\n"


def _placeholder(argument: Any) -> str:
    name = argument.name.upper() + ("…" if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _names(option: Any) -> str:
    return ", ".join(f"`{name}`" for name in option.opts)


def _meaning(option: Any) -> str:
    variable = f" Variable: `{option.envvar}`." if option.envvar else ""
    return (option.help or "") + variable


def _default(option: Any) -> str:
    if option.default is None or option.default is False or callable(option.default):
        return ""
    return f"`{option.default}`"
