"""A database whose connections are all in use says so in a sentence."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from empathylab.errors import LabError
from empathylab.store import Lab


@pytest.mark.postgres
def test_who_waits_too_long_for_a_connection_is_told_to_try_again(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("empathylab.store.database._POOL_SECONDS", 0.1)
    with Lab.open(tmp_path / "lab", database=postgres_url) as lab:
        with contextlib.ExitStack() as held:
            for _ in range(30):
                held.enter_context(lab.reading())
            with pytest.raises(LabError, match="no connection to the database came free"):
                held.enter_context(lab.reading())
        with lab.reading():
            pass
