"""Reading a table from a user's file key by key, so that every error names file, key and remedy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from empathylab.errors import InputError, UnknownName


class Fields:
    """A table whose keys are known beforehand; unknown and missing keys are errors at once."""

    def __init__(
        self,
        table: object,
        *,
        where: str,
        required: Collection[str],
        optional: Collection[str] = (),
    ) -> None:
        if not isinstance(table, Mapping):
            raise InputError(
                "this must be a table of keys and values",
                where=where,
                got=type(table).__name__,
                remedy=f"Give it the keys {', '.join(required)}.",
            )
        for key in table:
            if key not in required and key not in optional:
                raise UnknownName("key", str(key), [*required, *optional], where=where)
        for key in required:
            if key not in table:
                raise InputError(
                    f"the key {key!r} is missing", where=where, remedy=f"Add {key} to the file."
                )
        self.table = table
        self.where = where

    def wrong(self, key: str, must: str, got: object, remedy: str | None = None) -> InputError:
        """The error that says what the key must be."""
        return InputError(
            f"{key!r} must be {must}",
            where=self.where,
            got=got,
            remedy=remedy or f"Correct {key} in the file.",
        )

    def text(self, key: str) -> str:
        value = self.table[key]
        if not _is_text(value):
            raise self.wrong(key, "text that is not empty", value)
        return str(value)

    def optional_text(self, key: str) -> str | None:
        return self.text(key) if self.table.get(key) is not None else None

    def whole(self, key: str) -> int:
        value = self.table[key]
        if not _is_whole(value):
            raise self.wrong(key, "a whole number", value)
        return int(value)

    def flag(self, key: str, *, default: bool) -> bool:
        value = self.table.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false", value)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        entries = self._list(key, _is_text, "a list of texts, none of them empty")
        return tuple(str(entry) for entry in entries)

    def wholes(self, key: str) -> tuple[int, ...]:
        entries = self._list(key, _is_whole, "a list of whole numbers")
        return tuple(entry for entry in entries if isinstance(entry, int))

    def tables(self, key: str) -> list[object]:
        return self._list(key, lambda entry: isinstance(entry, Mapping), "a list of tables")

    def labels(self, key: str) -> dict[int, str]:
        """A table from whole numbers (written as keys) to texts."""
        value = self.table.get(key, {})
        if not isinstance(value, Mapping):
            raise self.wrong(key, "a table of number = label", value)
        labels: dict[int, str] = {}
        for number, label in value.items():
            try:
                whole = int(number)
            except ValueError:
                raise self.wrong(key, "a table of whole numbers to labels", number) from None
            if not _is_text(label):
                raise self.wrong(key, "a table of whole numbers to labels", label)
            labels[whole] = label
        return labels

    def _list(self, key: str, fits: Callable[[object], bool], must: str) -> list[object]:
        value = self.table.get(key, [])
        if not isinstance(value, list | tuple):
            raise self.wrong(key, must, value)
        for entry in value:
            if not fits(entry):
                raise self.wrong(key, must, entry)
        return list(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
