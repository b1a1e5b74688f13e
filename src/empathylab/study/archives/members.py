"""The file of an archive: a zip of JSON members, each hashed, the same bytes for the same study.

Nothing is ever unpacked to the disk: members are read by their known names, within limits.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from empathylab.errors import InputError
from empathylab.files import read_bytes

FORMAT = "empathylab-study"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
DOCUMENTS = ("study.json", "protocol.json", "sets.json", "scales.json", "arms.json")
TABLES = (
    "situations.jsonl",
    "responses.jsonl",
    "raters.jsonl",
    "ratings.jsonl",
    "scale_answers.jsonl",
)
MEMBERS = (*DOCUMENTS, *TABLES)
MOST_BYTES = 512 * 1024 * 1024
"""Of all members together, unpacked."""
_MOST_MANIFEST = 64 * 1024
_MOST_RATIO = 100
"""Of unpacked to packed; long tables of ratings reach about 40."""
_RATIO_FROM = 1024 * 1024
_READ_AT_ONCE = 1024 * 1024
_FEWEST_COLUMNS = 4
"""No table of an archive has fewer."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_REMEDY = "Get a new copy of the archive."
_SWOLLEN = "the compression ratio of a file in the archive is too high"


@dataclass(frozen=True, slots=True)
class Archive:
    """A study as an archive holds it: by member, one document or a list of rows."""

    content: Mapping[str, Any] = field(hash=False)

    @property
    def members(self) -> dict[str, bytes]:
        """The members as they are written, in the order of the file."""
        return {
            name: _lines(self.content[name]) if name in TABLES else _document(self.content[name])
            for name in MEMBERS
        }

    @property
    def hash(self) -> str:
        """Of the whole: changes with any byte of any member, and not with how it is packed."""
        return _whole(_hashes(self.members))


def write_archive(archive: Archive, path: Path) -> None:
    """Writes the file, all or nothing."""
    members = archive.members
    hashes = _hashes(members)
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "hash": _whole(hashes),
        "members": {
            name: {"bytes": len(content), "sha256": hashes[name]}
            for name, content in members.items()
        },
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as packed:
        for name, content in {MANIFEST: _document(manifest), **members}.items():
            entry = zipfile.ZipInfo(name, date_time=_EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, content, compresslevel=9)
    _put(path, written.getvalue())


def _put(path: Path, content: bytes) -> None:
    beside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(
            "the archive cannot be written",
            where=str(path),
            got=error.strerror,
            remedy="Choose another path.",
        ) from None


def read_archive(path: Path) -> Archive:
    """What the file holds; refused where a member was changed, is missing, doubled or not known."""
    where = path.name
    try:
        with zipfile.ZipFile(io.BytesIO(read_bytes(path))) as packed:
            entries = _entries(packed, where)
            content = {name: _unpacked(packed, entry, where) for name, entry in entries.items()}
    except InputError:
        raise
    except (
        *(zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError),
        *(struct.error, ValueError),
    ) as error:
        raise InputError(
            "this is not an archive of a study, or it is damaged",
            where=where,
            got=str(error),
            remedy=_REMEDY,
        ) from None
    manifest = content.pop(MANIFEST)
    _check_hashes(_parsed(manifest, f"{where}, {MANIFEST}"), content, where)
    return Archive(
        {
            name: _rows(content[name], f"{where}, {name}")
            if name in TABLES
            else _parsed(content[name], f"{where}, {name}")
            for name in MEMBERS
        }
    )


def _entries(packed: zipfile.ZipFile, where: str) -> dict[str, zipfile.ZipInfo]:
    entries: dict[str, zipfile.ZipInfo] = {}
    for item in packed.infolist():
        if item.filename in entries:
            refuse("a file in the archive appears twice", where, item.filename)
        if item.filename not in (MANIFEST, *MEMBERS):
            refuse("this file does not belong in a study archive", where, item.filename)
        if item.flag_bits & 1:
            refuse("a file in the archive is encrypted", where, item.filename)
        if item.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            refuse("a file in the archive is compressed in an unknown way", where, item.filename)
        swollen = item.file_size > _MOST_RATIO * max(1, item.compress_size)
        if item.file_size > _RATIO_FROM and swollen:
            refuse(_SWOLLEN, where, item.filename)
        entries[item.filename] = item
    for name in (MANIFEST, *MEMBERS):
        if name not in entries:
            refuse("a file is missing from the archive", where, name)
    total = sum(item.file_size for item in entries.values())
    if total > MOST_BYTES:
        refuse(f"the archive contains more than {MOST_BYTES:,} bytes", where, f"{total:,}")
    return entries


def _unpacked(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, where: str) -> bytes:
    most = _MOST_MANIFEST if entry.filename == MANIFEST else entry.file_size
    content = bytearray()
    with packed.open(entry) as opened:
        # The sizes in the directory may lie, so what comes out is measured as it comes.
        while part := opened.read(_READ_AT_ONCE):
            content += part
            if len(content) > most:
                refuse("a file in the archive is too large", where, entry.filename)
    return bytes(content)


def _check_hashes(manifest: Any, members: Mapping[str, bytes], where: str) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        refuse("this is not an archive of a study", where, str(manifest)[:60])
    if manifest.get("format_version") != FORMAT_VERSION:
        raise InputError(
            f"the archive has format {manifest.get('format_version')!r}; this EmpathyLab reads "
            f"{FORMAT_VERSION}",
            where=where,
            remedy="Update EmpathyLab.",
        )
    stated, hashes = manifest.get("members"), _hashes(members)
    for name, computed in hashes.items():
        member = stated.get(name) if isinstance(stated, dict) else None
        wanted = member.get("sha256") if isinstance(member, dict) else None
        if wanted != computed:
            refuse(f"{name} was changed: its SHA-256 should be {wanted}", where, computed)
    if manifest.get("hash") != _whole(hashes):
        what = f"the archive's hash should be {manifest.get('hash')}"
        refuse(what, f"{where}, {MANIFEST}", _whole(hashes))


def _hashes(members: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}


def _whole(hashes: Mapping[str, str]) -> str:
    listed = "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes))
    return hashlib.sha256(listed.encode()).hexdigest()


def _document(value: object) -> bytes:
    return f"{_json(value, indent=1)}\n".encode()


def _lines(rows: list[object]) -> bytes:
    return "".join(f"{_json(row)}\n" for row in rows).encode()


def _json(value: object, indent: int | None = None) -> str:
    # Databases do not keep the order of keys.
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False, indent=indent)


def _parsed(content: bytes, where: str) -> Any:
    def no_number(name: str) -> NoReturn:
        raise ValueError(f"{name} is not a number")

    try:
        value = json.loads(content.decode(), parse_constant=no_number)
        _refuse_unstorable(value)
        return value
    except (ValueError, RecursionError) as error:
        raise InputError("this is not JSON", where=where, got=str(error), remedy=_REMEDY) from None


def _refuse_unstorable(value: Any) -> None:
    """Raises ValueError for halves of characters and for numbers that no database holds."""
    if isinstance(value, str):
        value.encode()  # a lone surrogate raises UnicodeEncodeError, which is a ValueError
    elif isinstance(value, int | float):
        if not math.isfinite(value) or (isinstance(value, int) and abs(value) >= 2**63):
            raise ValueError("a number is too large")
    elif isinstance(value, dict):
        for name, item in value.items():
            _refuse_unstorable(name)
            _refuse_unstorable(item)
    elif isinstance(value, list):
        for item in value:
            _refuse_unstorable(item)


def _rows(content: bytes, where: str) -> list[Any]:
    """The rows of a table, which must be tables of the same columns: millions of empty rows pack
    into a few bytes, and take gigabytes once they are read.
    """
    rows: list[Any] = []
    for number, line in enumerate(io.BytesIO(content), start=1):
        row = _parsed(line, f"{where} row {number}")
        if not isinstance(row, dict) or len(row) < _FEWEST_COLUMNS:
            refuse("a row must be a table", f"{where} row {number}", str(row)[:60])
        rows.append(row)
    return rows


def refuse(what: str, where: str, got: object = None) -> NoReturn:
    """Raises the error of an archive that cannot be used."""
    raise InputError(what, where=where, got=got, remedy=_REMEDY)
