"""The labs, tables and commands whose results are kept as golden files."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.golden import invented
from tests.helpers.command_line import as_json

Cases = Mapping[str, Callable[[], Any]]
RESAMPLES = 200
"""Of bootstraps: fewer than by default, to save time."""


def invented_cases(folder: Path) -> Cases:
    """Results on the table made up here: no published file is needed."""
    lab, table = folder / "invented", folder / "invented.csv"
    people = invented.write_ratings(folder / "people.csv", judges=False)
    raters = invented.write_raters(folder / "raters.csv")
    invented.write_ratings(table, judges=True)
    imported = lambda: as_json(  # noqa: E731
        *("data", "import", "ratings", people, "--raters", raters, "--study", "invented"),
        *("--points", "1,2,3,4,5", "--lab", lab),
    )
    bootstrap = ("--bootstrap", RESAMPLES)
    pairs = folder / "pairs.csv"
    _write_pairs(pairs)
    return {
        "invented_import": imported,
        "invented_show": lambda: as_json("data", "show", "invented", "--lab", lab),
        "invented_ratings": lambda: as_json(
            *("analyze", "ratings", "--lab", lab, "--good-from", 4, "--reference", "brief/model")
        ),
        "invented_means": lambda: as_json("analyze", "ratings", "--lab", lab, "--straight-lining"),
        "invented_style": lambda: as_json("analyze", "style", "--lab", lab, "--folds", 2),
        "invented_against": lambda: as_json(
            *("evaluate", "scripted/tests.golden.scripted:invented_reply", "--lab", lab),
            *("--against", "invented", "--judge", "style"),
        ),
        "invented_leaderboard": lambda: as_json(
            "analyze", "leaderboard", "--judge", "style", "--lab", lab
        ),
        "invented_agreement": lambda: as_json(
            *("analyze", "agreement", pairs, "--levels", "1,2,3,4,5", *bootstrap)
        ),
        "invented_judges": lambda: as_json("analyze", "judges", table, "--panel", *bootstrap),
    }


def _write_pairs(path: Path) -> None:
    """One dimension per respondent, so that a rater rates each situation once."""
    content = [
        {
            "situation": row["situation"],
            "rater": row["rater"],
            "dimension": str(row["respondent"]),
            "rating": row["rating"],
        }
        for row in invented.rows(judges=True)
    ]
    invented.write_table(path, content)


def welivita_cases(folder: Path, published: Path) -> Cases:
    """Results on the release of Welivita & Pu (2024), and of a model measured against it."""
    lab, source = folder / "welivita", published / "welivita"
    demographics = [
        word
        for arm in ("human", "chatgpt_empathy")
        for word in ("--demographics", source / f"demographics_{arm}.csv")
    ]
    release = source / "dataset_and_ratings.csv"
    judged = folder / "judged.csv"
    invented.write_table(judged, list(_judged_replies(release)))
    exclusions = ("--too-fast", 300, "--straight-lining")
    bootstrap = ("--bootstrap", RESAMPLES)

    return {
        "welivita_import": lambda: as_json(
            "data", "import", "welivita", release, *demographics, "--lab", lab
        ),
        "welivita_ratings": lambda: as_json("analyze", "ratings", *exclusions, "--lab", lab),
        "welivita_style": lambda: as_json("analyze", "style", "--folds", 2, "--lab", lab),
        "welivita_judges": lambda: as_json("analyze", "judges", *bootstrap, "--lab", lab),
        "welivita_judged_table": lambda: as_json(
            "analyze", "judges", judged, "--levels", "1,2,3", *bootstrap
        ),
        "welivita_against": lambda: as_json(
            *("evaluate", "scripted/tests.golden.scripted:released_reply", "--sample", 200),
            *("--against", "welivita-2024", "--judge", "style", "--lab", lab),
        ),
        "welivita_leaderboard": lambda: as_json(
            "analyze", "leaderboard", "--judge", "style", "--lab", lab
        ),
    }


def _released(release: Path, step: int) -> Iterator[dict[str, str]]:
    """Every so many rows of the release."""
    with release.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            if number % step == 0:
                yield row


def _judged_replies(release: Path) -> Iterator[dict[str, object]]:
    """Every fifth situation's ratings by people, and those of a judge who likes long replies."""
    for row in _released(release, 5):
        for arm in ("human", "chatgpt_empathy"):
            base = {
                "situation": row["dialog_id"],
                "respondent": arm,
                "text": row[f"response_{arm}"],
                "emotion": row["emotion"],
                "valence": row["sentiment"],
            }
            length = len(row[f"response_{arm}"].split()) / 30
            scatter = invented.chance("judge", arm, row["dialog_id"]) - 0.5
            given = min(3, max(1, round(1 + length + 1.2 * scatter)))
            rater, rated = row[f"annotator_{arm}"], row[f"rating_{arm}"]
            yield {**base, "rater": rater, "rater_kind": "person", "rating": rated}
            yield {**base, "rater": "wordy/judge", "rater_kind": "model", "rating": given}


def emotionbench_cases(folder: Path, published: Path) -> Cases:
    """Results on EmotionBench's released answers of people and models."""
    lab = folder / "emotionbench"
    return {
        "emotionbench_import": lambda: as_json(
            "data", "import", "emotionbench", published / "emotionbench", "--lab", lab
        ),
        "emotionbench_appraisal": lambda: as_json("analyze", "appraisal", "--lab", lab),
    }


def kumar_cases(_folder: Path, published: Path) -> Cases:
    """Results on the ratings by experts, crowd and models of Kumar et al. (2025)."""
    table = published / "kumar" / "empatheticdialogues_ratings.csv"
    experts = [word for number in (1, 2, 3) for word in ("--people", f"expert{number}")]
    bootstrap = ("--bootstrap", RESAMPLES)
    return {
        "kumar_agreement": lambda: as_json("analyze", "agreement", table, *bootstrap),
        "kumar_judges": lambda: as_json(
            *("analyze", "judges", table, *experts, "--people-are", "experts", "--panel"),
            *bootstrap,
        ),
    }
