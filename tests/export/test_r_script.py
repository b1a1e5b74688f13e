"""The R script of an export: real R reaches the conclusions of `analyze ratings`."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from empathylab.analysis import ratings
from empathylab.export import export_lab
from empathylab.store import Lab
from empathylab.study.exports.folders import export_study
from tests.helpers.command_line import printed
from tests.helpers.groups import unavailable

pytestmark = [pytest.mark.r, pytest.mark.slow]
ODD = 'how "warm", `really`?'
NOTHING_INSTALLED = "requireNamespace <- function(...) FALSE\n"


@pytest.fixture(scope="session")
def rscript() -> str:
    """The command Rscript, with the packages that the script needs."""
    command = shutil.which("Rscript")
    if command is None:
        unavailable("r", "there is no Rscript here")
    check = subprocess.run([command, "-e", "library(ordinal); library(lme4)"], capture_output=True)
    if check.returncode:
        unavailable("r", "the packages ordinal and lme4 are not installed")
    return command


def rated(
    seed: int,
    effects: Mapping[str, float],
    *,
    within: bool,
    cuts: tuple[float, ...],
    raters: int = 36,
) -> pl.DataFrame:
    """Ratings of replies: every rater rates five situations in one arm, or eight across all."""
    generator = np.random.default_rng(seed)
    situations, arms = 12, list(effects)
    taste = generator.normal(0, 0.7, raters)
    leaning = generator.normal(0, 0.6, (raters, len(arms)))
    replies = generator.normal(0, 0.5, (situations, len(arms)))
    rows = []
    for rater in range(raters):
        for turn in range(8 if within else 5):
            place = turn % len(arms) if within else rater % len(arms)
            situation = (rater // 3 * 5 + turn) % situations
            latent = effects[arms[place]] + taste[rater] + replies[situation, place]
            latent += within * leaning[rater, place] + generator.logistic()
            rating = 1 + sum(latent > cut for cut in cuts) if cuts else round(latent, 3)
            rows.append((f"r{rater}", f"s{situation}", arms[place], rating))
    names = ["rater", "situation", "respondent", "rating"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    said = pl.concat_str(pl.lit("Something about "), "situation")
    return frame.with_columns(
        situation_text=said, text=pl.concat_str("respondent", said, separator=": ")
    )


STUDIES = {
    "points": rated(1, {"human": 0, "a": 2.2, "b": 0.1}, within=False, cuts=(-2, -1, 0, 1)),
    "both-arms": rated(2, {"human": 0, "a": -1.6}, within=True, cuts=(-1.5, 0, 1.5), raters=24),
    "yes-no": rated(3, {"x": 0, "y": 2.0}, within=False, cuts=(0,)),
    "slider": rated(4, {"human": 0, "a": 1.6}, within=True, cuts=()),
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rated")
    for name, frame in STUDIES.items():
        frame.with_columns(dimension=pl.lit(ODD)).write_csv(folder / f"{name}.csv")
        printed("data", "import", "ratings", folder / f"{name}.csv", "--lab", folder / "lab")
    return folder / "lab"


def run(command: str, script: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [command, "--vanilla", script],
        capture_output=True,
        text=True,
        cwd="/",
        env=os.environ | {"LC_ALL": "C.UTF-8"},
        check=False,
    )


def test_r_reaches_the_same_conclusions(lab: Path, rscript: str, tmp_path: Path) -> None:
    with Lab.open(lab) as opened:
        export_lab(opened, tmp_path / "out", format="psych-ds")
        results = {name: ratings.from_lab(opened, name) for name in STUDIES}
    script = tmp_path / "out" / "analysis" / "analysis.R"
    done = run(rscript, script)
    assert done.returncode == 0, done.stderr
    found = pl.read_csv(script.with_name("conclusions_r.csv"))
    expected = [
        (name, conclusion)
        for name, result in results.items()
        for conclusion in result.conclusions
        if conclusion.subset == "all" and conclusion.model and "t test" not in conclusion.model
    ]
    assert found.height == len(expected) == 5
    assert set(found["dimension"]) == {ODD}
    for name, ours in expected:
        [theirs] = found.filter(study=name, arm=ours.subject).to_dicts()
        assert theirs["kind"] == ours.kind, name
        assert (theirs["reference"], theirs["unit"]) == (ours.reference, ours.unit)
        assert ours.model is not None
        plain = theirs["formula"].replace(" | ", "|").replace("_", ":")
        assert ours.model.endswith(plain), (name, ours.model, plain)
        # ordinal and lme4 by Laplace's approximation, as ours; the intervals are Wald's there.
        assert theirs["estimate"] == pytest.approx(ours.estimate, abs=0.004), name
        assert ours.low is not None
        assert ours.high is not None
        assert theirs["high"] - theirs["low"] == pytest.approx(ours.high - ours.low, rel=0.2)
    assert f"{ODD}: a compared with human: better" in done.stdout


def test_every_export_of_ratings_as_csv_carries_it(lab: Path, tmp_path: Path) -> None:
    with Lab.open(lab) as opened:
        for form in ("csv", "replication", "parquet"):
            export_lab(opened, tmp_path / form, format=form)
        export_study(opened, "points", tmp_path / "study")
    assert 'ratings = "data/ratings.csv"' in (tmp_path / "replication" / "analysis.R").read_text()
    assert "analysis.R" in (tmp_path / "csv" / "SHA256SUMS").read_text()
    assert "Rscript analysis.R" in (tmp_path / "csv" / "README.md").read_text()
    own = (tmp_path / "study" / "analysis.R").read_text()
    assert "`points` = " in own
    assert "`yes-no` = " not in own
    assert not (tmp_path / "parquet" / "analysis.R").exists()


def test_missing_r_packages_are_named_with_the_command(
    lab: Path, rscript: str, tmp_path: Path
) -> None:
    with Lab.open(lab) as opened:
        export_study(opened, "points", tmp_path / "study")
    script = tmp_path / "study" / "analysis.R"
    script.write_text(NOTHING_INSTALLED + script.read_text())
    done = run(rscript, script)
    assert done.returncode == 2
    assert 'Run in R: install.packages(c("ordinal", "lme4"))' in done.stderr
