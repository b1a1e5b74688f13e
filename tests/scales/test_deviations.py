"""Where scale files depart from the published instruments, and the other published scorings."""

from __future__ import annotations

import pytest

from empathylab.errors import UnknownName
from empathylab.scales import Scale, builtin_scale, builtin_scales, find_scale, scale_to_dict, score
from empathylab.scales.wording import with_words


def scored(scale: Scale, answers: dict[int, int]) -> dict[str, float | None]:
    return {item.subscale: item.value for item in score(scale, answers)}


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ("agq", "1 to 5"),
        ("gasp", "average"),
        ("bdi", "items 16 (sleep) and 18 (appetite) have seven options"),
        ("dass-21", "past week"),
        ("dass-21", "degree and a frequency"),
        ("mjs", "romantic partner"),
        ("fss", "The Fear Survey Schedule (FSS-III) and the Fear Questionnaire (FQ)"),
    ],
)
def test_a_deviation_from_the_published_scale_is_documented_with_its_source(
    scale: str, words: str
) -> None:
    [found] = [
        deviation for deviation in builtin_scale(scale).deviations if words in deviation.what
    ]
    assert found.source


def test_what_is_stored_of_a_scale_does_not_change_with_its_documentation() -> None:
    for scale in builtin_scales().values():
        bare = scale.model_copy(update={"deviations": (), "scorings": ()})
        assert scale_to_dict(bare) == scale_to_dict(scale)
        assert bare == scale


def test_the_published_scores_of_gasp_are_means_of_four_items() -> None:
    scale = builtin_scale("gasp-means")
    answers = dict.fromkeys(range(1, 17), 2) | {1: 7, 9: 6, 14: 5, 16: 4}
    found = scored(scale, answers)
    assert found["guilt-evaluation"] == pytest.approx(5.5)  # (7 + 6 + 5 + 4) / 4
    assert found["guilt-repair"] == 2
    assert "total" not in found


def test_the_published_range_of_agq_is_1_to_5_and_reverses_within_it() -> None:
    scale = builtin_scale("AGQ original")
    assert (scale.id, scale.minimum, scale.maximum) == ("agq-original", 1, 5)
    assert dict(scale.anchors) == {1: "not like me at all", 5: "just like me"}
    # Items 7 and 18 are reversed: 29 answers of 5 give 27 × 5 + 2 × 1.
    assert scored(scale, dict.fromkeys(range(1, 30), 5))["total"] == 137


def test_dass_can_be_scored_without_doubling() -> None:
    answers = dict.fromkeys(range(1, 22), 1)
    assert scored(builtin_scale("dass-21"), answers)["anxiety"] == 14
    assert scored(builtin_scale("dass-21-undoubled"), answers)["anxiety"] == 7


def test_a_scoring_keeps_the_wording_that_a_lab_has() -> None:
    worded = with_words(builtin_scale("gasp"), [f"Statement {n}" for n in range(1, 17)])
    found = find_scale("gasp-means", [worded])
    assert found is not None
    assert found.require_words()[0] == "Statement 1"


def test_an_unknown_scoring_is_an_unknown_scale() -> None:
    with pytest.raises(UnknownName):
        builtin_scale("gasp-median")
