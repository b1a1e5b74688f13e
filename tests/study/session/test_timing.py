"""How long a page took, and the way back at the end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from empathylab.study import parse_study
from empathylab.study.design.recruitment import Recruitment
from empathylab.study.session.progress import Timing, page_timing, too_soon
from empathylab.study.session.visits import completion_for
from tests.study.examples import BETWEEN, between

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def test_the_time_on_a_page_is_by_the_servers_clock() -> None:
    given = {"seconds": "8.5", "away": "2", "losses": "1"}
    assert page_timing(NOON, after(9.25), given) == Timing(9.25, 8.5, 2.0, 1)


def test_a_clock_set_back_gives_no_time() -> None:
    assert page_timing(NOON, after(-3), {}) == Timing(None, None, None, None)


@pytest.mark.parametrize("forged", ["nan", "inf", "-1", "1e99", "", "soon", "1" * 500])
def test_what_a_browser_cannot_mean_is_not_kept(forged: str) -> None:
    given = {"seconds": forged, "away": forged, "losses": forged}
    assert page_timing(NOON, after(1), given) == Timing(1.0, None, None, None)


def test_a_page_can_be_left_too_soon() -> None:
    assert too_soon(NOON, after(4.9), 5)
    assert not too_soon(NOON, after(5), 5)
    assert not too_soon(NOON, after(-100), 5)


CODES = "platform: prolific, codes: {completed: ABC, no-consent: DEF}"


def test_prolific_is_told_the_code_of_the_outcome() -> None:
    study = parse_study(BETWEEN.replace("platform: open", CODES))
    assert completion_for(study, "completed").url == (
        "https://app.prolific.com/submissions/complete?cc=ABC"
    )
    assert completion_for(study, "no-consent").code == "DEF"


def test_an_outcome_without_a_code_never_gets_another_ones() -> None:
    study = parse_study(BETWEEN.replace("platform: open", CODES))
    found = completion_for(study, "failed-attention")
    assert (found.code, found.url) == (None, None)


def test_an_open_study_has_no_way_back() -> None:
    found = completion_for(between(), "completed")
    assert (found.code, found.url) == (None, None)


def test_a_study_may_have_a_way_back_of_its_own() -> None:
    recruitment = Recruitment(
        platform="sona", codes={"completed": "A_1"}, return_url="https://x.org/credit?code={code}"
    )
    found = completion_for(between(recruitment=recruitment), "completed")
    assert found.url == "https://x.org/credit?code=A_1"
