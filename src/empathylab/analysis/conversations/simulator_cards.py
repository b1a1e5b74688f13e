"""Whether a model can play a person: a card for each simulator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from empathylab.analysis.conversations.frames import PEOPLE
from empathylab.analysis.json_values import finite, picked
from empathylab.analysis.text.numbers import number, percent, signed
from empathylab.protocols.converse.controls import ATTENTIVE, COLD
from empathylab.protocols.converse.outcomes import SIMULATOR_FAULTS, UNFINISHED
from empathylab.stats.conversations import MeanDifference, persona_difference

Verdict = Literal["reacts to replies", "cannot simulate a person", "not checked"]
_LEAST_USABLE = 0.8
_HOPELESS = 0.5
_LEAST_CHECKED = 4
"""Personas with both control listeners below which a difference could be chance."""


@dataclass(frozen=True, slots=True)
class SimulatorCard:
    """What is known about one simulator, whatever it talked with."""

    simulator: str
    conversations: int
    """That came to an end, of any kind."""
    usable: int
    """In which the simulator made no mistake."""
    faults: dict[str, int]
    control: MeanDifference | None
    """Attentive minus cold listener, paired by persona; None where they were not run."""
    verdict: Verdict
    reasons: tuple[str, ...]

    @property
    def sentence(self) -> str:
        said = {
            "reacts to replies": "reacts to what is said, so its feelings can be compared. "
            "Whether people would feel the same is another question",
            "cannot simulate a person": "cannot simulate a person: results with it are meaningless",
            "not checked": "was not checked enough against an attentive and a cold listener",
        }
        return f"{self.simulator} {said[self.verdict]}: {'; '.join(self.reasons)}."

    def to_dict(self) -> dict[str, Any]:
        control = self.control
        return {
            **picked(self, "simulator verdict conversations usable faults"),
            "control_difference": finite(control.estimate) if control else None,
            "control_low": finite(control.low) if control else None,
            "control_high": finite(control.high) if control else None,
            "control_personas": control.n if control else 0,
            "reasons": list(self.reasons),
        }


def simulator_cards(conversations: pl.DataFrame, *, confidence: float) -> list[SimulatorCard]:
    """A card for each simulator of this lab's own conversations, control listeners included."""
    own = conversations.filter(
        pl.col("run").is_not_null()
        & (pl.col("simulator") != PEOPLE)
        & (pl.col("outcome") != UNFINISHED)
    )
    return [
        _card(str(name), part, confidence)
        for (name,), part in own.group_by("simulator", maintain_order=True)
    ]


def _card(name: str, part: pl.DataFrame, confidence: float) -> SimulatorCard:
    counts = part.group_by("outcome").len().sort("outcome")
    faults = {
        outcome: count for outcome, count in counts.iter_rows() if outcome in SIMULATOR_FAULTS
    }
    usable = part.height - sum(faults.values())
    control = _control(part, confidence)
    verdict, reasons = _verdict(part.height, usable, faults, control)
    return SimulatorCard(name, part.height, usable, faults, control, verdict, tuple(reasons))


def _control(part: pl.DataFrame, confidence: float) -> MeanDifference | None:
    scored = part.filter("scored")
    means = {
        listener: dict(
            scored.filter(respondent=listener)
            .group_by("persona")
            .agg(pl.col("final").mean())
            .iter_rows()
        )
        for listener in (ATTENTIVE, COLD)
    }
    asked = part.filter(pl.col("respondent").is_in([ATTENTIVE, COLD])).height
    if not asked:
        return None
    return persona_difference(means[ATTENTIVE], means[COLD], confidence=confidence)


def _verdict(
    total: int, usable: int, faults: dict[str, int], control: MeanDifference | None
) -> tuple[Verdict, list[str]]:
    share = usable / total if total else 0.0
    kinds = ", ".join(f"{count} × {name.replace('_', ' ')}" for name, count in faults.items())
    reasons = [f"it stayed in its role in {usable} of {total} conversations ({percent(share)})"]
    if kinds:
        reasons[0] += f", faults: {kinds}"
    if control is None:
        return ("cannot simulate a person" if share < _HOPELESS else "not checked"), reasons
    checked = control.paired and control.n >= _LEAST_CHECKED
    # The same difference with every persona has no interval, and needs none.
    same = math.isnan(control.low) and control.estimate > 0
    separates = checked and (control.low > 0 or same)
    if not checked:
        reasons.append(
            f"fewer than {_LEAST_CHECKED} personas could be scored with both control listeners"
        )
    else:
        ends = ""
        if not math.isnan(control.low):
            ends = f", 95% CI [{signed(control.low)}, {signed(control.high)}]"
        how = "felt better" if separates else "did not clearly feel better"
        reasons.append(
            f"it {how} with an attentive than with a cold listener ({signed(control.estimate)} "
            f"points{ends}, {number(control.n, 0)} personas)"
        )
    if share < _LEAST_USABLE or (checked and not separates):
        return "cannot simulate a person", reasons
    return ("reacts to replies" if checked else "not checked"), reasons
