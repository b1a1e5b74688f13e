"""Passwords that are hashed fast, because no test is about how slow that is but one."""

from __future__ import annotations

import argon2
import pytest

from empathylab.study.web.console.sign_in import passwords


@pytest.fixture(autouse=True)
def _fast_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = argon2.PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", lambda: quick)
