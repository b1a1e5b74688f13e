"""The rows of EmpatheticDialogues' files, read as they were written.

The files look like CSV but are not: commas inside a text are written `_comma_`, and quotation
marks are ordinary characters. A CSV reader takes a stray one for the beginning of a quoted cell
and swallows the rows up to the next (Hugging Face's loader, which uses one, records 99,646 of some
107,000 rows). So a row is split at its commas, and read by its quotes only where that fails, for a
file that someone saved again.
"""

from __future__ import annotations

import csv
import re
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, NamedTuple

from empathylab.errors import InputError
from empathylab.situations.sources.markup import without_markup
from empathylab.tables import clean_text, decoded, require_columns

SPLITS = ("train", "valid", "test")
REQUIRED = ("conv_id", "utterance_idx", "context", "prompt", "speaker_idx", "utterance")
_ARCHIVES = (".tar.gz", ".tgz", ".tar")
# The published archive holds a few hundred megabytes; more is a mistake or an attack.
_LARGEST_FILE = 1 << 30
_LONGEST_ROW = 64 << 20
_MOST_MEMBERS = 10_000
_SELF_EVALUATION = re.compile(r"[\d|_ ]*")
_DOUBLED_QUOTES = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')


class Turn(NamedTuple):
    """One row: what one of the two said."""

    conversation: str
    number: int
    emotion: str
    prompt: str
    speaker: str
    text: str
    selfeval: str


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where a file's columns stand, how many there are, and how many a row needs at least."""

    places: Mapping[str, int]
    width: int
    least: int


@dataclass(slots=True)
class Tally:
    """How often something happened, by what it was, and where it happened first."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, what: str, where: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1
        self.first.setdefault(what, where)

    def sentences(self, things: str) -> list[str]:
        """A sentence for each kind."""
        return [
            f"{count} {things}: {what} (first: {self.first[what]})."
            for what, count in self.counts.items()
        ]


def turns_of(path: Path, dropped: Tally) -> Iterator[tuple[str, str, Turn]]:
    """The split's name, the row's place and the turn, row by row.

    `path` is the archive, a folder with train.csv, valid.csv, test.csv, or one such file. Rows that
    cannot be read are counted in `dropped` with the reason.
    """
    for split, where, lines in _files(path):
        yield from ((split, place, turn) for place, turn in _turns(lines, where, dropped))


def _files(path: Path) -> Iterator[tuple[str, str, Iterable[bytes]]]:
    if not path.exists():
        raise InputError(
            "there is no such file or folder", where=str(path), remedy="Check the path."
        )
    if path.is_dir():
        yield from _opened(_split_files(path))
    elif path.name.lower().endswith(_ARCHIVES):
        yield from _members(path)
    elif path.suffix.lower() == ".csv":
        yield from _opened({path.stem if path.stem in SPLITS else "": path})
    else:
        raise InputError(
            "this is not an archive, a folder or a CSV file",
            where=path.name,
            remedy="Give empatheticdialogues.tar.gz, the folder of its CSV files, or one of them.",
        )


def _opened(files: Mapping[str, Path]) -> Iterator[tuple[str, str, Iterable[bytes]]]:
    for split, file in files.items():
        with _readable(file.name), file.open("rb") as stream:
            yield split, file.name, _lines(stream, file.name)


def _split_files(folder: Path) -> dict[str, Path]:
    for place in (folder, folder / "empatheticdialogues"):
        files = {split: place / f"{split}.csv" for split in SPLITS}
        files = {split: file for split, file in files.items() if file.is_file()}
        if files:
            return files
    raise InputError(
        "there is no train.csv, valid.csv or test.csv here",
        where=str(folder),
        remedy="Give the folder into which the archive was unpacked, or the archive.",
    )


def _members(path: Path) -> Iterator[tuple[str, str, Iterable[bytes]]]:
    """The archive's split files, read as streams: nothing is unpacked, so no name can do harm."""
    seen: dict[str, str] = {}
    with _readable(path.name), tarfile.open(path) as archive:
        for number, member in enumerate(archive):
            _refuse_oversize(member, number, path.name)
            name = member.name.rpartition("/")[2]
            split = name.removesuffix(".csv")
            if not member.isreg() or not name.endswith(".csv") or split not in SPLITS:
                continue
            if split in seen:
                raise InputError(
                    f"the archive contains {name} twice",
                    where=path.name,
                    got=f"{seen[split]}, {member.name}",
                    remedy="Give the original archive, or a folder with the right files.",
                )
            seen[split] = member.name
            stream = archive.extractfile(member)
            if stream is not None:
                yield split, name, _lines(stream, name)
    if not seen:
        raise InputError(
            "the archive contains no train.csv, valid.csv or test.csv",
            where=path.name,
            remedy="Give EmpatheticDialogues' original archive.",
        )


@contextmanager
def _readable(where: str) -> Iterator[None]:
    """Turns what the libraries say of a broken or forbidden file into one sentence."""
    try:
        yield
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise InputError(
            "the file cannot be read",
            where=where,
            got=str(error) or type(error).__name__,
            remedy="Check its permissions, or fetch it again: "
            "empathylab data fetch empatheticdialogues",
        ) from None


def _refuse_oversize(member: tarfile.TarInfo, number: int, where: str) -> None:
    if member.size > _LARGEST_FILE or number >= _MOST_MEMBERS:
        raise InputError(
            "the archive is far larger than EmpatheticDialogues",
            where=where,
            got=f"{member.name}, {member.size:,} bytes",
            remedy="Give the original archive.",
        )


def _lines(stream: IO[bytes], where: str) -> Iterator[bytes]:
    number = 0
    with _readable(where):
        while line := stream.readline(_LONGEST_ROW + 1):
            number += 1
            if len(line) > _LONGEST_ROW:
                raise InputError(
                    f"the row is longer than {_LONGEST_ROW:,} bytes",
                    where=f"{where} row {number}",
                    remedy="Fix the file's line breaks.",
                )
            yield line


def _turns(lines: Iterable[bytes], where: str, dropped: Tally) -> Iterator[tuple[str, Turn]]:
    layout: _Layout | None = None
    for number, raw in enumerate(lines, start=1):
        line = _decoded(raw, where, number)
        if not line.strip():
            continue
        if layout is None:
            layout = _layout(line, where)
            continue
        place = f"{where} row {number}"
        turn = _turn(line, layout)
        if isinstance(turn, str):
            dropped.add(turn, place)
        else:
            yield place, turn
    if layout is None:
        raise InputError("the file is empty", where=where, remedy="Give the original file.")


def _decoded(raw: bytes, where: str, number: int) -> str:
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        if number == 1:
            return decoded(raw, where)
        raise InputError(
            "the text is not UTF-8",
            where=f"{where} row {number}",
            got=raw[error.start : error.start + 1],
            remedy="Save the file as UTF-8, or use the original.",
        ) from None
    return text.rstrip("\r\n")


def _layout(header: str, where: str) -> _Layout:
    names = [name.strip().strip('"') for name in header.split(",")]
    require_columns(names, REQUIRED, where=where)
    places = {name: place for place, name in enumerate(names)}
    return _Layout(places, len(names), 1 + max(places[name] for name in REQUIRED))


def _turn(line: str, layout: _Layout) -> Turn | str:
    """The row's turn, or why there is none."""
    cells = line.split(",")
    wrong = _wrong(cells, layout)
    if wrong and '"' in line:
        quoted = _by_quotes(line)
        if quoted and not _wrong(quoted, layout):
            cells, wrong = quoted, None
    if wrong:
        return wrong
    values = {name: cells[layout.places[name]].strip() for name in REQUIRED}
    text = _text(values["utterance"])
    if not text:
        return "the utterance is empty"
    place = layout.places.get("selfeval", len(cells))
    return Turn(
        conversation=clean_text(values["conv_id"]),
        number=int(values["utterance_idx"]),
        emotion=_label(values["context"]).lower(),
        prompt=_label(values["prompt"]),
        speaker=values["speaker_idx"],
        text=text,
        selfeval=clean_text(cells[place]).strip() if place < len(cells) else "",
    )


def _wrong(cells: list[str], layout: _Layout) -> str | None:
    """What keeps the cells from being a row, if anything does."""
    places = layout.places
    if len(cells) < layout.least:
        return "too few cells"
    # The archive's valid and test rows end in one cell more, candidates for a reply.
    if len(cells) > layout.width + 1:
        return "too many cells"
    place = places.get("selfeval", 0)
    if len(cells) > layout.width and place and not _SELF_EVALUATION.fullmatch(cells[place]):
        return "too many cells"
    if not cells[places["conv_id"]].strip():
        return "no conversation ID"
    for name in ("utterance_idx", "speaker_idx"):
        number = cells[places[name]].strip()
        if not (number.isascii() and number.isdecimal() and len(number) < 10):
            return f"{name!r} is not a number"
    return None


def _by_quotes(line: str) -> list[str] | None:
    csv.field_size_limit(_LONGEST_ROW)
    try:
        return next(csv.reader([line], strict=True))
    except (csv.Error, StopIteration):
        return None


def _text(cell: str) -> str:
    """The cell as a person reads it."""
    if _DOUBLED_QUOTES.fullmatch(cell):
        cell = cell[1:-1].replace('""', '"')
    return clean_text(without_markup(cell.replace("_comma_", ","))).strip()


# A conversation's rows repeat these two cells.
_label = lru_cache(maxsize=64)(_text)
