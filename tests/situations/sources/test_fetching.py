"""Downloading published files, from a server of the test's own."""

from __future__ import annotations

import functools
import hashlib
import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from empathylab.errors import InputError
from empathylab.situations.sources.fetching import (
    EMOTIONBENCH_FILES,
    EMOTIONBENCH_URL,
    EMPATHETICDIALOGUES_FILES,
    EMPATHETICDIALOGUES_URL,
    PublishedFile,
    fetch_files,
)

CONTENT = b"id,text\n1,hello\n"
FILE = PublishedFile("results/A Test/one.csv", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder with the file, and the address that serves it."""
    root = tmp_path / "repository"
    (root / "results" / "A Test").mkdir(parents=True)
    (root / FILE.path).write_bytes(CONTENT)
    handler = functools.partial(Quiet, directory=str(root))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield root, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_file_is_downloaded_and_said(repository: tuple[Path, str], tmp_path: Path) -> None:
    said: list[str] = []
    (found,) = fetch_files([FILE], repository[1], tmp_path / "sources", on_download=said.append)
    assert found.read_bytes() == CONTENT
    assert len(said) == 1


def test_a_file_that_is_there_is_not_downloaded_again(
    repository: tuple[Path, str], tmp_path: Path
) -> None:
    fetch_files([FILE], repository[1], tmp_path / "sources")
    (repository[0] / FILE.path).unlink()
    said: list[str] = []
    fetch_files([FILE], repository[1], tmp_path / "sources", on_download=said.append)
    assert said == []


def test_a_damaged_file_is_downloaded_again(repository: tuple[Path, str], tmp_path: Path) -> None:
    (found,) = fetch_files([FILE], repository[1], tmp_path / "sources")
    found.write_bytes(b"damaged")
    fetch_files([FILE], repository[1], tmp_path / "sources")
    assert found.read_bytes() == CONTENT


@pytest.mark.parametrize("served", [b"id,text\n1,hullo\n", CONTENT + b"more", b""])
def test_a_wrong_checksum_is_refused_and_nothing_is_kept(
    repository: tuple[Path, str], tmp_path: Path, served: bytes
) -> None:
    (repository[0] / FILE.path).write_bytes(served)
    with pytest.raises(InputError, match="hash of one.csv does not match"):
        fetch_files([FILE], repository[1], tmp_path / "sources")
    assert not list(tmp_path.glob("sources/*"))


def test_a_missing_file_is_one_sentence(repository: tuple[Path, str], tmp_path: Path) -> None:
    (repository[0] / FILE.path).unlink()
    with pytest.raises(InputError, match="cannot be downloaded; got .*by hand"):
        fetch_files([FILE], repository[1], tmp_path / "sources")


def test_the_command_for_those_who_download_by_hand_is_the_callers(tmp_path: Path) -> None:
    by_hand = "empathylab data import empatheticdialogues FILE"
    with pytest.raises(InputError, match=f"by hand and run: {by_hand}"):
        fetch_files([FILE], "http://127.0.0.1:1", tmp_path / "sources", by_hand=by_hand)


def test_an_unreachable_server_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be downloaded"):
        fetch_files([FILE], "http://127.0.0.1:1", tmp_path / "sources")


def test_only_web_addresses_are_taken(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must begin with https://"):
        fetch_files([FILE], f"file://{tmp_path}", tmp_path / "sources")


def test_the_published_files_are_pinned_by_commit_and_hash() -> None:
    assert EMOTIONBENCH_URL.startswith("https://")
    assert re.search(r"/[0-9a-f]{40}$", EMOTIONBENCH_URL)
    assert all(len(file.sha256) == 64 and file.size > 0 for file in EMOTIONBENCH_FILES)


def test_the_dialogues_are_pinned_by_size_and_hash() -> None:
    assert EMPATHETICDIALOGUES_URL.startswith("https://")
    (archive,) = EMPATHETICDIALOGUES_FILES
    assert (archive.name, archive.size) == ("empatheticdialogues.tar.gz", 28_022_709)
    assert archive.sha256.startswith("56f234d77b7dd1f0")
    assert len(archive.sha256) == 64


@pytest.mark.shared_data
def test_the_pinned_hashes_are_those_of_the_published_files(shared_data: Path) -> None:
    at_hand = {path.name: path for path in (shared_data / "emotionbench").rglob("*.*")}
    for file in EMOTIONBENCH_FILES:
        content = at_hand[file.name].read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file.size, file.sha256)
