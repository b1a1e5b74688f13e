"""The JUnit file of an evaluation: what CI systems show of gates, and of what stopped it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from xml.etree import ElementTree

import typer
from typer.core import TyperCommand

from empathylab.errors import EmpathyLabError, InputError

if TYPE_CHECKING:
    from empathylab.analysis.scores.gates import Gate


@dataclass(slots=True)
class JunitFile:
    """A test case for each gate; as a context, also one for the error that it ends with."""

    path: Path | None
    """None if no file is wanted."""
    gates: Sequence[Gate] = ()
    """Set when they are checked."""
    markdown: bool = False
    """Whether what stops the command belongs on stdout, too: the page of a CI system."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None or isinstance(error, typer.Exit) or not getattr(error, "exit_code", 1):
            return
        if isinstance(error, KeyboardInterrupt):
            stopped = "interrupted"
        else:  # errors of options name the option only there
            stopped = getattr(error, "format_message", error.__str__)()
        if self.markdown:
            heading = "" if self.gates else "# EmpathyLab\n\n"
            typer.echo(f"{heading}**The evaluation stopped:** {stopped}")
        with contextlib.suppress(EmpathyLabError):  # the first error is the one to be told
            self.write(stopped or type(error).__name__)

    def require_file(self) -> None:
        """Refuses a folder, before anything is asked."""
        if self.path is not None and self.path.is_dir():
            raise InputError(
                "this is a folder", where=f"--junit {self.path}", remedy="Name a file in it."
            )

    def write(self, stopped: str | None = None) -> None:
        """Writes the file, if one is wanted; `stopped` says why the evaluation is not complete."""
        from empathylab.report.writing import write_whole

        if self.path is None:
            return
        counts = {
            "tests": len(self.gates) + (stopped is not None),
            "failures": sum(not gate.passed for gate in self.gates),
            "errors": int(stopped is not None),
            "skipped": sum(not gate.checked for gate in self.gates),
        }
        written = {name: str(count) for name, count in counts.items()}
        root = ElementTree.Element("testsuites", written)
        suite = ElementTree.SubElement(root, "testsuite", {"name": "empathylab", **written})
        for gate in self.gates:
            case = _case(suite, gate.respondent, gate.condition)
            if not gate.passed:
                failure = ElementTree.SubElement(case, "failure", {"message": gate.reason})
                failure.text = "\n".join(filter(None, (str(gate), gate.details)))
            elif not gate.checked:
                ElementTree.SubElement(case, "skipped", {"message": gate.reason})
            else:
                ElementTree.SubElement(case, "system-out").text = gate.reason
        if stopped is not None:
            case = _case(suite, "empathylab", "the evaluation is complete")
            ElementTree.SubElement(case, "error", {"message": stopped}).text = stopped
        ElementTree.indent(root)
        text = ElementTree.tostring(root, encoding="unicode", xml_declaration=True)
        write_whole(self.path, text + "\n")


class CommandWithJunit(TyperCommand):
    """A command that writes its JUnit file for options that cannot be read, too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = list(args)  # click empties its own list
        with JunitFile(_file_in(words)):
            return super().parse_args(ctx, args)


def _file_in(words: Sequence[str]) -> Path | None:
    for place, word in enumerate(words):
        following = "".join(words[place + 1 : place + 2])
        name, equals, value = word.partition("=")
        if name == "--junit" and (value if equals else following):
            return Path(value if equals else following)
    return None


def _case(suite: ElementTree.Element, respondent: str, condition: str) -> ElementTree.Element:
    case = {"classname": respondent, "name": condition, "time": "0"}
    return ElementTree.SubElement(suite, "testcase", case)
