"""A lab as a data set of the Hugging Face Hub: written, read by `datasets`, pushed, brought back."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from empathylab.export import export_lab, lab_tables
from empathylab.export.huggingface import import_dataset
from empathylab.store import Lab
from tests.helpers.command_line import as_json, empathylab
from tests.report.exports.full_lab import fill

pytestmark = pytest.mark.filterwarnings("ignore")
# A study that the lab ran comes back as from its archive: ratings, raters and their answers, but
# neither the times of pages nor how each visit went.
OF_VISITS = {"pages", "attention", "written_replies", "imports"}
CHANGED = {
    "studies": ["launched", "closed"],
    "raters": ["status", "outcome", "language", "day", "failed_attention"],
    "arms": ["responses"],
    "scales": ["fingerprint"],
    "ratings": ["position"],
    "ratings_of_excluded": ["position"],
}
NUMBERS = ("run", "administration", "response", "first_response", "second_response")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("hub")
    with Lab.open(folder / "lab") as lab:
        fill(lab, folder)
        export_lab(lab, folder / "dataset", format="huggingface")
        yield lab


def dataset(lab: Lab) -> Path:
    return lab.folder.parent / "dataset"


def test_the_lab_comes_back_table_by_table(full: Lab, tmp_path: Path) -> None:
    at = ("--lab", tmp_path / "lab")
    done = as_json("data", "import", "huggingface", dataset(full), *at)
    assert {one["table"] for one in done["tables"]} >= {"answers", "responses", "ratings"}
    with Lab.open(tmp_path / "lab") as lab:
        own, brought = lab_tables(full).tables, lab_tables(lab).tables
    for name in own.keys() - OF_VISITS:
        before, after = (_comparable(name, one[name]) for one in (own, brought))
        assert before.rows() == after.rows(), name
    again = as_json("data", "import", "huggingface", dataset(full), *at)
    assert not any(one["added"] for one in again["tables"])


def _comparable(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """The table without numbers of rows, in an order of its own."""
    kept = frame.drop([*NUMBERS, *CHANGED.get(name, [])], strict=False)
    return kept.select(sorted(kept.columns)).sort(pl.all(), nulls_last=True)
