"""Where raters come from, and what they get at the end, as a study file says it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, Field, field_validator, model_validator

from empathylab.file_models import FileModel, Flag, Whole, Words, misfit, unknown, wrong
from empathylab.study.blocks.interface import Outcome

Platform = Literal["prolific", "mturk", "sona", "open", "invitation"]

_CODE = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _code(code: str) -> str:
    if not _CODE.fullmatch(code):
        raise wrong("letters, digits, hyphens and underscores, 64 at most")
    return code


def _https(address: str) -> str:
    if not address.startswith("https://"):
        raise wrong("an address that begins with https://")
    return address


class ScreenOut(FileModel):
    """What Prolific pays people who are screened out."""

    reward: Annotated[Whole, Field(ge=1, le=100_000)]
    """In the smallest unit of the currency: 20 is 20 pence or cents."""
    slots: Annotated[Whole, Field(ge=1, le=100_000)]
    """How many people are paid so at most."""


class Recruitment(FileModel):
    """Where raters come from, and what they get at the end."""

    platform: Platform
    once: Flag = True
    """Nobody takes part twice."""
    codes: dict[Outcome, Annotated[Words, AfterValidator(_code)]] = Field(default_factory=dict)
    return_url: Annotated[Words, AfterValidator(_https)] | None = None
    """Where people are sent at the end; `{code}` stands for the code."""
    screen_out: ScreenOut | None = None
    groups: dict[Outcome, Annotated[Words, AfterValidator(_code)]] = Field(default_factory=dict)
    """By outcome, Prolific's id of the participant group that people join, for a follow-up."""
    minutes: Annotated[Whole, Field(ge=1, le=24 * 60)] | None = None
    """The duration that participants are told: `{{minutes}}` in texts."""
    payment: Words | None = None
    """What people get, with the currency: `{{payment}}` in texts."""

    @field_validator("codes", "groups", mode="before")
    @classmethod
    def _known_outcomes(cls, codes: Any) -> Any:
        for outcome in codes if isinstance(codes, Mapping) else ():
            if outcome not in get_args(Outcome):
                raise unknown("key", str(outcome), get_args(Outcome), at=(outcome,))
        if isinstance(codes, Mapping):
            return {name: code for name, code in codes.items() if code is not None}
        return codes

    @model_validator(mode="after")
    def _codes_fit(self) -> Self:
        seen: set[str] = set()
        for outcome, code in self.codes.items():
            if code in seen:
                raise wrong(
                    "a code that no other outcome has",
                    "Give each outcome its own.",
                    at=("codes", outcome),
                )
            seen.add(code)
        if self.platform == "prolific" and "completed" not in self.codes:
            raise wrong(
                "given for Prolific, at least one for 'completed'",
                "Copy the completion codes from the study's page on Prolific.",
                at=("codes",),
            )
        return self

    @model_validator(mode="after")
    def _prolific_alone(self) -> Self:
        wanted: dict[str, tuple[str, ...]] = {"groups": tuple(self.groups)}
        if self.screen_out is not None:
            wanted["screen_out"] = ("screened-out",)
        for key, outcomes in wanted.items():
            if outcomes and self.platform != "prolific":
                raise wrong("left out: only Prolific has it", "Remove it.", at=(key,))
            for outcome in outcomes:
                if outcome not in self.codes:
                    raise misfit(
                        f"there is no completion code for {outcome!r}, which Prolific would act on",
                        f"Add {outcome} to codes.",
                        at=(key,),
                    )
        return self
