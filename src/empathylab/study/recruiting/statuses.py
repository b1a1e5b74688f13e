"""What Prolific calls the states of a submission, and what each means for a place here.

The words are those of its documentation (docs.prolific.com, "Submission object", read 2026).
Its website, API and export spell them with spaces, hyphens or underscores.
"""

from __future__ import annotations

import re
from typing import Literal

Freed = Literal["returned", "timed-out", "abandoned"]

RETURNED = "RETURNED"
KNOWN = (
    "RESERVED",
    "ACTIVE",
    "AWAITING REVIEW",
    "APPROVED",
    "PARTIALLY APPROVED",
    "SCREENED OUT",
    RETURNED,
    "TIMED-OUT",
    "REJECTED",
)
FREES: dict[str, Freed] = {
    RETURNED: "returned",
    "TIMED-OUT": "timed-out",
    # Prolific gives a rejected person's place to someone else, and so do we unless they have
    # finished here: whether finished work counts is for the researcher to say, by excluding it.
    "REJECTED": "abandoned",
}
"""By state, how a place ends that its holder has not finished."""

_GAPS = re.compile(r"[\s_-]+")
_LONGEST = 60
_BY_LETTERS = {_GAPS.sub("", item): item for item in KNOWN}


def status_named(written: str) -> str:
    """The state as we keep it; one that nobody knows stays as it was written."""
    plain = _GAPS.sub(" ", written).strip().upper()
    return _BY_LETTERS.get(plain.replace(" ", ""), plain[:_LONGEST])


def is_known(status: str) -> bool:
    """Whether the state is one of Prolific's."""
    return status in KNOWN
