"""Reading a result from the lab where the same analysis was made before, else making it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError

import empathylab
from empathylab.analysis.cache.documents import (
    Unreadable,
    Unstorable,
    content_hash,
    read_document,
    write_document,
)
from empathylab.errors import LabError
from empathylab.store import Lab
from empathylab.store.ratings import Study
from empathylab.store.results import read_result, save_result
from empathylab.study.admin.embargo import is_running

Result = TypeVar("Result")

# What the numbers come from, beside our own code.
_LIBRARIES = ("polars", "numpy", "scipy", "formulae", "vaderSentiment")


def cached_when_closed(
    lab: Lab, study: Study, topic: str, inputs: Any, compute: Callable[[], Result]
) -> Result:
    """`cached` for a closed study; of a running one, whose results are hidden, nothing is kept."""
    return compute() if is_running(study) else cached(lab, topic, inputs, compute)


def cached(lab: Lab, topic: str, inputs: Any, compute: Callable[[], Result]) -> Result:
    """What `compute` gives for these inputs: read from the lab, or made and kept there.

    `inputs` must hold everything that the result depends on: the data themselves and all options.
    Their hash and that of the code are the key, so that other data, options or code never meet
    this result. A lab that cannot be written to works without.
    """
    try:
        key = content_hash(code_version(), topic, inputs)
    except Unstorable:
        return compute()
    stored = read_result(lab, key)
    if stored is not None:
        with contextlib.suppress(Unreadable):
            result: Result = read_document(stored)
            return result
    result = compute()
    with contextlib.suppress(Unstorable, LabError, DBAPIError):
        save_result(lab, key, topic, write_document(result))
    return result


@functools.cache
def code_version() -> str:
    """A hash of this package's files and of the versions of the libraries that it computes with."""
    digest = hashlib.sha256(platform.python_version().encode())
    root = Path(empathylab.__file__).parent
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"\0{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    for name in _LIBRARIES:
        digest.update(f"\0{name} {_version(name)}".encode())
    return digest.hexdigest()


def _version(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return "missing"
