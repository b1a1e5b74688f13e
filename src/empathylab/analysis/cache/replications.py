"""A parametric bootstrap whose replications the lab keeps, so that a stopped one resumes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping

from sqlalchemy.exc import DBAPIError

from empathylab.analysis.cache.documents import (
    Unreadable,
    content_hash,
    read_document,
    write_document,
)
from empathylab.analysis.cache.results import code_version
from empathylab.errors import LabError
from empathylab.stats.mixed import Clmm, Lmm
from empathylab.stats.mixed.bootstrap import Bootstrap, Replication, Source, parametric_bootstrap
from empathylab.store import Lab
from empathylab.store.results import read_result, save_result

_SAVE_SECONDS = 5.0
"""A killed process loses at most the replications of this time."""
_SEED = 1


def resumable_bootstrap(
    model: Clmm | Lmm,
    replications: int,
    *,
    keep: Lab | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Bootstrap:
    """The model's parametric bootstrap, without making replications again that `keep` holds.

    Each replication has a seed of its own, so the result is the same however often it was stopped
    and however many processes worked on it. The key is a hash of what is simulated from and of the
    code: replications of another model or version never mix. More replications of the same model
    go on from those computed before. `progress` is called with how many are done and how many there
    will be.
    """
    key = "" if keep is None else content_hash(code_version(), "bootstrap", Source.of(model), _SEED)
    computed = {} if keep is None else _read(keep, key)
    known = dict(computed)
    done = sum(number < replications for number in known)
    saved_at = time.monotonic()

    def add(number: int, estimates: Replication) -> None:
        nonlocal done, saved_at
        computed[number] = estimates
        done += 1
        if keep is not None and time.monotonic() - saved_at >= _SAVE_SECONDS:
            _save(keep, key, computed)
            saved_at = time.monotonic()
        if progress is not None:
            progress(done, replications)

    try:
        return parametric_bootstrap(
            model, replications=replications, seed=_SEED, known=known, tick=add
        )
    finally:
        if keep is not None and len(computed) > len(known):
            _save(keep, key, computed)


def _read(lab: Lab, key: str) -> dict[int, Replication]:
    stored = read_result(lab, key)
    if stored is not None:
        with contextlib.suppress(Unreadable):
            replications: dict[int, Replication] = read_document(stored)
            return replications
    return {}


def _save(lab: Lab, key: str, computed: Mapping[int, Replication]) -> None:
    """Keeps the replications; a lab that cannot be written to works without."""
    with contextlib.suppress(LabError, DBAPIError):
        save_result(lab, key, "bootstrap", write_document(dict(computed)))
