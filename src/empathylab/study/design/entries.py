"""Values of a study's file that know where they stand, so that every error names file and line."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import yaml

from empathylab.errors import InputError, UnknownName

_MOST_CHARACTERS = 2_000_000
_MOST_LEVELS = 30


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of a file: a scalar, a list or a table of further entries."""

    value: object
    """A scalar as YAML reads it; a list of entries; or a dict from key to entry."""
    written: str
    """A scalar as it is written, so that the label No stays No."""
    file: str
    line: int | None
    """None where the study comes from plain data."""
    key: str
    """The way to it: `blocks[3].text`."""

    @property
    def where(self) -> str:
        """File and line, for errors."""
        return self.file if self.line is None else f"{self.file} line {self.line}"

    def wrong(self, must: str, remedy: str | None = None, *, got: object = None) -> InputError:
        """The error that says what this entry must be."""
        return InputError(
            f"{self.key!r} must be {must}",
            where=self.where,
            got=self.shown if got is None else got,
            remedy=remedy or "Correct it in the file.",
        )

    @property
    def shown(self) -> object:
        """What was got, short enough for a message."""
        if isinstance(self.value, dict):
            return "a table"
        if isinstance(self.value, list):
            return "a list" if self.value else "an empty list"
        short = self.written if len(self.written) <= 60 else self.written[:57] + "…"
        return short or "nothing"

    def table(self, required: Collection[str] = (), optional: Collection[str] = ()) -> Table:
        """The entry as a table with these keys; unknown and missing keys are errors at once."""
        if not isinstance(self.value, dict):
            raise self.wrong("a table of keys and values", f"Give it {_listed(required)}.")
        for key, entry in self.value.items():
            if key not in required and key not in optional:
                raise UnknownName("key", key, [*required, *optional], where=entry.where)
        for key in required:
            if key not in self.value:
                at = f" in {self.key!r}" if self.key else ""
                raise InputError(
                    f"the key {key!r} is missing{at}", where=self.where, remedy=f"Add {key}."
                )
        return Table(self, self.value)

    def pairs(self, must: str) -> dict[str, Entry]:
        """The entry as a table with free keys, none of them empty."""
        if not isinstance(self.value, dict) or not self.value:
            raise self.wrong(must)
        return self.value

    def entries(self, must: str, *, least: int = 1) -> list[Entry]:
        """The entry as a list of at least so many."""
        if not isinstance(self.value, list) or len(self.value) < least:
            raise self.wrong(must)
        return self.value

    def text(self) -> str:
        """The entry as text that is not empty."""
        if isinstance(self.value, dict | list) or self.value is None or not self.written.strip():
            raise self.wrong("text that is not empty")
        return self.written.strip()

    def whole(self, least: int | None = None, most: int | None = None) -> int:
        """The entry as a whole number within bounds."""
        value = self.value
        fits = isinstance(value, int) and not isinstance(value, bool)
        if not isinstance(value, int) or not fits or not _within(value, least, most):
            raise self.wrong(f"a whole number{_bounds(least, most)}")
        return value

    def number(self, least: float | None = None, most: float | None = None) -> float:
        """The entry as a number within bounds."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(f"a number{_bounds(least, most)}")
        if not _within(float(value), least, most):  # NaN is within nothing
            raise self.wrong(f"a number{_bounds(least, most)}")
        return float(value)

    def flag(self) -> bool:
        """The entry as true or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def choice(self, kind: str, known: Collection[str]) -> str:
        """The entry as one of the known names; else the nearest are named."""
        name = self.text()
        if name not in known:
            raise UnknownName(kind, name, known, where=f"{self.where}, {self.key!r}")
        return name

    def plain(self) -> object:
        """The entry without its places: what JSON could hold."""
        if isinstance(self.value, dict):
            return {key: entry.plain() for key, entry in self.value.items()}
        if isinstance(self.value, list):
            return [entry.plain() for entry in self.value]
        return self.value


class Table:
    """A table whose keys have been checked."""

    def __init__(self, entry: Entry, keys: Mapping[str, Entry]) -> None:
        self.entry = entry
        self._keys = keys

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __getitem__(self, key: str) -> Entry:
        return self._keys[key]

    def get(self, key: str) -> Entry | None:
        """The entry of that key, or None where it is missing or empty."""
        entry = self._keys.get(key)
        return None if entry is None or entry.value is None else entry

    def wrong(self, key: str, must: str, remedy: str | None = None) -> InputError:
        """The error for that key, at its line, or at the table's where it is missing."""
        if key in self._keys:
            return self._keys[key].wrong(must, remedy)
        return InputError(
            f"{key!r} must be {must}", where=self.entry.where, remedy=remedy or f"Add {key}."
        )


def entries_from_yaml(text: str, *, file: str) -> Entry:
    """The entries of a YAML text, with their lines."""
    if len(text) > _MOST_CHARACTERS:
        raise InputError(
            f"the file is longer than {_MOST_CHARACTERS:,} characters",
            where=file,
            remedy="A study's file holds texts and settings; bring situations by `data import`.",
        )
    loader: yaml.SafeLoader | None = None
    try:
        loader = yaml.SafeLoader(text)
        _refuse_endless(text, file)
        node = loader.get_single_node()
        if node is None:
            raise InputError(
                "the file is empty",
                where=file,
                remedy="Begin with `empathylab study new --preset between-subjects`.",
            )
        return _from_node(node, loader, file, "")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "bad syntax"
        raise InputError(
            f"this is not YAML that can be read: {problem}",
            where=f"{file} line {mark.line + 1}" if mark else file,
            remedy="Mend the line; put a text with signs such as : ? # { into quotation marks.",
        ) from None
    finally:
        if loader is not None:
            loader.dispose()


def entries_from_plain(value: object, *, file: str, key: str = "") -> Entry:
    """The entries of plain data, as JSON holds it."""
    if isinstance(value, Mapping):
        table = {
            str(name): entries_from_plain(one, file=file, key=_joined(key, str(name)))
            for name, one in value.items()
        }
        return Entry(table, "", file, None, key)
    if isinstance(value, Sequence) and not isinstance(value, str):
        listed = [
            entries_from_plain(one, file=file, key=f"{key}[{number}]")
            for number, one in enumerate(value, start=1)
        ]
        return Entry(listed, "", file, None, key)
    return Entry(value, "" if value is None else str(value), file, None, key)


def _refuse_endless(text: str, file: str) -> None:
    """Aliases can make a short file endless, and an error in one would stand in two places."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        where = f"{file} line {event.start_mark.line + 1}" if event.start_mark else file
        if isinstance(event, yaml.AliasEvent):
            raise InputError(
                "references (*name) are not read in a study's file",
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


def _from_node(node: yaml.Node, loader: yaml.SafeLoader, file: str, key: str) -> Entry:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        return Entry(dict(_pairs(node, loader, file, key)), "", file, line, key)
    if isinstance(node, yaml.SequenceNode):
        listed = [
            _from_node(one, loader, file, f"{key}[{number}]")
            for number, one in enumerate(node.value, start=1)
        ]
        return Entry(listed, "", file, line, key)
    try:
        value = loader.construct_object(node)
    except (ValueError, OverflowError):
        value = node.value  # a date that no calendar has, say: text
    return Entry(value, str(node.value), file, line, key)


def _pairs(
    node: yaml.MappingNode, loader: yaml.SafeLoader, file: str, key: str
) -> Iterator[tuple[str, Entry]]:
    seen: dict[str, int] = {}
    for name_node, value_node in node.value:
        line = name_node.start_mark.line + 1
        where = f"{file} line {line}"
        if not isinstance(name_node, yaml.ScalarNode):
            raise InputError("a key must be text", where=where, remedy="Write it as `name: value`.")
        name = str(name_node.value)
        if name in seen:
            raise InputError(
                f"the key {name!r} stands here a second time; first in line {seen[name]}",
                where=where,
                remedy="Keep one of the two.",
            )
        seen[name] = line
        entry = _from_node(value_node, loader, file, _joined(key, name))
        # A value may begin on the line below its key; the key's line is where one looks.
        yield name, Entry(entry.value, entry.written, file, line, entry.key)


def _joined(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _within(value: float, least: float | None, most: float | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most) and value == value


def _bounds(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f" from {least:g} to {most:g}"
    if least is not None:
        return f" of {least:g} or more"
    return "" if most is None else f" of {most:g} or less"


def _listed(keys: Collection[str]) -> str:
    return f"the keys {', '.join(keys)}" if keys else "keys"
