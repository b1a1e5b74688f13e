"""What is kept of a page before it is answered: what was begun, and what was refused and why.

Both live in the draft of a participant's row, so that every server process can show them. They go
when the page is answered, and with all drafts when the study's retention ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from empathylab.study.blocks.forms import Problem, Refused, clean_text, problem

Draft = Mapping[str, Any]
_BEGUN = ("step", "values")
_REFUSED = "refused"
_GUEST = "refused-guest"
"""In a browser that did not begin the visit: what the owner sent is not replaced."""


@dataclass(frozen=True, slots=True)
class RefusedForm:
    """What someone sent on a page, and what is wrong with it."""

    visit: str
    """Who sent it: another browser with the same platform id must not see what was typed."""
    values: Mapping[str, Any] = field(hash=False)
    problems: Mapping[str, Problem] = field(hash=False)


def begun_on(draft: Draft, step: str) -> Mapping[str, Any]:
    """The values that were begun on the page."""
    values: Mapping[str, Any] = draft.get("values", {}) if draft.get("step") == step else {}
    return values


def refused_on(draft: Draft, step: str) -> tuple[RefusedForm, ...]:
    """What was refused on the page, if it was the last that was: of the owner and of a guest."""
    return tuple(
        RefusedForm(
            kept["visit"],
            kept["values"],
            {name: problem(code, **numbers) for name, (code, numbers) in kept["why"].items()},
        )
        for name in (_REFUSED, _GUEST)
        if (kept := draft.get(name, {})).get("step") == step
    )


def with_begun(draft: Draft, step: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The draft with what was begun on a page, which is newer than what was refused there."""
    return {**without(draft, step), "step": step, "values": values}


def with_refused(
    draft: Draft,
    step: str,
    values: Mapping[str, str | list[str]],
    refused: Refused,
    visit: str,
    *,
    guest: bool,
) -> dict[str, Any]:
    """The draft with what was sent as it was typed, and the problems by their codes."""
    typed = {
        clean_text(name): clean_text(value)
        if isinstance(value, str)
        else [clean_text(part) for part in value]
        for name, value in values.items()
    }
    why = {name: [error.code, dict(error.numbers)] for name, error in refused.problems.items()}
    name = _GUEST if guest else _REFUSED
    return {**draft, name: {"step": step, "visit": visit, "values": typed, "why": why}}


def without(draft: Draft, step: str) -> dict[str, Any]:
    """The draft without what it keeps of a page."""
    left = dict(draft)
    if left.get("step") == step:
        for name in _BEGUN:
            left.pop(name, None)
    for name in (_REFUSED, _GUEST):
        if left.get(name, {}).get("step") == step:
            del left[name]
    return left
