"""A block type of one's own: that of the example plugin, registered and walked by a bot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import empathylab
from empathylab.errors import UserError
from empathylab.store import Lab, schema
from empathylab.study import parse_study, register_block
from empathylab.study.blocks.registry import unregister
from empathylab.study.bots import Settings, served, walk
from empathylab.study.exports.folders import export_study
from empathylab.study.web import visit_token
from empathylab_example.blocks import Thermometer
from tests.study.examples import BETWEEN
from tests.study.service_examples import opened, rows_of, someone
from tests.study.service_examples import walk as walk_by_hand

STUDY = BETWEEN.replace(
    "  - block: comment\n",
    """\
  - block: thermometer
    text: How warm do you feel?
    step_size: 35
  - block: comment
""",
)


@pytest.fixture
def thermometer() -> Iterator[None]:
    register_block(Thermometer)
    yield
    unregister("thermometer")


def test_a_type_that_nobody_registered_is_refused() -> None:
    with pytest.raises(UserError, match="there is no block 'thermometer'"):
        parse_study(STUDY)


@pytest.mark.usefixtures("thermometer")
def test_its_entry_in_the_file_is_checked() -> None:
    with pytest.raises(UserError, match="no key 'step_sise'. Did you mean 'step_size'"):
        parse_study(STUDY.replace("step_size", "step_sise"))


@pytest.mark.usefixtures("thermometer")
def test_a_bot_walks_it_over_http(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab, parse_study(STUDY))
    token = visit_token("simulated", service.secret)
    with served(service) as address:
        met = walk(f"{address}?visit={token}", ["careful"] * 3, Settings())
    assert met.lost == 0
    assert not met.errors
    assert "thermometer" in met.pages
    assert [row["details"]["warmth"] for row in rows_of(sqlite_lab, schema.raters)] == [70] * 3


@pytest.mark.usefixtures("thermometer")
def test_its_answers_are_exported_and_explained(sqlite_lab: Lab, tmp_path: Path) -> None:
    service, _ = opened(sqlite_lab, parse_study(STUDY))
    person = someone(service, "a")
    page = walk_by_hand(service, person, until="thermometer")
    refused = service.submit(person, page.step, {"degrees": "30"})  # type: ignore[union-attr]
    assert "degrees" in refused.problems  # type: ignore[union-attr]
    service.submit(person, "thermometer", {"degrees": "35"})
    walk_by_hand(service, person)
    service.actions.close()
    export_study(sqlite_lab, "small", tmp_path / "out")
    assert pl.read_csv(tmp_path / "out" / "raters.csv")["warmth"].to_list() == [35.0]
    dictionary = pl.read_csv(tmp_path / "out" / "data_dictionary.csv")
    [row] = dictionary.filter(table="raters", column="warmth").to_dicts()
    assert (row["meaning"], row["values"]) == ("How warm do you feel?", "0 to 100")


TYPES = "Consent|Demographics|ScaleBlock|Tutorial|Rate|Imagine|Write|Attention|Comment"
TYPES += "|Debrief|WorkBlock"


def test_no_code_outside_the_blocks_asks_for_a_block_type() -> None:
    source = Path(empathylab.__file__).parent
    asking = re.compile(rf"isinstance\([^)]*\b({TYPES})\b|case ({TYPES})\(|import .*\b({TYPES})\b")
    found = [
        f"{path.relative_to(source)}: {line.strip()}"
        for path in source.rglob("*.py")
        if not path.is_relative_to(source / "study" / "blocks")
        for line in path.read_text(encoding="utf-8").splitlines()
        if asking.search(line)
    ]
    assert found == []
