"""Downloading published files, each checked against its hash."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from empathylab.errors import InputError
from empathylab.files import packaged_table

_SECONDS = 60


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A public file, as it was when its hash was taken."""

    path: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


_PUBLISHED = packaged_table("empathylab.situations.sources", "published_files.toml")
EMOTIONBENCH_URL: str = _PUBLISHED["emotionbench"]["url"]
EMOTIONBENCH_FILES = tuple(PublishedFile(**file) for file in _PUBLISHED["emotionbench"]["files"])
EMPATHETICDIALOGUES_URL: str = _PUBLISHED["empatheticdialogues"]["url"]
EMPATHETICDIALOGUES_FILES = tuple(
    PublishedFile(**file) for file in _PUBLISHED["empatheticdialogues"]["files"]
)


def fetch_files(
    files: Iterable[PublishedFile],
    base_url: str,
    folder: Path,
    *,
    on_download: Callable[[str], None] = lambda _: None,
    by_hand: str = "empathylab data import emotionbench FOLDER",
) -> list[Path]:
    """The files in the folder, downloaded unless they are there already, each with its hash.

    Nothing that fails the check is kept. `on_download` gets each file's name and size; `by_hand` is
    the command for users who download the files themselves.
    """
    if urllib.parse.urlsplit(base_url).scheme not in ("http", "https"):
        raise InputError(
            "the address must begin with https://", got=base_url, remedy="Correct --base-url."
        )
    paths = []
    for file in files:
        target = folder / file.name
        if not (target.is_file() and _sha256(target.read_bytes()) == file.sha256):
            url = f"{base_url.rstrip('/')}/{urllib.parse.quote(file.path)}"
            on_download(f"{file.name} ({file.size / 1000:,.0f} kB)")
            content = _download(url, file, by_hand)
            folder.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f".{file.name}.part")
            part.write_bytes(content)
            part.replace(target)
        paths.append(target)
    return paths


def _download(url: str, file: PublishedFile, by_hand: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer:  # noqa: S310
            content: bytes = answer.read(file.size + 1)
    except (OSError, http.client.HTTPException) as error:
        why = error.reason if isinstance(error, urllib.error.URLError) else error
        raise InputError(
            "the file cannot be downloaded",
            where=url,
            got=str(why),
            remedy=f"Check the connection; or download it by hand and run: {by_hand}",
        ) from error
    if _sha256(content) != file.sha256:
        raise InputError(
            f"the hash of {file.name} does not match, so the file was not kept",
            where=url,
            got=_sha256(content),
            remedy="Try again. If it happens again, do not use the file, and report it.",
        )
    return content


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
