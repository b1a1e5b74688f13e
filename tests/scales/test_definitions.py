"""The scales that ship: every file, its structure, and its scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from empathylab.errors import UnknownName
from empathylab.scales import Scale, builtin_scale, builtin_scales, score

NAMES = ["agq", "bdi", "bfne", "dass-21", "fds", "fss", "gasp", "mjs", "panas", "teq"]
every_scale = pytest.mark.parametrize("scale", builtin_scales().values(), ids=lambda s: s.id)

# Scores worked out by hand: every item has the first number, but for those in braces.
BY_HAND: dict[str, tuple[int, dict[int, int], dict[str, float]]] = {
    # positive: 9 × 1 + 5; negative: 9 × 1 + 4
    "panas": (1, {3: 5, 20: 4}, {"positive": 14, "negative": 13}),
    # physical: 8 × 2 + (8 - 7); verbal: 4 × 2 + 5; anger: 6 × 2 + (8 - 6); hostility: 7 × 2 + 4
    "agq": (
        2,
        {7: 7, 10: 5, 18: 6, 29: 4},
        {
            "physical-aggression": 17,
            "verbal-aggression": 13,
            "anger": 14,
            "hostility": 18,
            "total": 62,
        },
    ),
    # twice (6 × 1 + 3), twice (6 × 1 + 0), twice 7 × 1
    "dass-21": (
        1,
        {2: 0, 3: 3},
        {"depression": 18, "anxiety": 12, "stress": 14, "total": 44},
    ),
    "bdi": (0, {2: 3, 9: 1, 21: 2}, {"total": 6}),
    # 6 × 3 + 5; 7 × 3; 7 × 3; 6 × 3 + 1
    "fds": (
        3,
        {1: 5, 28: 1},
        {
            "discomfort-intolerance": 23,
            "entitlement": 21,
            "emotional-intolerance": 21,
            "achievement": 19,
            "total": 84,
        },
    ),
    # 8 × 1; 7 × 1 + 7; 7 × 1 + 3
    "mjs": (1, {9: 7, 24: 3}, {"cognitive": 8, "emotional": 14, "behavioural": 10, "total": 32}),
    # 3 × 4 + 7; 4 × 4; 4 × 4; 3 × 4 + 1
    "gasp": (
        4,
        {1: 7, 12: 1},
        {
            "guilt-evaluation": 19,
            "guilt-repair": 16,
            "shame-evaluation": 16,
            "shame-withdrawal": 13,
            "total": 64,
        },
    ),
    # 12 × 1 + 5; 13 × 1; 12 × 1; 7 × 1 + 2; 5 × 1 + 3
    "fss": (
        1,
        {25: 2, 45: 3, 52: 5},
        {
            "social": 17,
            "agoraphobia": 13,
            "injury": 12,
            "sex-aggression": 9,
            "animals": 8,
            "total": 59,
        },
    ),
    # as given: 7 × 2 + 4; turned round: (6 - 5) + 3 × (6 - 2)
    "bfne": (2, {2: 5, 12: 4}, {"total": 31}),
    # as given: 7 × 3 + 0; turned round: (4 - 0) + 7 × (4 - 3)
    "teq": (3, {1: 0, 2: 0}, {"total": 32}),
}


def scores(scale: Scale, values: dict[int, float]) -> dict[str, float | None]:
    return {result.subscale: result.value for result in score(scale, values)}


def everywhere(scale: Scale, value: int) -> dict[int, float]:
    return dict.fromkeys(range(1, scale.items + 1), value)


def extreme(scale: Scale, low: int, high: int) -> dict[str, float]:
    """The scores of someone who gives `low` everywhere, so that reversed items count `high`."""
    parts = {part.id: set(part.items) for part in scale.subscales}
    if scale.total:
        parts["total"] = set(range(1, scale.items + 1))
    times = {"sum": 1, "double-sum": 2}[scale.rule]
    return {
        name: times * (low * len(items - scale.reversed) + high * len(items & scale.reversed))
        for name, items in parts.items()
    }


def test_ten_scales_ship() -> None:
    assert list(builtin_scales()) == NAMES


@every_scale
def test_every_item_counts_in_some_score(scale: Scale) -> None:
    counted = {item for part in scale.subscales for item in part.items}
    assert scale.total or counted == set(range(1, scale.items + 1))


@every_scale
def test_no_item_counts_in_two_subscales(scale: Scale) -> None:
    counted = [item for part in scale.subscales for item in part.items]
    assert len(counted) == len(set(counted))


@every_scale
def test_a_citation_names_a_year_and_a_source(scale: Scale) -> None:
    assert any(f"({year})" in scale.citation for year in range(1960, 2026))


@every_scale
def test_instructions_name_no_item_numbers_because_orders_change(scale: Scale) -> None:
    assert "item" not in scale.instruction.lower()


@every_scale
def test_all_lowest_answers_score_lowest(scale: Scale) -> None:
    expected = extreme(scale, scale.minimum, scale.maximum)
    assert scores(scale, everywhere(scale, scale.minimum)) == expected


@every_scale
def test_all_highest_answers_score_highest(scale: Scale) -> None:
    expected = extreme(scale, scale.maximum, scale.minimum)
    assert scores(scale, everywhere(scale, scale.maximum)) == expected


@every_scale
def test_an_example_scores_as_by_hand(scale: Scale) -> None:
    usual, others, expected = BY_HAND[scale.id]
    assert scores(scale, everywhere(scale, usual) | others) == expected


def test_only_panas_ships_with_its_words() -> None:
    assert [scale.id for scale in builtin_scales().values() if scale.words] == ["panas"]
    assert len(builtin_scale("panas").require_words()) == 20


def test_the_eight_emotions_have_a_scale_each() -> None:
    emotions = {scale.emotion: scale.id for scale in builtin_scales().values() if scale.emotion}
    assert emotions == {
        "anger": "agq",
        "anxiety": "dass-21",
        "depression": "bdi",
        "embarrassment": "bfne",
        "fear": "fss",
        "frustration": "fds",
        "guilt": "gasp",
        "jealousy": "mjs",
    }


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("PANAS", "panas"),
        ("DASS21", "dass-21"),
        ("dass 21", "dass-21"),
        ("Toronto Empathy Questionnaire", "teq"),
    ],
)
def test_a_scale_is_found_however_it_is_spelled(name: str, found: str) -> None:
    assert builtin_scale(name).id == found


def test_an_unknown_scale_answers_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"no scale 'panass'. Did you mean 'panas'"):
        builtin_scale("panass")


def test_changing_the_dictionary_changes_no_scale() -> None:
    builtin_scales().clear()
    assert builtin_scales()


@pytest.mark.shared_data
def test_structures_agree_with_the_published_questionnaires(shared_data: Path) -> None:
    file = shared_data / "emotionbench" / "questionnaires.json"
    for published in json.loads(file.read_text(encoding="utf-8")):
        scale = builtin_scale(published["name"])
        parts = {
            tuple(sorted(category["cat_questions"]))
            for category in published["categories"]
            if len(category["cat_questions"]) < scale.items
        }
        assert scale.items == len(published["questions"])
        assert scale.minimum + scale.maximum == published["scale"]
        assert sorted(scale.reversed) == published["reverse"]
        assert {tuple(sorted(part.items)) for part in scale.subscales} == parts
        assert {"SUM": "sum", "SUM*2": "double-sum"}[published["compute_mode"]] == scale.rule
