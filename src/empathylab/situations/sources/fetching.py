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


EMOTIONBENCH_COMMIT = "559f0572c305b9b32cb3f0f33f4e0e806e463499"
EMOTIONBENCH_URL = (
    f"https://raw.githubusercontent.com/CUHK-ARISE/EmotionBench/{EMOTIONBENCH_COMMIT}"
)
EMOTIONBENCH_FILES = (
    PublishedFile(
        "situations.json",
        93_363,
        "3b4ef2ea1e5452814064bb480ec89feb83228f151a51ff9472134c3d68152b35",
    ),
    PublishedFile(
        "questionnaires.json",
        27_845,
        "62df9edf007ba5da0c8e80b027113159ac490574a1f536bbb3d4177af5751585",
    ),
    PublishedFile(
        "results/PANAS Test/crowd.xlsx",
        254_718,
        "0f3ffba968c673f2634cf72c4a93b009ceecef4e72fa3e5addbd78e18ba1ea90",
    ),
    PublishedFile(
        "results/PANAS Test/davinci-003-PANAS-testing.csv",
        637_097,
        "7786022ee2d60cb7b69373d266ecccd736e64e18d13b6b6eaa03ed26bcaf949b",
    ),
    PublishedFile(
        "results/PANAS Test/gpt-3.5-turbo-PANAS-testing.csv",
        637_097,
        "30ecbbf0426f2de75cf6c5317558d0b7bd1b90cf345152dd746f96c3eff0a42d",
    ),
    PublishedFile(
        "results/PANAS Test/llama2-13b-PANAS-testing.csv",
        637_097,
        "7b54c048051c9d6fb8c1ca5780361e9fa067e378c79c04d44e4c01aed12c9563",
    ),
    PublishedFile(
        "results/PANAS Test/llama2-7b-PANAS-testing.csv",
        634_137,
        "2b56b2aab1362e3b6260da53c14c3537969c4aa5bdf622475bd7c5adf691f69a",
    ),
    PublishedFile(
        "results/Challenging Bench/gpt-3.5-turbo-AGQ-testing.csv",
        72_966,
        "2ae490e481cf140080ab37c9f988a48c5a32cef696dcba8492ffe5ee6d11ea9b",
    ),
    PublishedFile(
        "results/Challenging Bench/gpt-3.5-turbo-BDI-testing.csv",
        158_586,
        "92a52c5e67d9ef55f730c026fe7a1136aa6e0cc74e280ce2980d094e43beb589",
    ),
)

# The address has no version; the hash is the one that ParlAI's and Hugging Face's loaders of the
# archive record, with its size.
EMPATHETICDIALOGUES_URL = "https://dl.fbaipublicfiles.com/parlai/empatheticdialogues"
EMPATHETICDIALOGUES_FILES = (
    PublishedFile(
        "empatheticdialogues.tar.gz",
        28_022_709,
        "56f234d77b7dd1f005fd365bb17769cfe346c3c84295b69bc069c8ccb83be03d",
    ),
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
    found = []
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
        found.append(target)
    return found


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
