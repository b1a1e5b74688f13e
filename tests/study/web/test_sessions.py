"""Cookies that only we can write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from empathylab.study.web import sealing
from empathylab.study.web.sessions import form_token, new_session, seal, unseal

KEY = b"a key for the tests, 32 bytes it"
OTHER = b"another key for tests, 32 bytes!"


def test_a_session_comes_back_as_it_was() -> None:
    session = new_session("somebody", "de", assignment="ä/1", submit_to="https://x.test")
    assert unseal(seal(session, KEY), KEY) == session


def test_a_cookie_of_another_study_is_nobody() -> None:
    assert unseal(seal(new_session("somebody", "en"), OTHER), KEY) is None


def test_what_was_sealed_for_another_purpose_or_is_too_long_is_nothing() -> None:
    sealed = sealing.seal(["x"], KEY, "one")
    assert sealing.unseal(sealed, KEY, "one", most=len(sealed)) == ["x"]
    assert sealing.unseal(sealed, KEY, "another", most=len(sealed)) is None
    assert sealing.unseal(sealed, KEY, "one", most=len(sealed) - 1) is None


@pytest.mark.parametrize("value", [None, "", ".", "a.b", "ä.ö", "x" * 5000])
def test_what_is_no_cookie_of_ours_is_nobody(value: str | None) -> None:
    assert unseal(value, KEY) is None


@given(st.data())
def test_a_changed_cookie_is_nobody(data: st.DataObject) -> None:
    sealed = seal(new_session("somebody", "en"), KEY)
    at = data.draw(st.integers(0, len(sealed) - 1))
    letter = data.draw(st.sampled_from("ABCxyz019-_."))
    changed = sealed[:at] + letter + sealed[at + 1 :]
    assert changed == sealed or unseal(changed, KEY) is None


def test_every_session_of_a_person_has_forms_of_its_own() -> None:
    first, second = (new_session("somebody", "en") for _ in range(2))
    assert form_token(first, KEY) != form_token(second, KEY)
