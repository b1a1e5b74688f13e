"""How many raters are needed, and what stands in the way."""

from __future__ import annotations

import pytest

from empathylab.scales import builtin_scales
from empathylab.study import Study, parse_study
from empathylab.study.assignment.quotas import quota_limits, quota_traits
from empathylab.study.design.definition import Quota
from empathylab.study.design.materials import choose_scales
from empathylab.study.design.planning import Plan, needed_raters
from tests.study.examples import BETWEEN, altered, appraisal, between, ids, scales, within


def plan(study: Study, count: int = 6, missing: dict[str, int] | None = None) -> Plan:
    responses = {arm: ids(count)[(missing or {}).get(arm, 0) :] for arm in study.arms}
    return needed_raters(study, ids(count), responses, scales())


def test_raters_between_subjects_are_counted_by_arm() -> None:
    # 6 responses of each arm, twice, in packets of 2: 6 raters for each of two arms.
    found = plan(between())
    assert found.ready
    assert (found.raters, found.batch_sizes) == (12, (2, 2))
    assert [(arm.arm, arm.responses, arm.ratings, arm.raters) for arm in found.arms] == [
        *(("one", 6, 12, 6), ("two", 6, 12, 6)),
    ]
    assert found.sentences == (
        "12 raters must finish, each with a batch of 2.",
        "Arm one: 6 raters, for 12 ratings of 6 responses.",
        "Arm two: 6 raters, for 12 ratings of 6 responses.",
    )


def test_the_published_study_needs_a_thousand_raters() -> None:
    # Welivita & Pu (2024): 5 arms, 2,000 responses each, 10 to a rater, each rated once.
    five = within(5, design="between", batch_size=10, ratings_per_response=1)
    assert plan(five, 2000).raters == 1000


def test_raters_within_subjects_see_all_arms() -> None:
    # 6 situations, twice, 2 in a packet: 6 raters, each with 2 × 3 replies.
    found = plan(within(3))
    assert (found.raters, found.batch_sizes) == (6, (6, 6))
    assert found.sentences[1] == "Arm a: all raters, for 12 ratings of 6 responses."


def test_people_are_counted_by_situation_where_nothing_is_rated() -> None:
    found = plan(appraisal(), 4)
    assert (found.raters, found.batch_sizes, found.ready) == (12, (1, 1), True)
    assert found.sentences == ("12 raters must finish, each with a batch of 1.",)


def test_uneven_batches_are_reported() -> None:
    assert plan(between(), 5).sentences[0].endswith("each with a batch of 1 to 2.")


def test_an_arm_without_responses_stops_the_study() -> None:
    found = plan(between(), missing={"two": 6})
    assert not found.ready
    assert found.problems == (
        (
            "The arm 'two' has no responses of second/model: run `empathylab respond "
            "second/model --set dialogues`, or import them with `empathylab data import responses "
            "FILE --set dialogues --respondent second/model`."
        ),
    )
    assert [arm.missing for arm in found.arms] == [0, 6]


def test_an_arm_that_lacks_some_responses_stops_the_study() -> None:
    [problem] = plan(between(), missing={"one": 1}).problems
    assert problem.startswith(
        "The arm 'one' lacks 1 response of first/model to the 6 situations (situation-0): run"
    )
    arm = plan(between(), missing={"one": 1}).sentences[1]
    assert arm == "Arm one: 6 raters, for 12 ratings of 6 responses (1 missing)."


def test_replies_that_failed_the_checks_need_more_attempts() -> None:
    study, there = between(), {"one": ids(6)[2:], "two": ids(6)}
    failed = {"one": ids(6)[:2]}
    [problem] = needed_raters(study, ids(6), there, scales(), failed=failed).problems
    assert problem.startswith(
        "The arm 'one' lacks 2 responses of first/model to the 6 situations: its replies to "
        "situation-0, situation-1 failed the checks; run `empathylab respond first/model "
        "--set dialogues --retries 6`, or import"
    )


def test_a_payment_that_no_text_names_is_noted() -> None:
    text = BETWEEN.replace("{platform: open}", "{platform: open, payment: £1.60}")
    notes = plan(parse_study(text)).notes
    assert [note for note in notes if "what participants get (£1.60)" in note]
    told = text.replace("text: Take part?", "text: You get {{payment}}.")
    assert not [note for note in plan(parse_study(told)).notes if "participants get" in note]


def test_a_rule_about_a_questionnaire_that_nobody_fills_in_is_noted() -> None:
    rules = ({"rule": "inconsistent", "most": 4},)
    study = between(exclusions=rules)
    assert not [note for note in plan(study).notes if "'inconsistent'" in note]
    bare = study.model_copy(
        update={"blocks": tuple(block for block in study.blocks if not block.uses_scale)}
    )
    assert [note for note in plan(bare).notes if "'inconsistent' has no effect" in note]


def test_a_misspelled_respondent_is_recognized() -> None:
    study, there = between(), {"one": ids(6), "two": []}
    known = ["first/model", "second/models"]
    [problem] = needed_raters(study, ids(6), there, scales(), respondents=known).problems
    assert problem.startswith(
        "The arm 'two' has no responses of second/model: did you mean second/models? Otherwise run"
    )


def test_a_scale_without_wording_stops_the_study() -> None:
    responses = {arm: ids(6) for arm in between().arms}
    [problem] = needed_raters(between(), ids(6), responses, builtin_scales()).problems
    assert problem.startswith("The wording of the Toronto Empathy Questionnaire does not ship")


def test_a_scale_that_the_lab_does_not_know_stops_the_study() -> None:
    study = parse_study(BETWEEN.replace("scale: teq", "scale: teqq"))
    responses = {arm: ids(6) for arm in study.arms}
    [problem] = needed_raters(study, ids(6), responses, scales()).problems
    assert problem == ("study small, block 'scale': there is no scale 'teqq'. Did you mean 'teq'?")


def test_a_scale_may_be_spelled_as_people_do() -> None:
    study = parse_study(BETWEEN.replace("scale: teq", "scale: Toronto Empathy Questionnaire"))
    found = choose_scales(study, scales())
    assert found["Toronto Empathy Questionnaire"].id == "teq"
    assert plan(study).ready


def test_situations_that_go_into_no_latin_square_stop_the_study() -> None:
    study = within(3, batch_size=3, replies_per_situation="one")
    found = plan(study, 7)
    assert not found.ready
    assert "multiple of the number of arms" in found.problems[0]
    assert found.raters == 0


def test_quotas_that_admit_too_few_stop_the_study() -> None:
    study = between(quotas=(Quota(by="sex", counts={"female": 5, "male": 5}),))
    assert plan(study).problems == (
        (
            "The quota by 'sex' admits 10 people, but the study has 12 slots: raise it by 2, "
            "or set 'others' to 2."
        ),
    )


def test_quotas_that_ask_for_too_many_stop_the_study() -> None:
    study = between(quotas=(Quota(by="sex", counts={"female": 9, "male": 5}),))
    assert plan(study).problems == (
        (
            "The quota by 'sex' asks for 14 people, but the study has 12 slots: lower it by 2, or "
            "ask "
            "for more ratings."
        ),
    )


def test_quotas_that_fill_the_places_are_fine() -> None:
    exact = Quota(by="sex", counts={"female": 6, "male": 5}, others=1)
    shares = Quota(by="town", shares={"a": 0.5, "b": 0.5}, source="platform")
    assert plan(between(quotas=(exact, shares))).ready


@pytest.mark.parametrize(
    ("shares", "places", "limits"),
    [
        # 3.5, 2.1, 1.4: one place is left over and goes to the largest remainder.
        ({"a": 0.5, "b": 0.3, "c": 0.2}, 7, {"a": 4, "b": 2, "c": 1}),
        ({"a": 0.5, "b": 0.5}, 3, {"a": 2, "b": 1}),
        ({"a": 0.3333, "b": 0.3333, "c": 0.3334}, 9, {"a": 3, "b": 3, "c": 3}),
        # 0.29 × 100 is 28.999999999999996 in binary.
        ({"a": 0.29, "b": 0.71}, 100, {"a": 29, "b": 71}),
        ({"a": 0.25}, 8, {"a": 2}),
        ({"a": 1.0}, 0, {"a": 0}),
    ],
)
def test_shares_become_whole_numbers_of_people(
    shares: dict[str, float], places: int, limits: dict[str, int]
) -> None:
    assert quota_limits(Quota(by="x", shares=shares), places) == {**limits, "others": 0}


def test_quotas_go_by_answers_or_by_what_the_platform_tells() -> None:
    study = between(
        quotas=(
            Quota(by="sex", counts={"female": 1}),
            Quota(by="country", counts={"NL": 1}, source="platform"),
        )
    )
    answers = {"demographics": {"sex": "female", "age": 30, "country": "XX"}}
    assert quota_traits(study, answers, {"country": "NL", "sex": "male"}) == {
        "sex": "female",
        "country": "NL",
    }
    assert quota_traits(study, {}, {}) == {}


def test_what_a_careful_study_has_is_missed_aloud() -> None:
    notes = " ".join(plan(between()).notes)
    for missing in ("content_note", "help", "contact"):
        assert f"There is no {missing}" in notes


def test_a_rule_that_can_exclude_nobody_is_pointed_out() -> None:
    study = between(exclusions=({"rule": "failed attention"},))
    blocks = tuple(block for block in study.blocks if block.kind != "attention")
    assert not any("has no effect" in note for note in plan(study).notes)
    notes = plan(altered(study, blocks=blocks)).notes
    assert any("has no effect" in note for note in notes)


def test_a_text_that_names_a_respondent_is_pointed_out() -> None:
    study = parse_study(
        BETWEEN.replace("first/model", "openai/gpt-4o").replace("First page", "Is it GPT-4o")
    )
    notes = [note for note in plan(study).notes if "who is compared" in note]
    assert notes == ["The block 'tutorial' names 'gpt-4o', which shows raters who is compared."]


def test_text_that_is_still_to_be_filled_in_is_pointed_out() -> None:
    study = parse_study(BETWEEN.replace("Take part?", "Write to [[name]]"))
    assert any(
        "double brackets]] is not filled in yet: consent." in note for note in plan(study).notes
    )


def test_ratings_that_cannot_show_agreement_are_pointed_out() -> None:
    assert any("agreement" in note for note in plan(between(ratings_per_response=1)).notes)


def test_without_situations_nobody_is_needed() -> None:
    found = needed_raters(between(), [], {"one": [], "two": []}, scales())
    assert (found.raters, found.batch_sizes) == (0, (0, 0))
