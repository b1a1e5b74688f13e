"""What recipients say, as one result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import polars as pl

from empathylab.analysis.json_values import json_value
from empathylab.analysis.recipients.agreement import Agreement
from empathylab.analysis.recipients.columns import LABEL, RESPONSE, RecipientTable
from empathylab.analysis.recipients.estimates import Effect, FactorTest, OutcomeResult
from empathylab.analysis.recipients.prose import (
    agreement_conclusions,
    caveats,
    change_conclusions,
    effect_conclusions,
    replaced_caveat,
)
from empathylab.analysis.results import Conclusion, ModelChoice, Result, row_frames


@dataclass(frozen=True, slots=True)
class RecipientsResult(Result):
    """Effects of author and label on recipients, their change, and other raters beside them."""

    main_table: ClassVar[str] = "cells"
    table: RecipientTable
    outcomes: tuple[OutcomeResult, ...]
    agreement: tuple[Agreement, ...] = ()
    """Onlookers and judges on the same replies."""
    study: str | None = None
    title: str = "Recipients"
    replaced: int = 0
    """Replies of a model that were late or unsafe; participants saw the fallback."""

    @property
    def design(self) -> Mapping[str, Any]:
        """Who took part, in which conditions."""
        table = self.table
        first = self.outcomes[0]
        return {
            "participants": first.participants,
            "replies": table.frame.height,
            "responses": table.levels(RESPONSE) if RESPONSE in table.columns else [],
            "labels": table.levels(LABEL) if LABEL in table.columns else [],
            "crossed": first.crossed,
            "outcomes": list(table.outcomes),
            "before": dict(table.before),
            "columns": dict(table.columns),
            "ignored": list(table.ignored),
            "random": list(first.groups),
            "replaced": self.replaced,
            "dropped": {result.outcome: result.dropped for result in self.outcomes},
        }

    @property
    def model(self) -> ModelChoice | None:
        """Analysis of variance, or a linear mixed model where values are not independent."""
        first = next((result for result in self.outcomes if result.formula), None)
        if first is None:
            return None
        if not first.groups:
            return ModelChoice(
                name="analysis of variance",
                formula=first.formula,
                reason="Each participant rated one reply, so values are independent.",
            )
        return ModelChoice(
            name="linear mixed model",
            formula=first.formula,
            reason=f"Several values share a {' or a '.join(first.groups)}, which vary at random.",
        )

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """Author, label, interaction, change, and agreement with other raters."""
        return (
            *effect_conclusions(self.outcomes),
            *change_conclusions(self.outcomes),
            *agreement_conclusions(self.agreement),
        )

    @property
    def caveats(self) -> tuple[str, ...]:
        """What limits the conclusions."""
        sentences = caveats(self.outcomes, self.table.columns, self.design)
        return (*replaced_caveat(self.replaced), *sentences)

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Cell means, tests, effects, change and agreement."""
        rows, names = self.to_dict(), ("cells", "tests", "effects", "changes", "agreement")
        return row_frames({name: rows[name] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        document: dict[str, Any] = json_value(
            {
                "study": self.study,
                "design": self.design,
                "model": self.model,
                "cells": [cell for result in self.outcomes for cell in result.cells],
                "tests": [_test(test) for result in self.outcomes for test in result.tests],
                "tests_type3": [
                    _test(test) for result in self.outcomes for test in result.tests_type3
                ],
                "effects": [
                    _effect(effect) for result in self.outcomes for effect in result.effects
                ],
                "changes": [cell for result in self.outcomes for cell in result.changes],
                "agreement": self.agreement,
            }
        )
        return document | self.stated()


def _test(test: FactorTest) -> dict[str, Any]:
    return {("F" if name == "f" else name): value for name, value in asdict(test).items()}


def _effect(effect: Effect) -> dict[str, Any]:
    row, test = asdict(effect), effect.equivalence
    del row["equivalence"]
    return row | {
        "margin": test and test.margin_high,
        "p_equivalence": test and test.p,
        "equivalent": test and test.equivalent,
    }
