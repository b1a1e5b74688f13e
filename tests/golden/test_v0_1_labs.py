"""A lab and an archive that version 0.1 wrote: today's version opens them and gives its results.

`tests/data/v0_1/make.py` tells what is in them. The rules of comparison are those of the golden
files, in `comparison.py`.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.golden.cases import Cases
from tests.golden.comparison import differences, stored_form, summary
from tests.golden.lab_cases import OPEN, archive_cases, lab_cases, row_counts
from tests.helpers.command_line import as_json, printed

FOLDER = Path(__file__).parents[1] / "data" / "v0_1"
_SAME_REPLIES = (
    "First and second gave the same replies, so the last digits of the solver choose between them."
)
_REPLIES = (
    "Replies with two or more ratings are a random sample: the model has (1|arm:situation). "
    "Without it, 13% to 38% of tests rejected a true null hypothesis. Tested in "
    "tests/analysis/ratings/test_conclusions.py."
)
_CR2 = (
    "Clustered tests use CR2 with Satterthwaite's degrees of freedom. Before, up to 34% of tests "
    "rejected a true null hypothesis with few raters. Tested in tests/stats/clusters."
)
_ORDERS = (
    "Item orders are a random sample: orders at baseline are clusters. Before, 23% to 80% of tests "
    "rejected a true null hypothesis. Tested in tests/stats/questionnaires/test_order_matching.py."
)
_COARSE = (
    "While a study is open, counts by arm are lower bounds: exact ones let arms be inferred. "
    "Tested in tests/study/test_unblinding.py."
)
_TACTICS = (
    "Version 2 of the tactics: in version 1, up to two of three tags were wrong, differently by "
    "arm. Tested in tests/style/tactics/test_accuracy.py."
)
_SHORT_TEXTS = (
    "Readability and MTLD are given from 30 words, and not tested where all replies are shorter. "
    "Tested in tests/style/measures/test_table.py."
)
CORRECTIONS: dict[str, str] = {
    "style:tactics.*": _TACTICS,
    "style:respondents[].features.flesch_*": _SHORT_TEXTS,
    "style:respondents[].features.mtld": _SHORT_TEXTS,
    "style:respondents[].figures.flesch_*": _SHORT_TEXTS,
    "style:respondents[].figures.mtld.*": _SHORT_TEXTS,
    "style:tests": _SHORT_TEXTS,
    "style:ratings[].relations": _SHORT_TEXTS,
    "list:sets": "newer versions and translations ship beside the sets that the lab holds",
    "status_still-open:arms[].*": _COARSE,
    "show_still-open:arms[].raters": "hidden while open; tests/cli/test_study_data_commands.py",
    "show_still-open:arms[].situations": "as above",
    "status_still-open:seconds.*": "in whole minutes while the study is open, as arms would show",
    "leaderboard_small:prompt": "a lab without earlier replies asks in the words of today",
    "appraisal:rows[].cluster_*": _ORDERS,
    "judges_invented:judges[].weighted_kappa*_low": "clustered by situation, as in test_golden.py",
    "judges_invented:judges[].weighted_kappa*_high": "as above",
    "judges_invented:judges[].alt_test.advantage_*": "resampled with t, as in test_golden.py",
    "judges_invented:judges[].stability.alpha_*": "as above",
    "judges_invented:judges[].spearman_*": "clustered by situation, as in test_golden.py",
    "style:predictability.giveaways[].*": "fitted to the optimum, as in test_golden.py",
    "style:predictability*.low": "alike texts in different folds, as in test_golden.py",
    "style:predictability*.high": "as above",
    "style:predictability.ablations[].macro_f1*": _SAME_REPLIES,
    "style:predictability.ablations[].confusion.*": _SAME_REPLIES,
    "leaderboard_*:comparisons[].low": "few raters of both, as in test_golden.py",
    "leaderboard_*:comparisons[].high": "as above",
    "ratings_invented:*tests[].clustered*": _CR2,
    "ratings_invented:*mixed_model*": _REPLIES,
    "ratings_small:*tests[].clustered*": _CR2,
    "ratings_small:*mixed_model*": _REPLIES,
}
"""Numbers of 0.1 that have been corrected since: `case:path` -> reason, as in `test_golden.py`."""
MOVED_TABLES: dict[str, str] = {}
"""Tables of 0.1 whose rows a migration has moved: old name -> new name."""


def stored(name: str) -> Any:
    return json.loads((FOLDER / "results" / f"{name}.json").read_text(encoding="utf-8"))


def unpacked(folder: Path) -> Path:
    """A copy of the lab, not yet opened."""
    folder.mkdir()
    database = folder / "lab.sqlite"
    database.write_bytes(gzip.decompress((FOLDER / "lab.sqlite.gz").read_bytes()))
    database.chmod(0o600)
    return folder


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab as today's version has migrated it."""
    folder = unpacked(tmp_path_factory.mktemp("v0_1") / "lab")
    printed("data", "list", "--lab", folder)
    # 0.1 showed the run that was used last; today a run over fewer situations must be pinned.
    printed("runs", "pin", "3", "--lab", folder)
    return folder


def check(group: Cases) -> None:
    """Compares each result with the stored one."""
    found: list[str] = []
    for case, compute in group.items():
        found += differences(stored(case), stored_form(compute()), CORRECTIONS, case)
    assert not found, summary(found)


def test_the_stored_counts_are_those_of_the_stored_lab(tmp_path: Path) -> None:
    kept = json.loads((FOLDER / "row_counts.json").read_text(encoding="utf-8"))
    assert row_counts(unpacked(tmp_path / "lab") / "lab.sqlite") == kept


def test_migrating_keeps_the_rows_of_each_table(tmp_path: Path) -> None:
    folder = unpacked(tmp_path / "lab")
    before = row_counts(folder / "lab.sqlite")
    printed("data", "list", "--lab", folder)
    after = row_counts(folder / "lab.sqlite")
    assert {name: after.get(MOVED_TABLES.get(name, name)) for name in before} == before


@pytest.mark.slow
def test_the_lab_gives_the_results_of_0_1(lab: Path, tmp_path: Path) -> None:
    check(lab_cases(lab, tmp_path))


def test_results_of_the_open_study_stay_hidden(lab: Path) -> None:
    for analysis in ("ratings", "leaderboard", "judges"):
        assert printed("analyze", analysis, "--study", OPEN, "--lab", lab, code=2) == ""


def test_the_archive_gives_the_results_of_0_1(tmp_path: Path) -> None:
    check(archive_cases(tmp_path / "other", tmp_path, FOLDER / "small.zip"))


def test_the_archive_changes_nothing_in_the_lab_it_came_from(tmp_path: Path) -> None:
    folder = unpacked(tmp_path / "lab")
    printed("data", "list", "--lab", folder)
    before = row_counts(folder / "lab.sqlite")
    found = as_json("data", "import", "study", FOLDER / "small.zip", "--lab", folder)
    assert found["change"] == "unchanged"
    assert row_counts(folder / "lab.sqlite") == before


def test_methods_say_what_raters_of_an_old_study_were_shown(lab: Path) -> None:
    words = printed("analyze", "ratings", "--study", "small", "--words", "--lab", lab)
    assert "Raters saw the emotion label, the situation and what the person says." in words
