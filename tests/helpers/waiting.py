"""Waiting for something that another process or thread does."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], seconds: float = 300) -> None:
    """Return once the condition holds; fail after a time that a busy machine does not need."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
