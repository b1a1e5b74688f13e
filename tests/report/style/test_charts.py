"""The figures about style."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from empathylab.analysis.text.emoji_names import emoji_name
from empathylab.errors import InputError
from empathylab.report.pictures import png, svg
from empathylab.report.style.charts import (
    EMOJI_FONTS,
    ablation_chart,
    confusion_chart,
    distinctive_chart,
    emoji_chart,
    feature_profile_chart,
)
from empathylab.report.style.tactic_charts import tactic_flow_chart, tactic_transition_chart
from empathylab.style.authorship.predictability import Classification, Predictability
from empathylab.style.differences import feature_profile
from empathylab.style.distinctive import DistinctiveTerm, DistinctiveTerms
from empathylab.style.tactics.tagging import tactic_places, tactic_table, tactic_transitions

EMOJI = pl.DataFrame(
    {
        "respondent": ["warm", "warm", "cool", "warm"],
        "emoji": ["😢", "❤️", "😢", "🇫🇷"],
        "count": [4, 2, 1, 1],
        "per_response": [0.4, 0.2, 0.1, 0.1],
    }
)
FEATURES = pl.DataFrame(
    {
        "respondent": ["a"] * 4 + ["b"] * 4,
        "situation": [0, 1, 2, 3] * 2,
        "words": [10, 12, 14, 16, 30, 28, 26, 24],
        "never": [0] * 8,
    }
)


def told(name: str, accuracy: float) -> Classification:
    return Classification(
        name, accuracy, accuracy - 0.05, accuracy + 0.05, accuracy, 0.5, 0.9, 0.5,
        ((40, 10), (5, 45)), 100, 50, 0.001,
    )  # fmt: skip


PREDICTED = Predictability(
    ("human", "مساعد"), told("full", 0.85), (told("length alone", 0.6),), (), 0.5, 5,
    "situation", 0, (), 0,
)  # fmt: skip


def terms(respondent: str, *words: str) -> DistinctiveTerms:
    listed = tuple(
        DistinctiveTerm(word, 9.0 - i, 0.5, 0.4, 0.6, 9, 1, 3.0, 0.3, 5, (f"{word}!",))
        for i, word in enumerate(words)
    )
    return DistinctiveTerms(respondent, None, listed, True, 5, 5, 5, 0)


def tactics() -> pl.DataFrame:
    frame = pl.DataFrame(
        {
            "respondent": ["a", "a", "b"],
            "situation": ["1", "2", "1"],
            "text": ["I'm so sorry. What happened?", "I am here for you.", "You should rest."],
        }
    )
    return tactic_table(frame)


@functools.cache
def every_spec() -> dict[str, dict[str, Any] | None]:
    table = tactics()
    return {
        "profile": feature_profile_chart(feature_profile(FEATURES, columns=["words", "never"])),
        "emoji": emoji_chart(EMOJI),
        "distinctive": distinctive_chart([terms("a", "so", "我很难过"), terms("b", "شكرا")], "a"),
        "confusion": confusion_chart(PREDICTED),
        "ablations": ablation_chart(PREDICTED),
        "flow": tactic_flow_chart(tactic_places(table)),
        "transitions": tactic_transition_chart(tactic_transitions(table), "a"),
    }


def rows_with(spec: dict[str, Any], field: str) -> list[dict[str, Any]]:
    """The figure's rows that have the field."""
    found = [*spec.get("datasets", {}).values(), spec.get("data", {}).get("values", [])]
    [rows] = [rows for rows in found if rows and field in rows[0]]
    found: list[dict[str, Any]] = rows
    return found


@pytest.mark.parametrize("name", every_spec())
def test_every_figure_is_valid_json_and_can_be_drawn(name: str) -> None:
    spec = every_spec()[name]
    assert spec is not None
    json.dumps(spec, allow_nan=False)
    assert png(spec, scale=1).startswith(b"\x89PNG")


@pytest.mark.parametrize("name", every_spec())
def test_the_page_chooses_the_colours_and_the_width(name: str) -> None:
    spec = every_spec()[name]
    assert spec is not None
    assert "config" not in spec
    assert spec.get("width", "container") == "container"


def test_a_feature_that_never_varies_is_left_out_of_the_profile() -> None:
    spec = feature_profile_chart(
        feature_profile(FEATURES, columns=["words", "never"]), titles={"words": "length"}
    )
    assert {row["feature"] for row in rows_with(spec, "feature")} == {"length"}


def test_the_profile_shows_means_and_distances_by_hand() -> None:
    # Means 13 and 27, so 20 in the middle; the SD of the eight is √(432/7).
    spec = feature_profile_chart(feature_profile(FEATURES, columns=["words"]))
    first, second = rows_with(spec, "feature")
    assert (first["mean"], second["mean"]) == (13, 27)
    assert first["standing"] == pytest.approx(-7 / (432 / 7) ** 0.5)


def test_an_emoji_stands_alone_in_an_emoji_font_beside_its_name() -> None:
    spec = emoji_chart(EMOJI)
    assert spec is not None
    assert spec["layer"][1]["mark"]["font"] == EMOJI_FONTS
    [faces] = [
        rows for rows in spec["datasets"].values() if "emoji" in rows[0] and "count" not in rows[0]
    ]
    assert [(row["emoji"], row["name"]) for row in faces] == [
        ("😢", "crying face"),
        ("❤️", "heavy black heart"),
        ("🇫🇷", "flag FR"),
    ]


def test_emoji_and_other_scripts_stay_text_in_an_svg() -> None:
    emoji, distinctive = every_spec()["emoji"], every_spec()["distinctive"]
    assert emoji is not None
    assert distinctive is not None
    assert "😢" in svg(emoji)
    assert "我很难过" in svg(distinctive)


def test_no_emoji_make_no_figure() -> None:
    assert emoji_chart(EMOJI.clear()) is None


def test_no_terms_make_no_figure() -> None:
    assert distinctive_chart([terms("a")], "a") is None


def test_no_tactics_make_no_figure() -> None:
    assert tactic_flow_chart(tactic_places(tactics().clear())) is None
    assert tactic_transition_chart(tactic_transitions(tactics()), "nobody") is None


def test_the_confusion_figure_shows_shares_of_each_writers_responses() -> None:
    rows = rows_with(confusion_chart(PREDICTED), "share")
    assert [row["share"] for row in rows] == [0.8, 0.2, 0.1, 0.9]


def test_the_flow_has_a_cell_for_every_tactic_and_place() -> None:
    spec = every_spec()["flow"]
    assert spec is not None
    rows = rows_with(spec, "where")
    # Two respondents, four tactics, opening and closing; a middle would need three sentences.
    assert len(rows) == 2 * 4 * 2
    assert {row["where"] for row in rows} == {"opening", "closing"}


@pytest.mark.parametrize(
    ("emoji", "name"),
    [
        ("😢", "crying face"),
        ("👍🏽", "thumbs up sign (medium skin)"),
        ("👨‍👩‍👧", "man, woman, girl"),
        ("🇫🇷", "flag FR"),
        ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", "flag gbeng"),
        ("1️⃣", "keycap 1"),
        ("❤️", "heavy black heart"),
        ("", "emoji"),
    ],
    ids=lambda value: value.encode("unicode_escape").decode(),
)
def test_emoji_have_names(emoji: str, name: str) -> None:
    assert emoji_name(emoji) == name


def test_a_folder_of_fonts_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder of fonts does not exist"):
        png(confusion_chart(PREDICTED), fonts=tmp_path / "none")
