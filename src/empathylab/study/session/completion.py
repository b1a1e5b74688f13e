"""The way back to where people came from, known to the server alone until the end."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from empathylab.study.blocks.interface import Outcome
from empathylab.study.design.definition import Study

_PROLIFIC = "https://app.prolific.com/submissions/complete?cc={code}"


@dataclass(frozen=True, slots=True)
class Completion:
    """What a person gets at the end."""

    code: str | None
    """None where the study has none for this outcome."""
    url: str | None
    """Where they are sent; None: they stay."""


def completion_for(study: Study, outcome: Outcome) -> Completion:
    """The code and address for an outcome.

    An outcome without a code of its own gets none, never the one for completed work.
    """
    recruitment = study.recruitment
    code = recruitment.codes.get(outcome)
    address = recruitment.return_url
    if address is None and recruitment.platform == "prolific":
        address = _PROLIFIC
    if address is None or ("{code}" in address and code is None):
        return Completion(code, None)
    return Completion(code, address.replace("{code}", quote(code or "", safe="")))
