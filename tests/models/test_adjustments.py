"""Settings that endpoints refuse, in the words in which they do."""

from __future__ import annotations

import json

import pytest

from empathylab.models.adjustments import Adjustments

SENT = {"temperature": 0, "max_tokens": 50, "seed": 1, "top_p": 0.9}


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        (
            {"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this "
                       "model. Use 'max_completion_tokens' instead.", "param": "max_tokens"}},
            {"temperature": 0, "max_completion_tokens": 50, "seed": 1, "top_p": 0.9},
        ),
        (
            {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs "
                         "are not permitted"}]},
            {"temperature": 0, "max_tokens": 50, "random_seed": 1, "top_p": 0.9},
        ),
        (
            {"error": {"message": "`temperature` and `top_p` cannot both be specified: not "
                       "supported"}},
            {"max_tokens": 50, "seed": 1, "top_p": 0.9},
        ),
        (
            {"type": "error", "error": {"type": "invalid_request_error",
                                        "message": "top_p: Extra inputs are not permitted"}},
            {"temperature": 0, "max_tokens": 50, "seed": 1},
        ),
    ],
)  # fmt: skip
def test_the_named_setting_is_dropped_or_renamed(
    said: dict[str, object], sent: dict[str, object]
) -> None:
    adjustments = Adjustments()
    assert adjustments.learn(json.dumps(said).encode(), SENT)
    assert adjustments.apply(SENT) == sent


def test_a_new_name_that_is_refused_as_well_is_dropped() -> None:
    adjustments = Adjustments()
    for _ in range(2):
        names = ", ".join(adjustments.apply({"seed": 1}))
        assert adjustments.learn(f"unknown field {names}".encode(), adjustments.apply({"seed": 1}))
    assert adjustments.apply({"seed": 1}) == {}
    assert str(adjustments) == "seed sent as random_seed, random_seed left out"


def test_both_names_of_the_limit_refused_leave_it_out() -> None:
    adjustments = Adjustments()
    assert adjustments.learn(b"max_tokens is not supported", {"max_tokens": 5})
    renamed = {"max_completion_tokens": 5}
    assert adjustments.apply({"max_tokens": 5}) == renamed
    assert adjustments.learn(b"unknown field max_completion_tokens", renamed)
    assert adjustments.apply({"max_tokens": 5}) == {}


@pytest.mark.parametrize(
    "said",
    [
        "max_tokens must be at most 16",
        "Unsupported country",
        "the context is too long: 9,000 tokens",
        "messages: unknown role",
    ],
)
def test_other_complaints_change_nothing(said: str) -> None:
    adjustments = Adjustments()
    assert not adjustments.learn(said.encode(), SENT)
    assert not adjustments
    assert adjustments.apply(SENT) == SENT
