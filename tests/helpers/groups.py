"""Test groups that need something from outside; CI names those that must not be skipped."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

GROUPS = (
    "browser",
    "postgres",
    "embedded",
    "shared_data",
    "notebooks",
    "inspect",
    "lm_eval",
    "r",
    "ray",
)


def required_groups() -> set[str]:
    """The groups named in EMPATHYLAB_REQUIRE_GROUPS."""
    return set(os.environ.get("EMPATHYLAB_REQUIRE_GROUPS", "").split())


def chosen_groups(markers: str) -> set[str]:
    """The required groups that `pytest -m` leaves in: `embedded`, `not embedded`, or all."""
    required = required_groups()
    if markers.startswith("not "):
        return required - {markers.removeprefix("not ")}
    return required & {markers} if markers else required


def unavailable(group: str, reason: str) -> NoReturn:
    """Skips the test, or fails it where CI says that the group can run."""
    if group in required_groups():
        pytest.fail(f"the group {group!r} must run here: {reason}")
    pytest.skip(f"{group}: {reason}")
