"""A folder or a zip file that is there whole, or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from empathylab.errors import InputError

SUMS = "SHA256SUMS"
_OWNER_ONLY = 0o600
_EPOCH = (1980, 1, 1, 0, 0, 0)


def require_free(place: Path) -> None:
    """Raises where something is in the place already: nothing is written over."""
    exists = place.is_symlink() or place.exists()
    if place.is_dir() and not place.is_symlink():
        exists = any(place.iterdir())
    if exists:
        raise InputError(
            "this path already exists",
            where=str(place),
            remedy="Name a new folder or file; existing ones are never overwritten.",
        )


@dataclass(frozen=True, slots=True)
class Aside:
    """A folder beside the place for which its files are made."""

    folder: Path
    place: Path

    @property
    def _packed(self) -> Path:
        return self.folder.with_suffix(".packed")

    def pack(self) -> None:
        """Makes the one file that a place ending in .zip is to be; nothing for a folder."""
        if is_zip(self.place):
            _pack(self.folder, self._packed)

    def settle(self) -> None:
        """Moves what was made to its place, in one step."""
        (self._packed if is_zip(self.place) else self.folder).replace(self.place)

    def clear(self) -> None:
        """Takes away what has not been moved."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # nothing was made where no folder can be
            self._packed.unlink(missing_ok=True)


@contextlib.contextmanager
def put_aside(place: Path) -> Iterator[Aside]:
    """A folder beside the place; whatever fails before it is settled, nothing of it stays."""
    require_free(place)
    place = place.resolve()  # so that `.` has a name, too
    aside = Aside(place.with_name(f".{place.name}.{secrets.token_hex(4)}.part"), place)
    try:
        aside.folder.mkdir(parents=True)
        yield aside
    except OSError as error:
        raise InputError(
            "the export cannot be written",
            where=str(place),
            got=error.strerror,
            remedy="Free some space, or choose another path.",
        ) from None
    finally:
        aside.clear()


def is_zip(place: Path) -> bool:
    """Whether the place is to be one file."""
    return place.suffix.lower() == ".zip"


def put(folder: Path, name: str, content: bytes) -> None:
    """Writes a file of the folder; its name may have folders in it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def put_secret(folder: Path, name: str, content: bytes) -> None:
    """Writes a file that nobody but its owner can read."""
    handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
    with os.fdopen(handle, "wb") as opened:
        opened.write(content)


def files_of(folder: Path) -> list[str]:
    """The names of all files in the folder, in a fixed order."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in paths)


def checksums(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file in the folder."""
    return {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files_of(folder)
    }


def sums_file(sums: dict[str, str]) -> bytes:
    """The checksums as `sha256sum --check` reads them."""
    return "".join(f"{digest}  {name}\n" for name, digest in sums.items()).encode()


def _pack(folder: Path, path: Path) -> None:
    """The same bytes for the same files: no times, no owners, a fixed order."""
    with zipfile.ZipFile(path, "w") as packed:
        for name in files_of(folder):
            entry = zipfile.ZipInfo(name, date_time=_EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, (folder / name).read_bytes(), compresslevel=6)
