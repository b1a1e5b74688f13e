"""The embedded model, from command to report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from empathylab.models import known_weights
from tests.helpers.command_line import process
from tests.helpers.groups import unavailable

pytestmark = [pytest.mark.embedded, pytest.mark.slow]


@pytest.fixture(autouse=True)
def _weights() -> None:
    if not known_weights("smollm2").installed:
        unavailable("embedded", "run `empathylab models install smollm2`")


@pytest.mark.parametrize(("mode", "orders"), [("structured", 5), ("logprob", 1), ("free", 1)])
def test_it_goes_through_an_appraisal_in_every_mode(tmp_path: Path, mode: str, orders: int) -> None:
    """Five orders at baseline are enough to see that it follows the page."""
    done = process(
        *("appraise", "local/smollm2", "--emotion", "fear", "--situations", "1"),
        *("--default-orders", orders, "--concurrency", "1", "--mode", mode),
        *("--json", "--lab", tmp_path),
    )
    assert done.exit_code == 0, done.stderr
    assert "Traceback" not in done.stderr
    found = json.loads(done.stdout)
    [session] = found["sessions"]
    assert session["asked"] == orders + 1
    if mode != "free":  # held to the schema it cannot but answer; free, it seldom does
        assert session["outcomes"] == {"valid": orders + 1}
        assert {row["label"] for row in found["changes"]} >= {"Overall", "Fear"}
    if mode == "structured":
        [report] = found["validity"]
        assert report["verdict"] == "meaningless"
        assert report["reasons"]
