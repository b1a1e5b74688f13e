"""Parting what a model writes for itself from what it answers.

Many endpoints return reasoning inside the text, between tags that depend on the model. The reply
must hold none of it: raters would read it, and every length and style measure would count it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_NAMES = r"think|thinking|thought|thoughts|reasoning|reflection|scratchpad|seed:think"
_TAG = re.compile(
    rf"<\s*(?P<close>/?)\s*(?:{_NAMES})(?:\s[^<>]*)?>"
    rf"|\[\s*(?P<close_square>/?)\s*THINK\s*\]"
    rf"|◁\s*(?P<close_triangle>/?)\s*think\s*▷"
    r"|<\|(?P<side>begin|end)_of_thought\|>",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s*(?P<name>\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_SPECIAL = re.compile(
    r"<\|(?:start|end|message|channel|return|call|begin_of_solution|end_of_solution)\|>"
    r"(?:assistant(?=\s*$|<\|))?"
)
# Servers that drop special tokens leave only the names of the channels.
_BARE_CHANNELS = re.compile(r"\Aanalysis(?P<reasoning>.*?)assistantfinal(?P<text>.*)\Z", re.DOTALL)


class Parted(NamedTuple):
    """A model's text in two parts."""

    text: str
    """The answer."""
    reasoning: str | None
    """What came before it; None where there was nothing of the kind."""
    open: bool = False
    """Whether the reasoning had no end: the answer never began."""


def part_reasoning(text: str) -> Parted:
    """The answer without the reasoning around or before it."""
    bare = _BARE_CHANNELS.match(text)
    if bare:
        return Parted(bare["text"].strip(), bare["reasoning"].strip())
    if "<|channel|>" in text:
        return _by_channel(text)
    if not _TAG.search(text):
        return Parted(text, None)
    return _by_tag(text)


def _by_tag(text: str) -> Parted:
    answer: list[str] = []
    reasoning: list[str] = []
    depth = start = 0
    for tag in _TAG.finditer(text):
        (reasoning if depth else answer).append(text[start : tag.start()])
        start = tag.end()
        if not _closes(tag):
            depth += 1
        elif depth:
            depth -= 1
        else:
            # The opening tag was part of the prompt: all so far was reasoning.
            reasoning, answer = reasoning + answer, []
    (reasoning if depth else answer).append(text[start:])
    return Parted("".join(answer).strip(), _joined(reasoning), depth > 0)


def _closes(tag: re.Match[str]) -> bool:
    slash = tag["close"] or tag["close_square"] or tag["close_triangle"]
    return bool(slash) or (tag["side"] or "").lower() == "end"


def _by_channel(text: str) -> Parted:
    """The channels of the harmony format: analysis and commentary are not part of the answer."""
    channels = list(_CHANNEL.finditer(text))
    ends = [channel.start() for channel in channels[1:]] + [len(text)]
    answer: list[str] = []
    reasoning: list[str] = [] if channels else [_SPECIAL.sub("", text)]
    for channel, end in zip(channels, ends, strict=len(channels) > 0):
        part = re.sub(r"<\|start\|>\s*assistant", "", text[channel.end() : end])
        (answer if channel["name"] == "final" else reasoning).append(_SPECIAL.sub("", part))
    return Parted("".join(answer).strip(), _joined(reasoning), open=not answer)


def _joined(parts: list[str]) -> str:
    return "\n".join(part.strip() for part in parts if part.strip())
