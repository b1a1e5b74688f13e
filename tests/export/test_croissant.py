"""`croissant.json` beside every export, read by MLCommons' own library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from empathylab.export import export_lab, lab_tables
from empathylab.store import Lab
from empathylab.study.exports.folders import export_study
from tests.report.exports.full_lab import fill

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("croissant")
    with Lab.open(folder / "lab") as lab:
        fill(lab, folder)
        yield lab


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "psych-ds", "huggingface"])
def test_the_description_is_valid_and_loads_every_row(full: Lab, tmp_path: Path, kind: str) -> None:
    import mlcroissant

    out = tmp_path / "out"
    wanted = ["ratings", "raters", "runs", "administrations", "studies"]
    export_lab(full, out, format=kind, what=wanted)  # type: ignore[arg-type]
    inside = "documentation" if kind == "psych-ds" else "."
    loaded = mlcroissant.Dataset(out / inside / "croissant.json")
    assert not loaded.metadata.ctx.issues.errors
    tables = lab_tables(full).tables
    assert {item.id for item in loaded.metadata.record_sets} == set(wanted)
    for name in wanted:
        assert len(list(loaded.records(name))) == tables[name].height, name


def test_the_description_says_what_conferences_ask_for(full: Lab, tmp_path: Path) -> None:
    export_lab(full, tmp_path / "out", what=["ratings", "raters"])
    told = json.loads((tmp_path / "out" / "croissant.json").read_text(encoding="utf-8"))
    people = lab_tables(full).tables["raters"].height
    assert told["conformsTo"] == [
        "http://mlcommons.org/croissant/1.0",
        "http://mlcommons.org/croissant/RAI/1.0",
    ]
    assert f"{people} people" in told["rai:dataCollection"]
    assert "random names" in told["rai:personalSensitiveInformation"][0]
    for name in ("dataBiases", "dataLimitations", "dataUseCases", "dataCollectionType"):
        assert told[f"rai:{name}"], name


def test_the_export_of_a_study_has_one_too(full: Lab, tmp_path: Path) -> None:
    import mlcroissant

    done = export_study(full, "welivita-2024", tmp_path / "out")
    loaded = mlcroissant.Dataset(tmp_path / "out" / "croissant.json")
    assert not loaded.metadata.ctx.issues.errors
    (rows,) = [file.rows for file in done.files if file.name == "ratings.csv"]
    assert len(list(loaded.records("ratings"))) == rows
