"""Feel: a questionnaire for the person who is helped, before, after, or days later."""

from __future__ import annotations

from functools import cache
from typing import Literal

from empathylab.file_models import Words, misfit
from empathylab.scales import Scale, scales_in
from empathylab.study.blocks.interface import StudyRules
from empathylab.study.blocks.scale import ScaleBlock
from empathylab.yaml_documents import Path


@cache
def feeling_scales() -> tuple[Scale, ...]:
    """`mood` and `recipient`."""
    return scales_in("empathylab.study.blocks.recipients")


class Feel(ScaleBlock):
    """A questionnaire for the person who is helped."""

    block: Literal["feel"]  # type: ignore[assignment]
    scale: Words = "recipient"
    """`recipient` (heard, understood, cared for, connection, trust), `mood` (own emotions), or a
    scale of the lab."""
    phase: Literal["before", "after", "later"] = "after"  # type: ignore[assignment]
    """`later`: in a study of its own, days after."""

    def check_fit(self, study: StudyRules, at: Path) -> None:
        """The same questionnaire is asked once in each phase."""
        for other in study.blocks[: study.blocks.index(self)]:
            if isinstance(other, Feel) and (other.scale, other.phase) == (self.scale, self.phase):
                raise misfit(
                    f"{self.scale!r} is asked twice in the phase {self.phase!r}; first in the "
                    f"block {other.id!r}",
                    "Give one of them another phase.",
                    at=at,
                )

    @property
    def bundled_scales(self) -> tuple[Scale, ...]:
        """`mood` and `recipient`."""
        return feeling_scales()

    @property
    def is_outcome(self) -> bool:
        """How people feel after being helped is a result."""
        return self.phase != "before"

    def analysis_command(self, study: str) -> str | None:
        """How the people who were helped felt."""
        return f"empathylab analyze recipients --study {study}"
