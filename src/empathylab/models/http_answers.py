"""Reading HTTP/1.1 answers: head, plain or chunked content, compression."""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

_LONGEST_HEAD = 64 * 1024
_LONGEST_CONTENT = 512 * 1024 * 1024
"""No answer and no file of a batch is longer; what is would only fill the memory."""
_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 47}


class Answer(NamedTuple):
    """What a server sent back."""

    status: int
    headers: dict[str, str]
    """By their names in small letters."""
    content: bytes


class AnswerReader:
    """Takes one answer apart as its bytes come in; ValueError where they are no HTTP."""

    def __init__(self, *, bodyless: bool = False) -> None:
        self.began = False
        """Whether anything has come."""
        self.keeps_open = True
        """Whether the connection can be used again after this answer."""
        self._bodyless = bodyless
        self._buffer = bytearray()
        self._headers: dict[str, str] | None = None
        self._status = 0
        self._parts: list[bytes] = []
        self._received = 0

    def feed(self, data: bytes) -> Answer | None:
        """The answer, once it is whole."""
        self.began = True
        self._buffer += data
        if self._headers is None and not self._read_head():
            return None
        assert self._headers is not None  # noqa: S101 - the head has been read
        if self._bodyless or self._status in (204, 304):
            return self._finished(b"")
        if "chunked" in self._headers.get("transfer-encoding", "").lower():
            return self._finished(b"".join(self._parts)) if self._read_chunks() else None
        length = self._headers.get("content-length")
        if length is None:
            self.keeps_open = False  # the content ends with the connection
            _limited(len(self._buffer))
            return None
        size = _limited(_number(length, 10))
        if len(self._buffer) < size:
            return None
        content = bytes(self._buffer[:size])
        del self._buffer[:size]
        return self._finished(content)

    def ended(self) -> Answer | None:
        """The answer whose content ends with the connection; None where something is missing."""
        if self._headers is None or {"content-length", "transfer-encoding"} & set(self._headers):
            return None
        return self._finished(bytes(self._buffer))

    def _finished(self, content: bytes) -> Answer:
        assert self._headers is not None  # noqa: S101 - the head has been read
        if self._buffer:
            self.keeps_open = False  # more than the answer came
        return Answer(self._status, self._headers, _unpacked(content, self._headers))

    def _read_head(self) -> bool:
        """Whether the head of the final answer has come."""
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if (end if end >= 0 else len(self._buffer)) > _LONGEST_HEAD:
                raise ValueError("the response header is too long")
            if end < 0:
                return False
            first, *lines = bytes(self._buffer[:end]).decode("latin-1").split("\r\n")
            del self._buffer[: end + 4]
            version, _, rest = first.partition(" ")
            if not version.startswith("HTTP/1."):
                raise ValueError(repr(first[:60]))
            self._status = _number(rest[:3], 10)
            if self._status >= 200:
                break
        headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        self._headers = headers
        options = {option.strip() for option in headers.get("connection", "").lower().split(",")}
        self.keeps_open = "close" not in options and (
            version == "HTTP/1.1" or "keep-alive" in options
        )
        return True

    def _read_chunks(self) -> bool:
        """Whether the last chunk has come; what was read is taken out of the buffer."""
        place = 0
        try:
            while (end := self._buffer.find(b"\r\n", place)) >= 0:
                size = _number(bytes(self._buffer[place:end]).split(b";")[0].decode("latin-1"), 16)
                begin = end + 2
                if size == 0:
                    # Trailers may follow; they end with an empty line.
                    after = self._buffer.find(b"\r\n\r\n", end)
                    if after < 0:
                        return False
                    place = after + 4
                    return True
                if len(self._buffer) < begin + size + 2:
                    _limited(self._received + size)
                    return False
                if self._buffer[begin + size : begin + size + 2] != b"\r\n":
                    raise ValueError("a chunk is longer than it says")
                self._parts.append(bytes(self._buffer[begin : begin + size]))
                self._received = _limited(self._received + size)
                place = begin + size + 2
            if len(self._buffer) - place > _LONGEST_HEAD:
                raise ValueError("a chunk has no size")
            return False
        finally:
            del self._buffer[:place]


def _number(text: str, base: int) -> int:
    """Digits only: `int` would also take signs, spaces and underscores."""
    if not re.fullmatch(r"[0-9]+" if base == 10 else r"[0-9a-fA-F]+", text.strip(" \t")):
        raise ValueError(f"{text[:20]!r} is not a number")
    return int(text, base)


def _limited(size: int) -> int:
    if size > _LONGEST_CONTENT:
        raise ValueError(f"the answer is longer than {_LONGEST_CONTENT >> 20} MB")
    return size


def _unpacked(content: bytes, headers: dict[str, str]) -> bytes:
    """The content without compression; some servers compress without being asked."""
    encoding = headers.get("content-encoding", "").lower()
    bits = _WINDOW_BITS.get(encoding)
    if bits is None or not content:
        if encoding not in ("", "identity") and content:
            raise ValueError(f"it is compressed with {encoding[:20]!r}")
        return content
    try:
        unpacking = zlib.decompressobj(bits)
        unpacked = unpacking.decompress(content, _LONGEST_CONTENT)
    except zlib.error as error:
        raise ValueError(f"its compression is broken: {error}") from error
    if not unpacking.eof:
        raise ValueError("its compression is incomplete or too long")
    return unpacked
