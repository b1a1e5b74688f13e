"""Which page comes next."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.study import ParticipantPath, Study
from empathylab.study.blocks.attention import Attention
from empathylab.study.blocks.rate import Rate
from empathylab.study.blocks.tutorial import Tutorial
from empathylab.study.design.definition import Quota
from empathylab.study.session.flow import (
    End,
    GoTo,
    NeedsPlace,
    Show,
    decide,
    early_end,
    failed_attention,
    study_steps,
)
from tests.study.examples import altered, appraisal, between, scales

Given = dict[str, dict[str, Any]]
RIGHT = {"question-1": 1, "question-2": 2}
WRONG = {"question-1": 2, "question-2": 2}


def course(study: Study | None = None, items: int | None = 2, person: str = "p") -> ParticipantPath:
    return ParticipantPath(study or between(), scales(), items, person)


def answered(until: str, **special: dict[str, Any]) -> Given:
    """Answers to all pages before the one of that key, with the checks passed."""
    found: Given = {}
    while True:
        decision = decide(course(), found)
        if isinstance(decision, End) or (isinstance(decision, Show) and decision.step.key == until):
            return found
        assert isinstance(decision, Show)
        usual: dict[str, dict[str, Any]] = {"check": RIGHT, "attention": {"question": 2}}
        key = decision.step.key
        found[key] = special.get(key, usual.get(decision.step.page, {}))


def shown(answers: Given, asked: str | None = None, study: Study | None = None) -> Show:
    decision = decide(course(study), answers, asked)
    assert isinstance(decision, Show), decision
    return decision


def sent(answers: Given, asked: str) -> GoTo:
    decision = decide(course(), answers, asked)
    assert isinstance(decision, GoTo), decision
    return decision


def test_the_pages_come_in_the_order_of_the_file() -> None:
    assert [step.key for step in study_steps(course(), {})] == [
        *("consent", "demographics", "tutorial/1", "tutorial/2", "tutorial/example/1"),
        *("tutorial/check/1", "scale/1", "scale/2", "rate/1", "attention", "rate/2", "comment"),
    ]


def test_the_first_page_is_the_consent() -> None:
    first = shown({})
    assert (first.step.key, first.progress, first.back) == ("consent", 0, None)


def test_who_does_not_consent_is_at_the_end() -> None:
    assert decide(course(), {"consent": {"agree": "no"}}) == End("no-consent")


def test_when_everything_is_answered_the_study_is_completed() -> None:
    assert decide(course(), answered("nowhere")) == End("completed")


def test_progress_grows_with_every_answer_and_stays_below_one() -> None:
    keys = [step.key for step in study_steps(course(), {})]
    progress = [shown(answered(key)).progress for key in keys]
    assert progress == sorted(set(progress))
    assert progress[-1] == pytest.approx(11 / 13)


def test_skipping_ahead_leads_back_to_the_page_that_is_due() -> None:
    answer = sent(answered("tutorial/2"), "rate/1")
    assert (answer.step.key, answer.reason) == ("tutorial/2", "ahead")


def test_a_page_that_does_not_exist_leads_back_too() -> None:
    for key in ("rate/99", "rate/0", "../console", "", "\x00"):
        assert sent(answered("rate/1"), key).reason == "unknown"


def test_a_second_attempt_cannot_be_asked_for_before_the_first() -> None:
    assert sent(answered("tutorial/check/1"), "tutorial/check/2").reason == "unknown"


def test_one_may_go_back_within_a_block() -> None:
    answers = answered("rate/2")
    assert shown(answers).back == "rate/1"
    earlier = shown(answers, "rate/1")
    assert earlier.revising
    assert earlier.back is None


def test_one_may_not_go_back_into_an_earlier_block() -> None:
    answers = answered("rate/1")
    assert shown(answers).back is None
    for key in ("consent", "demographics", "tutorial/1", "scale/2"):
        assert sent(answers, key).reason == "locked"


def test_an_attention_check_cannot_be_answered_again() -> None:
    assert sent(answered("rate/2"), "attention").reason == "locked"


def test_ratings_can_be_looked_at_during_a_check_among_them() -> None:
    assert shown(answered("attention")).back == "rate/1"


def test_a_block_may_forbid_going_back() -> None:
    blocks = tuple(
        altered(block, back=False) if isinstance(block, Rate) else block
        for block in between().blocks
    )
    decision = decide(course(between(blocks=blocks)), answered("rate/2"), "rate/1")
    assert isinstance(decision, GoTo)
    assert decision.reason == "locked"


def test_the_tutorial_can_be_read_again_before_its_check_and_not_after() -> None:
    assert shown(answered("tutorial/check/1"), "tutorial/1").revising
    assert sent(answered("scale/1"), "tutorial/1").reason == "locked"


def test_a_failed_check_is_followed_by_a_second_attempt() -> None:
    answers = {**answered("tutorial/check/1"), "tutorial/check/1": WRONG}
    assert shown(answers).step.key == "tutorial/check/2"
    assert shown(answers).step.number == 2


def test_between_the_attempts_the_tutorial_can_be_read_again() -> None:
    answers = {**answered("tutorial/check/1"), "tutorial/check/1": WRONG}
    assert shown(answers, "tutorial/1").revising
    assert sent(answers, "tutorial/check/1").reason == "locked"


def test_the_second_attempt_can_be_passed() -> None:
    answers = {**answered("tutorial/check/1"), "tutorial/check/1": WRONG, "tutorial/check/2": RIGHT}
    assert shown(answers).step.key == "scale/1"


def test_who_fails_twice_is_at_the_end() -> None:
    answers = {**answered("tutorial/check/1"), "tutorial/check/1": WRONG, "tutorial/check/2": WRONG}
    assert decide(course(), answers) == End("failed-comprehension")


def test_who_fails_twice_may_go_on_where_the_study_says_so() -> None:
    study = between()
    blocks = tuple(
        altered(block, check=altered(block.check, on_failure="continue"))
        if isinstance(block, Tutorial) and block.check
        else block
        for block in study.blocks
    )
    answers = {**answered("tutorial/check/1"), "tutorial/check/1": WRONG, "tutorial/check/2": WRONG}
    assert shown(answers, study=between(blocks=blocks)).step.key == "scale/1"


def test_a_failed_attention_check_is_counted_and_goes_on() -> None:
    answers = {**answered("attention"), "attention": {"question": 1}}
    assert shown(answers).step.key == "rate/2"
    assert failed_attention(between(), answers) == 1
    assert failed_attention(between(), answered("rate/2")) == 0


def test_a_failed_attention_check_can_be_the_end() -> None:
    blocks = tuple(
        altered(block, on_failure="end") if isinstance(block, Attention) else block
        for block in between().blocks
    )
    answers = {**answered("attention"), "attention": {"question": 1}}
    assert decide(course(between(blocks=blocks)), answers) == End("failed-attention")


def test_a_check_comes_last_in_a_batch_that_is_too_short_for_it() -> None:
    keys = [step.key for step in study_steps(course(items=1), {})]
    assert keys[-3:] == ["rate/1", "attention", "comment"]


def test_a_place_is_needed_right_after_the_consent() -> None:
    assert decide(course(items=None), {}) == shown_without_place({})
    assert decide(course(items=None), {"consent": {"agree": "yes"}}) == NeedsPlace()


def shown_without_place(answers: Given) -> Show:
    decision = decide(course(items=None), answers)
    assert isinstance(decision, Show)
    return decision


def test_where_quotas_ask_first_a_place_is_needed_after_the_question() -> None:
    study = between(quotas=(Quota(by="sex", counts={"female": 6, "male": 6}),))
    assert study.blocks_before_place == {"consent", "demographics"}
    answers: Given = {"consent": {"agree": "yes"}}
    decision = decide(course(study, items=None), answers)
    assert isinstance(decision, Show)
    assert decision.step.key == "demographics"
    answers["demographics"] = {"sex": "female"}
    assert decide(course(study, items=None), answers) == NeedsPlace()


def test_a_content_note_comes_before_the_work() -> None:
    study = between(content_note=between().title)
    keys = [step.key for step in study_steps(course(study), {})]
    assert keys[keys.index("rate/1") - 1] == "rate/note"


def test_a_shuffled_scale_has_another_order_for_another_person_and_the_same_for_the_same() -> None:
    def order(person: str) -> tuple[int, ...]:
        steps = study_steps(course(appraisal(), 1, person), {})
        return next(step.entries for step in steps if step.key == "before")

    assert sorted(order("a")) == list(range(1, 21))
    assert order("a") == order("a")
    assert order("a") != order("b")


def test_imagining_stands_between_the_two_askings() -> None:
    keys = [step.key for step in study_steps(course(appraisal(), 1), {})]
    assert keys == ["consent", "before", "imagine/1", "after"]


KEYS = [step.key for step in study_steps(course(), {})] + ["tutorial/check/2", "rate/9", ""]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(KEYS), max_size=60), st.lists(st.booleans(), min_size=60))
def test_however_one_clicks_pages_are_answered_in_order_and_checks_once(
    asked: list[str], right: list[bool]
) -> None:
    answers: Given = {}
    times: dict[str, int] = {}
    for key, is_right in zip(asked, right, strict=False):
        decision = decide(course(), answers, key)
        if not isinstance(decision, Show):
            continue
        assert decision.step.key == key
        steps = [step.key for step in study_steps(course(), answers)]
        assert all(step in answers for step in steps[: steps.index(key)])
        page = decision.step.page
        values: dict[str, dict[str, Any]] = {"check": RIGHT if is_right else WRONG}
        answers[key] = values.get(page, {})
        times[key] = times.get(key, 0) + 1
        if page in ("consent", "check", "attention", "demographics"):
            assert times[key] == 1


def test_a_check_after_more_items_than_a_batch_has_closes_it() -> None:
    check = altered(between().block("attention"), after=5)
    shown = [item for item in (1, 2, 3) if list(check.steps_inside("rate", item, 3))]
    assert shown == [3]


def test_nobody_is_screened_out_before_they_have_answered() -> None:
    rule = "not age >= 18"
    blocks = tuple(
        altered(block, screen_out_if=rule) if block.id == "demographics" else block
        for block in between().blocks
    )
    study = between(blocks=blocks)
    assert early_end(study, {"consent": {"agree": "yes"}}) is None
    assert early_end(study, {"demographics": {"age": 17}}) == "screened-out"
