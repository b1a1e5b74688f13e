"""A study as plain data, the hash of its protocol, and what differs between versions."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from empathylab.errors import InputError
from empathylab.study import PRESETS, Study, parse_study, preset_text, protocol_hash
from empathylab.study.design.protocol import (
    differences,
    frozen_protocol,
    require_same_protocol,
    to_dict,
)
from empathylab.study.design.reading import study_from_dict
from tests.study.examples import APPRAISAL, BETWEEN, altered, appraisal, between, within


def turned_round(value: object) -> object:
    """The same data with the keys of every table in the opposite order."""
    if isinstance(value, Mapping):
        return {key: turned_round(value[key]) for key in reversed(list(value))}
    return [turned_round(item) for item in value] if isinstance(value, list) else value


STUDIES = [
    between(),
    within(),
    appraisal(),
    *(parse_study(preset_text(preset)) for preset in PRESETS),
]


@pytest.mark.parametrize("study", STUDIES, ids=lambda item: item.name)
def test_a_study_survives_the_way_through_json(study: Study) -> None:
    assert study_from_dict(json.loads(json.dumps(to_dict(study)))) == study


@pytest.mark.parametrize("study", STUDIES, ids=lambda item: item.name)
def test_a_database_that_sorts_keys_changes_nothing(study: Study) -> None:
    data = json.loads(json.dumps(to_dict(study), sort_keys=True))
    again = study_from_dict(data)
    assert protocol_hash(again) == protocol_hash(study)
    assert again == study


def test_the_order_of_keys_does_not_change_the_hash() -> None:
    data = turned_round(to_dict(between()))
    assert isinstance(data, dict)
    assert protocol_hash(study_from_dict(data)) == protocol_hash(between())


def test_the_hash_stays_what_it_was() -> None:
    # Frozen on the day the format was made: a change here breaks every study under way.
    assert protocol_hash(parse_study(BETWEEN))[:16] == "fd099daf38a5c0ab"
    assert protocol_hash(parse_study(APPRAISAL))[:16] == "f60e9ef6e59b4263"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Take part?", "Take part!"),
        ("Your age", "Your age in years"),
        ("[female, male, other]", "[male, female, other]"),
        ("First page", "The first page"),
        ("Too short", "Much too short"),
        ('answer: "No"', 'answer: "Yes"'),
        ("Okay", "Fair"),
        ("seed: 7", "seed: 8"),
        ("batch_size: 2", "batch_size: 3"),
        ("ratings_per_response: 2", "ratings_per_response: 3"),
        ("count: 6", "count: 5"),
        ("after: 1", "after: 1\n    on_failure: end"),
        ("recruitment:", "time_limits: {abandon_after: 30}\nrecruitment:"),
        ("recruitment:", "help: Call a friend\nrecruitment:"),
        ("A small study", "A tiny study"),
    ],
)
def test_what_a_rater_sees_or_a_rule_says_changes_the_hash(old: str, new: str) -> None:
    assert old in BETWEEN
    changed = parse_study(BETWEEN.replace(old, new, 1))
    assert protocol_hash(changed) != protocol_hash(between())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: small", "name: large"),
        ("version: 1", "version: 2"),
        ("platform: open", "platform: prolific, codes: {completed: ABC}"),
        ("  two: second/model", "  two: second/model\n  three: third/model"),
        ("text: Take part?", "text: |\n      Take part?\n"),
    ],
)
def test_a_new_arm_another_platform_and_a_new_name_keep_the_hash(old: str, new: str) -> None:
    assert old in BETWEEN
    changed = parse_study(BETWEEN.replace(old, new, 1))
    assert protocol_hash(changed) == protocol_hash(between())


def test_within_subjects_the_arms_are_part_of_the_protocol() -> None:
    assert protocol_hash(within(3)) != protocol_hash(within(4))


def test_what_the_study_only_names_counts_by_its_fingerprint() -> None:
    study = between()
    assert protocol_hash(study, {"dialogues": "a"}) != protocol_hash(study, {"dialogues": "b"})


def test_codes_are_not_in_what_may_be_published() -> None:
    text = BETWEEN.replace("platform: open", "platform: prolific, codes: {completed: SECRET}")
    assert "SECRET" not in json.dumps(frozen_protocol(parse_study(text)))
    assert "first/model" not in json.dumps(frozen_protocol(parse_study(text)))


def test_an_analysis_finds_the_dimensions_where_it_looks_for_them() -> None:
    data = to_dict(between())
    assert data["design"] == "between"
    assert data["dimensions"] == [
        {
            "name": "empathy",
            "question": "How empathetic?",
            "values": [1, 2, 3],
            "labels": ["Bad", "Okay", "Good"],
            "direction": "fixed",
        }
    ]


def test_the_same_study_has_no_differences() -> None:
    assert differences(between(), between()) == ()


def test_a_difference_names_the_block_and_says_that_it_is_frozen() -> None:
    [found] = differences(between(), parse_study(BETWEEN.replace("Take part?", "Join?")))
    assert (found.key, found.before, found.after) == ("blocks.consent.text", "Take part?", "Join?")
    assert found.frozen


def test_a_difference_in_recruitment_is_not_frozen() -> None:
    text = BETWEEN.replace("platform: open", "platform: sona")
    [found] = differences(between(), parse_study(text))
    assert (found.key, found.frozen) == ("recruitment.platform", False)


def test_a_new_arm_is_a_difference_that_is_not_frozen() -> None:
    text = BETWEEN.replace("  two: second/model", "  two: second/model\n  three: third/model")
    [found] = differences(between(), parse_study(text))
    assert (found.key, found.before, found.after, found.frozen) == (
        *("arms.three.respondent", None, "third/model"),
        False,
    )


def test_a_moved_block_is_a_difference() -> None:
    study = between()
    moved = (study.blocks[0], study.blocks[2], study.blocks[1], *study.blocks[3:])
    [found] = differences(study, altered(study, blocks=moved))
    assert (found.key, found.frozen) == ("blocks.order", True)


def test_a_new_version_alone_is_not_frozen() -> None:
    [found] = differences(between(), between(version=2))
    assert (found.key, found.frozen) == ("version", False)


def test_after_launch_a_word_can_change_only_with_the_version() -> None:
    changed = parse_study(BETWEEN.replace("Take part?", "Join?"))
    with pytest.raises(
        InputError, match=r"frozen since its launch, but blocks.consent.text changed.*to 2"
    ):
        require_same_protocol(between(), changed)
    require_same_protocol(between(), altered(changed, version=2))


def test_after_launch_an_arm_may_join_and_codes_may_change() -> None:
    text = BETWEEN.replace("  two: second/model", "  two: second/model\n  three: third/model")
    text = text.replace("platform: open", "platform: prolific, codes: {completed: ABC}")
    require_same_protocol(between(), parse_study(text))
