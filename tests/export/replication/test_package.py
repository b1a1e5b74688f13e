"""The replication package: its tables come again from its files, and are those of the report."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from empathylab.analysis import appraisal, recipients
from empathylab.analysis import ratings as rated_replies
from empathylab.analysis.appraisal.result import change_rows
from empathylab.analysis.overview import LabOverview
from empathylab.analysis.overview import from_lab as collect
from empathylab.analysis.overview.tables import overview_tables
from empathylab.analysis.ratings.rows import comparison_table, rater_table
from empathylab.analysis.style.estimates import StyleEstimates
from empathylab.cli import app
from empathylab.export import export_lab, read_exported
from empathylab.export.replication import analysis
from empathylab.export.replication.tables import ResultTable, file_name, write_result_tables
from empathylab.report.page import render
from empathylab.report.paper import report_tables
from empathylab.report.ratings.model_charts import group_name, term_name
from empathylab.report.ratings.rater_charts import variable_name
from empathylab.report.table_formats import csv_table, markdown_table
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.store.scales import import_scales
from empathylab.tables import read_table
from tests.helpers.welivita import write_people, write_release
from tests.report.exports.full_lab import fill

STUDY = "welivita-2024"
SCALE = """
id = "my-iri"
version = 1
name = "My reactivity index"
citation = "Doe, J. (2026). Reactivity."
licence = "CC0-1.0"
instruction = "Say how much each applies to you."
minimum = 1
maximum = 5
items = 3
reversed = [2]
rule = "sum"
total = true
words = ["I care", "I shrug", "I listen"]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, Path]]:
    """A lab and its package."""
    folder = tmp_path_factory.mktemp("full")
    with Lab.open(folder / "lab") as lab:
        fill(lab, folder)
        export_lab(lab, folder / "package", format="replication")
        yield lab, folder / "package"


def again(package: Path) -> subprocess.CompletedProcess[str]:
    """The script run as its reader runs it: another folder, no lab, no settings."""
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "HOME") if key in os.environ}
    return subprocess.run(
        [sys.executable, package / "analysis.py"],
        capture_output=True,
        text=True,
        cwd=package.parent,
        env=kept,
        check=False,
    )


@pytest.fixture(scope="module")
def report(made: tuple[Lab, Path]) -> LabOverview:
    """What the report of that lab shows."""
    return collect(made[0])


def table(package: Path, name: str) -> list[dict[str, str]]:
    text = (package / "tables" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def agree(rows: list[dict[str, str]], known: list[Mapping[str, Any]]) -> None:
    """Every number of the table is the one known, to five digits."""
    assert len(rows) == len(known) > 0
    for row, one in zip(rows, known, strict=True):
        for name, cell in row.items():
            value = one[name]
            if isinstance(value, bool) or not isinstance(value, int | float):
                assert cell == ("" if value is None else str(value)), name
            else:
                assert float(cell) == pytest.approx(value, rel=1e-5), name


@pytest.mark.slow
def test_the_tables_are_reproduced_byte_for_byte_without_the_lab(
    made: tuple[Lab, Path], tmp_path: Path
) -> None:
    package = shutil.copytree(made[1], tmp_path / "elsewhere" / "package")
    done = again(package)
    assert done.returncode == 0, done.stdout + done.stderr
    kept = {path.name: path.read_bytes() for path in (package / "tables").iterdir()}
    fresh = {path.name: path.read_bytes() for path in (package / "regenerated").iterdir()}
    assert fresh == kept
    assert {name.partition("-")[0] for name in kept} == {
        "judges",
        "ratings",
        "recipients",
        "scales",
        "style",
    }
    assert done.stdout.endswith(f"{len(kept)} files written, 0 different from the package\n")
    assert done.stderr == ""


def test_a_changed_rating_shows(
    made: tuple[Lab, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = shutil.copytree(made[1], tmp_path / "package")
    ratings = package / "data" / "ratings.csv"
    head, *rows = ratings.read_text(encoding="utf-8").splitlines(keepends=True)
    place = next(number for number, row in enumerate(rows) if ",1.0,Bad," in row)
    rows[place] = rows[place].replace(",1.0,Bad,", ",3.0,Good,")
    ratings.write_text(head + "".join(rows), encoding="utf-8")
    assert analysis.main(package) == 1
    said = capsys.readouterr().out
    assert "DIFFERENT  ratings-" in said
    assert "same  style-features.csv" in said


def test_the_same_lab_gives_the_same_package_as_a_folder_and_as_a_file(
    made: tuple[Lab, Path], tmp_path: Path
) -> None:
    lab, package = made
    export_lab(lab, tmp_path / "package.zip", format="replication")
    with zipfile.ZipFile(tmp_path / "package.zip") as packed:
        for name in packed.namelist():
            assert packed.read(name) == (package / name).read_bytes(), name
    files = [path for path in package.rglob("*") if path.is_file()]
    assert len(packed.namelist()) == len(files)


def test_versions_name_every_package_that_the_tables_stand_on(made: tuple[Lab, Path]) -> None:
    lines = (made[1] / "requirements.txt").read_text().splitlines()
    assert lines[0].startswith("# Python 3.")
    names = {line.partition("==")[0] for line in lines[1:]}
    assert {"polars", "numpy", "scipy", "formulae", "vadersentiment"} <= names
    assert "pytest" not in names
    told = json.loads((made[1] / "versions.json").read_text())
    assert told["python"] == ".".join(map(str, sys.version_info[:3]))


def test_every_table_is_there_as_csv_markdown_and_latex(made: tuple[Lab, Path]) -> None:
    files = {path.name for path in (made[1] / "tables").iterdir()}
    stems = {name.rpartition(".")[0] for name in files}
    assert files == {f"{stem}.{end}" for stem in stems for end in ("csv", "md", "tex")}
    for part in ("counts", "tests", "raters", "model-empathy", "model-empathy-means"):
        assert f"ratings-{STUDY}-{part}" in stems
    for part in ("counts", "tests", "model-empathy"):
        assert f"ratings-small-{part}" in stems


def test_ratings_that_separate_the_arms_give_no_means(made: tuple[Lab, Path]) -> None:
    assert not (made[1] / "tables" / "ratings-small-model-empathy-means.csv").exists()


def test_comments_and_page_times_are_not_in_it(made: tuple[Lab, Path]) -> None:
    names = {path.stem for path in (made[1] / "data").iterdir()}
    assert not names & {"comments", "pages", "partial_answers", "identities"}


def test_odd_names_make_different_plain_file_names() -> None:
    taken: set[str] = set()
    given = ["a/b", "a b", "🙂", "", "../..", "x" * 300]
    assert [file_name(item, taken) for item in given] == [
        "a-b",
        "a-b-2",
        "unnamed",
        "unnamed-2",
        "unnamed-3",
        "x" * 60,
    ]


def test_scales_whose_names_look_alike_in_a_file_have_a_table_each(
    made: tuple[Lab, Path],
) -> None:
    scores = read_exported(made[1] / "data", "scores")
    both = [scores.with_columns(scale=pl.lit(name)) for name in ("my_scale", "my-scale")]
    found = [scale.name for scale in analysis._of_scales({"scores": pl.concat(both)}.get)]
    assert {"scales-side-by-side-my-scale", "scales-side-by-side-my-scale-2"} <= set(found)
    assert len(set(found)) == len(found)


def test_dimensions_whose_names_look_alike_in_a_file_have_a_model_each(
    made: tuple[Lab, Path],
) -> None:
    ratings = read_exported(made[1] / "data", "ratings").filter(study=STUDY)
    studies = read_exported(made[1] / "data", "studies")
    study = analysis._study(studies.filter(study=STUDY).row(0, named=True))
    names = ("to me", "to-me")
    several = tuple(dataclasses.replace(study.dimensions[0], name=name) for name in names)
    both = pl.concat([ratings.with_columns(dimension=pl.lit(name)) for name in names])
    result = rated_replies.from_table(both, study=dataclasses.replace(study, dimensions=several))
    found = [item.name for item in analysis._of_study(result, "mine")]
    assert {"ratings-mine-model-to-me", "ratings-mine-model-to-me-2"} <= set(found)
    assert len(set(found)) == len(found)


def test_no_table_takes_anothers_place(tmp_path: Path) -> None:
    twice = [
        ResultTable("same", "A table", [{"value": number}], [{"value": number}])
        for number in (1, 2)
    ]
    files = write_result_tables(twice, tmp_path / "tables")
    assert files["same.csv"] != files["same-2.csv"]
    assert {path.name for path in (tmp_path / "tables").iterdir()} == set(files)
    assert len(files) == 6


def same_numbers(package: Path, report: LabOverview) -> None:
    """The tables hold the numbers of the report."""
    [shown] = [rating for rating in report.ratings if rating.study.name == STUDY]
    document = shown.to_dict()
    agree(table(package, f"ratings-{STUDY}-tests"), document["tests"])
    counts = table(package, f"ratings-{STUDY}-counts")
    whole = [row for row in counts if row["kind"] == "all"]
    for row, known in zip(whole, document["arms"], strict=True):
        assert (row["arm"], int(row["n"]), int(row["good"])) == (
            known["arm"],
            known["n"],
            known["good"],
        )
        for label, count in known["counts"].items():
            assert int(row[f"counts {label}"]) == count
    model = {row["term"]: row for row in table(package, f"ratings-{STUDY}-model-empathy")}
    for term, known in document["mixed_model"]["coefficients"].items():
        for name in ("estimate", "se", "p"):
            assert float(model[term][name]) == pytest.approx(known[name], rel=1e-3)
    alike = shown.rater_comparison
    assert alike is not None
    raters = (package / "tables" / f"ratings-{STUDY}-raters.csv").read_text(encoding="utf-8")
    assert raters == csv_table(rater_table(alike))
    agree(table(package, "scales-changes"), change_rows(report.appraisal))
    verdicts = [
        {
            "respondent": item.respondent,
            "scale": item.scale,
            "reasons": " ".join(item.reasons),
        }
        | {name: getattr(item.validity, name) for name in ("verdict", "valid", "order_sensitivity")}
        for item in report.self_reports
    ]
    names = list(verdicts[0])
    rows = table(package, "scales-validity")
    agree([{name: row[name] for name in names} for row in rows], verdicts)
    assert report.style is not None
    _same_style(report.style.estimates, package)


def _same_style(style: StyleEstimates, package: Path) -> None:
    rows = {(row["respondent"], row["feature"]): row for row in table(package, "style-features")}
    for profile in style.profiles:
        for name, figure in profile.features.items():
            cell = rows[profile.respondent, name]["mean"]
            assert float(cell or "nan") == pytest.approx(figure.mean, rel=1e-5, nan_ok=True)
    known = {
        (difference.respondent, difference.feature, difference.against): difference
        for difference in style.differences
    }
    for row in table(package, "style-differences"):
        one = known[row["respondent"], row["feature"], row["against"]]
        assert float(row["p_holm"]) == pytest.approx(one.p_holm, rel=1e-5)


@pytest.mark.slow
def test_the_packages_numbers_are_those_of_the_report_and_of_json(
    made: tuple[Lab, Path], report: LabOverview
) -> None:
    lab, package = made
    same_numbers(package, report)
    # What `analyze ratings --json` and `analyze appraisal --json` print.
    found = rated_replies.from_lab(lab, STUDY).to_dict()
    agree(table(package, f"ratings-{STUDY}-tests"), found["tests"])
    agree(table(package, "scales-changes"), change_rows(appraisal.from_lab(lab)))


@pytest.mark.slow
def test_the_reports_page_shows_the_packages_cells(
    made: tuple[Lab, Path], report: LabOverview
) -> None:
    page = render(report)
    text = (made[1] / "tables" / f"ratings-{STUDY}-tests.md").read_text(encoding="utf-8")
    [shown] = [rating for rating in report.ratings if rating.study.name == STUDY]
    for row in comparison_table(shown.comparison, "all"):
        for cell in (row["good"], row["p"], row["p Holm"]):
            assert cell in text
            assert cell in page


def test_arms_that_share_raters_are_compared_in_pairs(sqlite_lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    rows = [
        "situation,situation_text,respondent,text,rater,rating",
        *(
            f"s{place},Number {place} happened.,{arm},Reply {place} of {arm}.,r{rater},{rating}"
            for place in range(6)
            for rater in range(4)
            for arm, rating in (("human", 1 + (place + rater) % 3), ("a/model", 2 + rater % 2))
        ),
    ]
    file.write_text("\n".join(rows), encoding="utf-8")
    words = ["data", "import", "ratings", str(file), "--study", "pairs", "--points", "1,2,3"]
    done = CliRunner().invoke(app, [*words, "--lab", str(sqlite_lab.folder)])
    assert done.exit_code == 0, done.output
    export_lab(sqlite_lab, tmp_path / "package", format="replication")
    found = rated_replies.from_lab(sqlite_lab, "pairs").paired
    assert found is not None
    known = [test for test in found.tests if test.kind == "all"]
    tests = table(tmp_path / "package", "ratings-pairs-paired")
    [row] = [test for test in tests if test["kind"] == "all"]
    assert (row["unit"], int(row["n"])) == ("rater and situation", known[0].n)
    assert float(row["p"]) == pytest.approx(known[0].p, rel=1e-5)
    [whole] = [
        item
        for item in table(tmp_path / "package", "ratings-pairs-paired-overall")
        if item["kind"] == "all"
    ]
    assert whole["arms"] == "a/model, human"
    assert float(whole["friedman_p"]) == pytest.approx(found.overall[0].friedman.p, rel=1e-5)


def test_an_imported_scale_is_compared_alike_in_report_and_package(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    """0.1 compared raters by it in the package only, so the corrections differed."""
    (tmp_path / "iri.toml").write_text(SCALE, encoding="utf-8")
    import_scales(sqlite_lab, tmp_path / "iri.toml")
    write_release(tmp_path / "r.csv", raters=12, per_rater=4)
    people = []
    for arm in ("human", "gpt"):
        write_people(tmp_path / f"{arm}.csv", arm, 12)
        people.append((arm, read_table(tmp_path / f"{arm}.csv")))
    release = read_release(read_table(tmp_path / "r.csv"), where="r.csv", people=people)
    assert release.study is not None
    raters = tuple(
        dataclasses.replace(
            one, answers={**one.answers, "my-iri": (1 + place % 5, 5 - place % 3, 1 + place % 4)}
        )
        for place, one in enumerate(release.study.raters)
    )
    release = dataclasses.replace(release, study=dataclasses.replace(release.study, raters=raters))
    import_release(sqlite_lab, release, kind="welivita", source="r.csv", fingerprint="1")
    compared = rated_replies.from_lab(sqlite_lab).rater_comparison
    assert compared is not None
    names = [item.variable for item in compared.numeric]
    assert names == ["my-iri", "teq", "age", "seconds", "inconsistencies"]
    export_lab(sqlite_lab, tmp_path / "package", format="replication")
    text = (tmp_path / "package" / "tables" / f"ratings-{STUDY}-raters.csv").read_text("utf-8")
    # The corrected p values, and with them the number of tests, are the same.
    assert text == csv_table(rater_table(compared))


def cells(text: str) -> list[set[str]]:
    """The cells of every row of a Markdown table."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [
        {cell.strip().replace("\\", "") for cell in line.strip("|").split(" | ")} for line in lines
    ]


@pytest.mark.slow
def test_every_table_of_the_report_is_in_the_package(
    made: tuple[Lab, Path], report: LabOverview
) -> None:
    # The page names coefficients and variables in words, the package as its R script does.
    thresholds = {"1|2": "Bad | Okay", "2|3": "Okay | Good"}
    kept = [
        row.union(
            *(map(name, row) for name in (term_name, group_name, variable_name)),
            (thresholds[cell] for cell in row & thresholds.keys()),
        )
        for path in sorted((made[1] / "tables").glob("*.md"))
        for row in cells(path.read_text(encoding="utf-8"))
    ]
    # The page's first tables repeat figures of those below them.
    summaries = {item.title for item in overview_tables(report)}
    missing = {
        table.title
        for table in report_tables(report)
        if table.title not in summaries
        for row in cells(markdown_table(table.rows))[2:]
        if not any(row <= other for other in kept)
    }
    assert missing == set()


@pytest.mark.slow
@pytest.mark.shared_data
def test_the_published_files_give_the_same_numbers_everywhere(
    published_lab: Path, tmp_path: Path
) -> None:
    with Lab.open(shutil.copytree(published_lab, tmp_path / "lab")) as lab:
        export_lab(lab, tmp_path / "package", format="replication")
        same_numbers(tmp_path / "package", collect(lab))


_FIGURES = {"cells": "mean", "tests": "F", "effects": "estimate", "changes": "mean"}


def test_recipients_are_reproduced_as_in_the_lab(made: tuple[Lab, Path]) -> None:
    lab, package = made
    found = recipients.from_lab(lab, "helped").to_dict()
    for name, figure in _FIGURES.items():
        rows = pl.read_csv(package / "tables" / f"recipients-helped-{name}.csv")
        assert rows.height == len(found[name])
        expected = [row[figure] for row in found[name]]
        assert rows[figure].to_list() == pytest.approx(expected, rel=1e-5, abs=1e-9)
