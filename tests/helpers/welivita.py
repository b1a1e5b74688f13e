"""Files in the form of the released rating study, with texts and numbers made up here."""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

EMOTIONS = ("afraid", "angry", "joyful", "proud", "sad", "trusting")
POSITIVE = {"joyful", "proud", "trusting"}
REVERSED = {2, 4, 7, 10, 11, 12, 14, 15}


def write_release(
    path: Path,
    *,
    arms: Sequence[str] = ("human", "gpt"),
    raters: int = 6,
    per_rater: int = 4,
    good: Mapping[str, float] | None = None,
    seed: int = 1,
) -> list[dict[str, str]]:
    """Writes the file and gives its rows; `good` is each arm's chance of the rating Good."""
    chance = random.Random(seed)
    share = dict.fromkeys(arms, 0.5) | dict(good or {})
    answers = {
        (arm, rater): [chance.choice([-2, -1, 0, 1, 2]) for _ in range(16)]
        for arm in arms
        for rater in range(raters)
    }
    rows = []
    for number in range(raters * per_rater):
        rater, emotion = number // per_rater, EMOTIONS[number % len(EMOTIONS)]
        row = {
            "part_no": str(rater),
            "dialog_id": f"hit:{number}_conv:{2 * number}",
            "emotion": emotion,
            "sentiment": "positive" if emotion in POSITIVE else "negative",
            "situation": f"Something number {number} happened to me, and I am {emotion}.",
            "speaker_uttr": f"You will not believe number {number}.",
        }
        for arm in arms:
            given = answers[arm, rater]
            is_good = chance.random() < share[arm]
            row |= {
                f"annotator_{arm}": f"{arm}-rater-{rater}",
                f"response_{arm}": f"The {arm} reply number {number}, which is kind.",
                f"rating_{arm}": str(3 if is_good else chance.choice([1, 2])),
                f"empathy_arr_{arm}": str(given),
                f"empathy_propensity_{arm}": str(teq_total(given)),
                f"miti_{arm}": "['Affirm', 'Open Question']",
            }
        rows.append(row)
    write_rows(path, rows)
    return rows


def teq_total(shifted: Sequence[int]) -> int:
    """The total of answers from −2 to +2, reversed items turned round."""
    return sum(
        2 - value if item in REVERSED else value + 2 for item, value in enumerate(shifted, start=1)
    )


def write_people(path: Path, arm: str, raters: int) -> None:
    """Writes the recruiting platform's file about an arm's raters."""
    write_rows(
        path,
        [
            {
                "Submission id": f"s{number}",
                "Participant id": f"{arm}-rater-{number}",
                "Status": "APPROVED",
                "Time taken": str(300 + 20 * number),
                "Age": str(20 + number),
                "Sex": ("Female", "Male")[number % 2],
                "Country of residence": ("Ghana", "Chile", "Nepal")[number % 3],
                "Ethnicity simplified": "DATA_EXPIRED" if number == 0 else "Black",
            }
            for number in range(raters)
        ],
    )


def write_rows(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    """Writes the rows as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
