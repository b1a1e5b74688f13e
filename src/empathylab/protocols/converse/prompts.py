"""What the two sides are told. Neither ever sees the other's prompt.

The persona's language decides which texts are used; other languages take the English ones and are
asked to write in the persona's language.
"""

from __future__ import annotations

from dataclasses import dataclass

from empathylab.files import packaged_tables

PROMPTS_VERSION = 1
"""Part of every run's settings: other words make another run."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """The texts in one language."""

    respondent: str
    """The evaluated model's system prompt."""
    simulator: str
    """May use {about}, {temperament}, {story}, {need}, {reveals}, {helps}, {hurts}, {claim}."""
    reveals: str
    helps: str
    hurts: str
    claim: str
    state: str
    """The question after a reply; may use {transcript}, {before} and {keys}."""
    message: str
    """The request for the next message; may use {transcript}, {now} and {noticed}."""
    person: str
    """How the transcript names the person and the one who replies."""
    other: str
    needs: dict[str, str]
    keys: dict[str, str]
    """What each key of the structured answer means."""
    controls: dict[str, list[str]]
    """What the scripted listeners say: see `controls`."""


_TEXTS = "empathylab.protocols.converse", "texts"


def prompts_for(language: str) -> Prompts:
    """The texts in that language; English ones for a language that has none."""
    texts = packaged_tables(*_TEXTS)
    return Prompts(**texts.get(language.lower().split("-")[0], texts["en"]))
