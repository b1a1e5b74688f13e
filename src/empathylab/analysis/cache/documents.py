"""Results as documents of plain data, and back.

A document is compressed JSON: nothing in it is executed when it is read. It can hold plain values,
frames, arrays, scales, and the dataclasses of this package; reading makes an object of a class only
if this package defines it as a dataclass with exactly these fields.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import importlib
import io
import json
import zlib
from collections.abc import Mapping
from datetime import date, datetime
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from empathylab.scales import Scale, scale_from_dict, scale_to_dict

_PACKAGE = "empathylab."
_COLLECTIONS: Mapping[str, Any] = {kind.__name__: kind for kind in (tuple, set, frozenset)}
_TIMES: Mapping[str, Any] = {kind.__name__: kind for kind in (datetime, date)}
_PLAIN = (str, bool, int, float, type(None))


class Unstorable(TypeError):
    """A value that no document can hold."""


class Unreadable(ValueError):
    """A document of another version, or one that is damaged."""


def write_document(value: Any) -> bytes:
    """The value as a document. Raises Unstorable for one that it cannot hold."""
    writer = _Writer(compressed=True)
    tree = writer.write(value)
    parts = [base64.b64encode(part).decode() for part in writer.parts]
    return zlib.compress(json.dumps({"value": tree, "parts": parts}).encode(), level=3)


def read_document(content: bytes) -> Any:
    """The value that the document was written from. Raises Unreadable."""
    try:
        document = json.loads(zlib.decompress(content))
        reader = _Reader([base64.b64decode(part) for part in document["parts"]])
        return reader.read(document["value"])
    except Exception as error:
        raise Unreadable("the document cannot be read") from error


def content_hash(*values: Any) -> str:
    """A hash of the values, whatever they are made of. Raises Unstorable."""
    writer = _Writer(compressed=False)
    digest = hashlib.sha256(json.dumps(writer.write(values)).encode())
    for part in writer.parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


class _Writer:
    """Turns a value into JSON; frames and arrays become parts, each once."""

    def __init__(self, *, compressed: bool) -> None:
        self.parts: list[bytes] = []
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        """Keeps what was written alive: an id must not be given to another object."""
        self._compressed = compressed

    def write(self, value: Any) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is list:
            return [self.write(item) for item in value]
        if kind is tuple:
            return {"tuple": [self.write(item) for item in value]}
        if kind in (dict, MappingProxyType):
            name = "dict" if kind is dict else "proxy"
            return {name: [[self.write(key), self.write(item)] for key, item in value.items()]}
        if kind in (set, frozenset):
            items = sorted((self.write(item) for item in value), key=json.dumps)
            return {kind.__name__: items}
        if kind in (datetime, date):
            return {kind.__name__: value.isoformat()}
        return self._write_object(value)

    def _write_object(self, value: Any) -> Any:
        if isinstance(value, pl.DataFrame):
            return {"frame": self._part(value, self._frame_bytes)}
        if isinstance(value, pl.Series):
            return {
                "series": self._part(value, lambda series: self._frame_bytes(series.to_frame()))
            }
        if isinstance(value, np.ndarray | np.generic):
            return self._write_array(value)
        if isinstance(value, Scale):
            return {"scale": scale_to_dict(value)}
        kind = type(value)
        if kind.__module__.startswith(_PACKAGE):
            if dataclasses.is_dataclass(value):
                names = [field.name for field in dataclasses.fields(value)]
                fields = {name: self.write(getattr(value, name)) for name in names}
                return {"object": [_name(kind), fields]}
            if hasattr(kind, "_fields"):
                return {"named": [_name(kind), [self.write(item) for item in value]]}
        if isinstance(value, Mapping):
            return self.write(dict(value))
        raise Unstorable(f"{kind.__module__}.{kind.__qualname__}")

    def _write_array(self, value: Any) -> Any:
        if value.dtype.kind not in "biufc":
            raise Unstorable(f"an array of {value.dtype}")
        if isinstance(value, np.generic):
            return {"number": [value.dtype.str, base64.b64encode(value.tobytes()).decode()]}
        number = self._part(value, lambda array: np.ascontiguousarray(array).tobytes())
        return {"array": [value.dtype.str, list(value.shape), number]}

    def _part(self, value: Any, content: Any) -> int:
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self.parts)
            self._kept.append(value)
            self.parts.append(content(value))
        return self._numbers[id(value)]

    def _frame_bytes(self, frame: pl.DataFrame) -> bytes:
        if any(kind == pl.Object for kind in frame.dtypes):
            raise Unstorable("a frame of objects")
        written = io.BytesIO()
        # The oldest layout: the same rows give the same bytes, however they were put together.
        frame.rechunk().write_ipc(
            written,
            compression="zstd" if self._compressed else "uncompressed",
            compat_level=pl.CompatLevel.oldest(),
        )
        return written.getvalue()


class _Reader:
    """Turns JSON back into the value."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts
        self._frames: dict[int, pl.DataFrame] = {}

    def read(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self.read(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        ((name, content),) = tree.items()
        if name in _COLLECTIONS:
            return _COLLECTIONS[name](self.read(item) for item in content)
        if name in _TIMES:
            return _TIMES[name].fromisoformat(content)
        return getattr(self, f"_read_{name}")(content)

    def _read_dict(self, content: list[Any]) -> dict[Any, Any]:
        return {self.read(key): self.read(item) for key, item in content}

    def _read_proxy(self, content: list[Any]) -> Any:
        return MappingProxyType(self._read_dict(content))

    def _read_frame(self, content: int) -> pl.DataFrame:
        if content not in self._frames:
            self._frames[content] = pl.read_ipc(io.BytesIO(self._parts[content]))
        return self._frames[content]

    def _read_series(self, content: int) -> pl.Series:
        return self._read_frame(content).to_series()

    def _read_array(self, content: list[Any]) -> Any:
        kind, shape, part = content
        return np.frombuffer(self._parts[part], dtype=np.dtype(kind)).reshape(shape).copy()

    def _read_number(self, content: list[str]) -> Any:
        kind, digits = content
        return np.frombuffer(base64.b64decode(digits), dtype=np.dtype(kind))[0]

    def _read_scale(self, content: dict[str, Any]) -> Scale:
        return scale_from_dict(content)

    def _read_object(self, content: list[Any]) -> Any:
        name, fields = content
        kind = _class(name)
        if not isinstance(kind, type) or not dataclasses.is_dataclass(kind):
            raise Unreadable(name)
        if [field.name for field in dataclasses.fields(kind)] != list(fields):
            raise Unreadable(f"{name} has other fields")
        restored: Any = object.__new__(kind)
        for field, value in fields.items():
            object.__setattr__(restored, field, self.read(value))
        return restored

    def _read_named(self, content: list[Any]) -> Any:
        name, values = content
        kind = _class(name)
        if not (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            raise Unreadable(name)
        return kind(*(self.read(value) for value in values))


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _class(name: str) -> Any:
    module, _, path = name.partition(":")
    if not module.startswith(_PACKAGE) or "." in path:
        raise Unreadable(name)
    cls = getattr(importlib.import_module(module), path)
    if not isinstance(cls, type):
        raise Unreadable(name)
    return cls
