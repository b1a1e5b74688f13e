"""What can go wrong in a conversation, and when it ends: each case has a name and a reason.

A conversation in which a side failed is counted under what went wrong and never scored. The rules
are plain patterns in English, German and Chinese, so that readers can check them; they find the
clear cases, and miss subtle ones.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from empathylab.files import packaged_table
from empathylab.protocols.converse.persona import Persona
from empathylab.protocols.converse.transcript import State, Transcript, Turn, states
from empathylab.protocols.languages import departs_from
from empathylab.protocols.reply_checks import is_refusal

_DETECTORS = packaged_table("empathylab.protocols.converse", "detectors.toml")
DETECTORS_VERSION = 2
"""Part of every run's settings: other rules make another run."""

COMPLETED = "completed"
UNFINISHED = "unfinished"
OUTCOMES: dict[str, str] = _DETECTORS["outcomes"]
RESPONDENT_FAULTS = frozenset(name for name in OUTCOMES if name.startswith("reply_"))
SIMULATOR_FAULTS = frozenset(OUTCOMES) - RESPONDENT_FAULTS - {COMPLETED, UNFINISHED, "no_reply"}

_SAME = 0.8  # share of character trigrams in common from which two messages are the same
_LEAST_LETTERS = 12
_UNMOVED = 3  # updates in a row


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a message."""

    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ending:
    """How a conversation ended."""

    outcome: str
    reason: str | None = None
    ended_by: str | None = None
    """`success`, `failure`, `limit` or `goodbye` where it was completed."""


def _any(name: str) -> re.Pattern[str]:
    """Any of the patterns of that name."""
    joined = "|".join(f"(?:{pattern})" for pattern in _DETECTORS[name])
    whole = re.sub(r"<(\w+)>", lambda part: str(_DETECTORS["parts"][part[1]]), joined)
    return re.compile(whole, re.IGNORECASE)


_ASSISTANT, _COMFORTS, _GOODBYE = map(_any, ("assistant", "comforts", "goodbye"))
_GOODBYE_WITHIN = 120  # letters from the end
_OTHER_SIDE = re.compile(
    r"(?:^|\n)\s*\W*(?:person|user|seeker|human|du|benutzer|用户|来访者)\s*[:：]", re.IGNORECASE
)


def person_fault(text: str, language: str) -> Fault | None:
    """What is wrong with a simulated person's message, seen on its own."""
    folded = _folded(text)
    if not any(map(str.isalnum, folded)):
        return Fault("simulator_empty", "the message contains no words")
    if is_refusal(text, language):
        return Fault("simulator_refusal", "the simulator declined to write the message")
    if _ASSISTANT.search(folded):
        return Fault("assistant_speech", "it offers help or calls itself an assistant")
    if _COMFORTS.search(folded):
        return Fault("role_inversion", "it comforts or counsels the other side")
    departs = departs_from(text, language)
    return Fault("language_switch", departs) if departs else None


def reply_fault(text: str, language: str) -> Fault | None:
    """What is wrong with a respondent's reply, seen on its own."""
    if not any(map(str.isalnum, text)):
        return Fault("reply_empty", "the reply contains no words")
    if is_refusal(text, language):
        return Fault("reply_refusal", "the respondent declined to reply")
    if _OTHER_SIDE.search(text):
        return Fault("reply_role_inversion", "the reply writes the person's side, too")
    departs = departs_from(text, language)
    return Fault("reply_language_switch", departs) if departs else None


def _folded(text: str) -> str:
    return " ".join(text.replace("’", "'").lower().split())


def says_goodbye(text: str) -> bool:
    """Whether the message ends the chat."""
    folded = _folded(text)
    return any(
        goodbye.end() > len(folded) - _GOODBYE_WITHIN for goodbye in _GOODBYE.finditer(folded)
    )


def same_message(first: str, second: str) -> bool:
    """Whether two messages are the same but for a few letters."""
    trigrams, other = _trigrams(first), _trigrams(second)
    if min(len(trigrams), len(other)) < _SAME * max(len(trigrams), len(other)):
        return False  # too different in length to share that many
    if min(len(trigrams), len(other)) < _LEAST_LETTERS:
        return _folded(first) == _folded(second) and bool(_folded(first))
    return len(trigrams & other) >= _SAME * len(trigrams | other)


@functools.lru_cache(maxsize=4096)
def _trigrams(text: str) -> frozenset[str]:
    letters = re.sub(r"[\W_]+", "", text.lower())
    return frozenset(letters[place : place + 3] for place in range(len(letters) - 2))


def fault_in_context(turns: Transcript) -> Fault | None:
    """What is wrong with the person's last message, given the turns before it."""
    last = turns[-1]
    own = [turn.text for turn in turns[:-1] if turn.role == "person"]
    if any(same_message(last.text, earlier) for earlier in own):
        return Fault("loop", "the message repeats one of the person's earlier messages")
    heard = [turn.text for turn in turns[:-1] if turn.role == "respondent"]
    if heard and same_message(last.text, heard[-1]):
        return Fault("role_inversion", "the message repeats the reply it should answer")
    return None


def ending(persona: Persona, turns: Transcript) -> Ending | None:
    """How the conversation ended; None while it continues."""
    last = turns[-1]
    if last.outcome != "valid":
        return Ending(last.outcome, last.reason)
    if last.role == "respondent":
        return None if last.state is None else _after_update(persona, turns, last.state)
    if len(turns) == 1:
        return None
    fault = fault_in_context(turns)
    if fault is not None:
        return Ending(fault.outcome, fault.reason)
    if says_goodbye(last.text):
        replies = len(turns) // 2
        met = states(persona, turns)[-1].need_met == "yes"
        if replies < persona.end.goodbye_after and not met:
            least = persona.end.goodbye_after
            return Ending("early_goodbye", f"good-bye after {replies} of at least {least} replies")
        return Ending(COMPLETED, ended_by="goodbye")
    return None


def _after_update(persona: Persona, turns: Transcript, state: State) -> Ending | None:
    if state.problem is not None:
        return Ending("off_schema", state.problem)
    if _unmoved(states(persona, turns)):
        reason = f"{_UNMOVED} updates in a row say the same, word for word"
        return Ending("ignored_reply", reason)
    replies = sum(turn.role == "respondent" for turn in turns)
    rule = persona.end
    if state.score >= rule.success_at:
        return Ending(COMPLETED, ended_by="success")
    if state.score < rule.failure_below:
        return Ending(COMPLETED, ended_by="failure")
    return Ending(COMPLETED, ended_by="limit") if replies >= rule.exchanges else None


def _unmoved(known: Sequence[State]) -> bool:
    latest = known[-_UNMOVED:]
    if len(known) <= _UNMOVED:
        return False
    return all(
        (item.feelings, _folded(item.noticed)) == (latest[0].feelings, _folded(latest[0].noticed))
        for item in latest
    )


def transcript_faults(
    turns: Sequence[Turn], language: str | None, *, simulated: bool = True
) -> list[Fault]:
    """Every kind of fault that a whole transcript shows, each once; for imported conversations.

    Real people are not looked at: they may say good-bye or repeat themselves as they like.
    """
    language = language or "not stated"
    faults: dict[str, Fault] = {}
    for place, turn in enumerate(turns):
        if turn.role == "respondent":
            fault = reply_fault(turn.text, language)
        elif not simulated:
            continue
        else:
            fault = person_fault(turn.text, language)
            if fault is None and place:
                fault = fault_in_context(tuple(turns[: place + 1]))
        if fault is not None:
            faults.setdefault(fault.outcome, fault)
    return list(faults.values())
