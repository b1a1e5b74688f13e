"""YAML files with the line of every value; numbers and flags know how they were written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from empathylab.errors import InputError

Path = tuple[str | int, ...]
"""The way to a value: keys of tables, and positions in lists counted from 0."""

_MOST_CHARACTERS = 2_000_000

_MOST_LEVELS = 30


class WrittenInt(int):
    """A whole number that knows how it was written."""

    written: str = ""


class WrittenFloat(float):
    """A number that knows how it was written."""

    written: str = ""


class WrittenFlag(str):
    """A text such as `yes` or `No` that YAML takes for true or false."""

    __slots__ = ("flag",)
    flag: bool


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a file and the line of every value."""

    data: Any
    file: str
    lines: Mapping[Path, int] = field(default_factory=dict, hash=False)
    """Empty where the data does not come from a file with lines."""

    def where(self, path: Path) -> str:
        """File and line of a value, or of what it is missing in."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return f"{self.file} line {self.lines[path[:end]]}"
        return self.file

    def value(self, path: Path) -> Any:
        """The value at the path; None where there is none."""
        found = self.data
        for key in path:
            try:
                found = found[key]
            except (KeyError, IndexError, TypeError):
                return None
        return found


def read_yaml(text: str, *, file: str, what: str = "file", empty: str = "Write it.") -> Document:
    """The YAML text with its lines; `what` names such a file, `empty` is the remedy for none."""
    if len(text) > _MOST_CHARACTERS:
        raise InputError(
            f"the file is longer than {_MOST_CHARACTERS:,} characters",
            where=file,
            remedy="The file is for texts and settings; import data with `empathylab data import`.",
        )
    reader = _YamlReader(file)
    loader: yaml.SafeLoader | None = None
    try:
        loader = yaml.SafeLoader(text)
        _refuse_endless(text, file, what)
        node = loader.get_single_node()
        if node is None:
            raise InputError("the file is empty", where=file, remedy=empty)
        data = reader.value(node, loader, ())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "bad syntax"
        raise InputError(
            f"this is not valid YAML: {problem}",
            where=f"{file} line {mark.line + 1}" if mark else file,
            remedy=_remedy(problem),
        ) from None
    finally:
        if loader is not None:
            loader.dispose()
    return Document(data, file, reader.lines)


def _remedy(problem: str) -> str:
    """How to fix what the parser met."""
    if "'\\t'" in problem:
        return "Replace the tab with spaces."
    if "expected <block end>" in problem:
        return "Check the indentation: keys of one level begin in the same column."
    return "Fix the line; put a text with characters such as : ? # { in quotation marks."


def _refuse_endless(text: str, file: str, what: str) -> None:
    """Aliases can make a short file endless, and an error in one would stand in two places."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        where = f"{file} line {event.start_mark.line + 1}" if event.start_mark else file
        if isinstance(event, yaml.AliasEvent):
            raise InputError(
                f"references (*name) are not allowed in a {what}",
                where=where,
                got=f"*{event.anchor}",
                remedy="Write the value out.",
            )
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MOST_LEVELS:
            raise InputError(
                "the file is nested too deeply", where=where, remedy="Write it with fewer levels."
            )


class _YamlReader:
    """Turns YAML nodes into values and notes the line of each."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.lines: dict[Path, int] = {}

    def value(self, node: yaml.Node, loader: yaml.SafeLoader, path: Path) -> Any:
        # A value may begin on the line below its key; the key's line is where one looks.
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return dict(self._pairs(node, loader, path))
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, loader, (*path, n)) for n, item in enumerate(node.value)]
        return _scalar(node, loader)

    def _pairs(
        self, node: yaml.MappingNode, loader: yaml.SafeLoader, path: Path
    ) -> Iterator[tuple[str, Any]]:
        for name_node, value_node in node.value:
            line = name_node.start_mark.line + 1
            where = f"{self._file} line {line}"
            if not isinstance(name_node, yaml.ScalarNode):
                raise InputError(
                    "a key must be text", where=where, remedy="Write it as `name: value`."
                )
            name = str(name_node.value)
            own = (*path, name)
            if own in self.lines:
                raise InputError(
                    f"the key {name!r} is given twice; first in line {self.lines[own]}",
                    where=where,
                    remedy="Keep one of the two.",
                )
            self.lines[own] = line
            yield name, self.value(value_node, loader, own)


def _scalar(node: yaml.Node, loader: yaml.SafeLoader) -> Any:
    try:
        value = loader.construct_object(node)
    except (ValueError, OverflowError):
        return str(node.value)  # a date that no calendar has, say
    if isinstance(value, bool):
        flag = WrittenFlag(node.value)
        flag.flag = value
        return flag
    if isinstance(value, int | float):
        number = (WrittenInt if isinstance(value, int) else WrittenFloat)(value)
        number.written = str(node.value)
        return number
    return None if value is None else str(node.value)
