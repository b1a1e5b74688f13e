"""Whether a reply can be shown to raters: each check is a named outcome with its reason.

What a reply says is for the raters to judge, however clumsy; a reply fails only if it is no reply
in its writer's own words, or would tell raters who wrote it. The reasons for each line drawn here
are in docs/decisions/0009-checks-on-replies.md. Refusals and talk about the task are recognised
in English and in the language asked for, if it has a file in `scales/languages/`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from empathylab.protocols.languages import departs_from
from empathylab.scales.answer_languages import AnswerLanguage, answer_language
from empathylab.words import count_words

CHECKS_VERSION = 1
"""Part of the settings of every run in English: other checks make another run."""
CHECKS_VERSION_ELSEWHERE = 2
"""The same in other languages, whose checks came later."""

TOLERANCE = 1.5
"""How far beyond the length asked for a reply may be and still be rated."""

_EXAMINED = 20_000  # characters; what is longer is too long, and its beginning says why
_LETTERS_PER_WORD = 20  # more than any language needs on average; bounds texts without spaces


class Verdict(NamedTuple):
    """The result of the checks of a reply."""

    outcome: str
    """`valid`, or the first check that it fails."""
    reason: str | None = None
    """Why it fails; what is unusual about it if it is valid."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What was asked for."""

    prompt: tuple[str, ...]
    """The whole prompt of the respondent."""
    least_words: int
    most_words: int
    language: str = "en"


def check_reply(text: str, expected: Expected, *, cut_off: bool = False) -> Verdict:
    """The first check that the reply fails, or `valid`; `cut_off` if it met the token limit."""
    begins = text[:_EXAMINED]
    plain = _plain(begins)
    language = answer_language(expected.language)
    if not any(map(str.isalnum, plain)):
        # Models that think before they speak may use up the tokens on the way.
        early = Verdict("truncated", "reached the token limit before the first word")
        return early if cut_off else Verdict("empty", "the reply contains no words")
    checks: tuple[Callable[[], Verdict | None], ...] = (
        lambda: _refuses(plain, language),
        lambda: _repeats(plain),
        lambda: _echoes(plain, expected.prompt),
        lambda: Verdict("truncated", "cut off at the token limit") if cut_off else None,
        lambda: _is_in_another_language(begins, expected.language),
        lambda: _talks_about_itself(begins, plain, language),
        lambda: _is_too_long_or_short(text, expected),
    )
    for check in checks:
        failed = check()
        if failed is not None:
            return failed
    return Verdict("valid", _unusual(text, expected))


def _plain(text: str) -> str:
    """The text in small letters, with straight quotes and single spaces, without emphasis."""
    folded = text.lower().replace("’", "'").replace("“", '"').replace("”", '"')
    return " ".join(re.sub(r"[*_#`]+", " ", folded).split())


# -- refusal ------------------------------------------------------------------------------------

_OPENING = 300
_CANNOT = (
    r"(?:can't|cannot|can not|won't|will not|am unable to|'m unable to|am not able to|"
    r"'m not able to|am not (?:programmed|designed|allowed) to)"
)
_SERVE = (
    r"(?:assist|comply|fulfil|fulfill|help(?: you)? with (?:this|that|your request)|"
    r"(?:provide|offer|give)(?: you)?(?: \w+){0,3} (?:help|support|assistance|response|"
    r"reply|answer)|(?:respond|reply) to (?:this|that|your)|engage (?:in|with)|"
    r"continue (?:this|with)|discuss (?:this|that)|roleplay|role-play)\b"
)
_REFUSALS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\bi(?: |(?='))(?:\w+ ){{0,2}}{_CANNOT} (?:\w+ly )?{_SERVE}",
        r"\b(?:i must|i have to|i'll have to) (?:\w+ly )?decline\b(?! in)",
        r"\b(?:not possible|inappropriate|not appropriate) for me to (?:respond|reply|answer|help)",
        r"\bagainst my (?:guidelines|programming|policy|policies)\b",
    )
)


def is_refusal(text: str, language: str = "en") -> bool:
    """Whether the text opens with a refusal to reply, in English or in that language."""
    return _refuses(_plain(text[:_EXAMINED]), answer_language(language)) is not None


def _refuses(plain: str, language: AnswerLanguage | None = None) -> Verdict | None:
    opening = plain[:_OPENING]
    patterns = _REFUSALS if language is None else (*_REFUSALS, *language.refusals)
    if any(pattern.search(opening) for pattern in patterns):
        return Verdict("refusal", "the respondent declined to reply")
    return None


# -- repetition and echo ------------------------------------------------------------------------

_LONGEST_LOOP = 12
_LOOP_TIMES = 4
_LOOP_WORDS = 12
_SAME_SENTENCES = 3
_ECHO_RUN = 6
_ECHO_SHARE = 0.6


_UNSPACED = "[\u3040-\u30ff\u3400-\u9fff]"


def _tokens(plain: str) -> list[str]:
    """What is compared, in order, to find repetition; lengths are counted by `count_words`.

    Chinese and Japanese put no spaces between words, so each character is a token.
    """
    return re.findall(rf"{_UNSPACED}|(?:(?!{_UNSPACED})[\w'])+", plain)


def _repeats(plain: str) -> Verdict | None:
    """Loops: the same few words over and over, or the same sentence three times."""
    words = _tokens(plain)
    for size in range(1, min(_LONGEST_LOOP, len(words) // _LOOP_TIMES) + 1):
        same = 0
        for place in range(size, len(words)):
            same = same + 1 if words[place] == words[place - size] else 0
            if same + size >= max(_LOOP_WORDS, _LOOP_TIMES * size):
                return Verdict("repetition", "the same words are repeated over and over")
    sentences = Counter(
        tuple(tokens)
        for item in re.split(r"[.!?。！？]+", plain)
        if len(tokens := _tokens(item)) >= 3
    )
    if sentences and max(sentences.values()) >= _SAME_SENTENCES:
        return Verdict("repetition", "one sentence is repeated three times or more")
    return None


def _echoes(plain: str, prompt: Sequence[str]) -> Verdict | None:
    """Replies that mostly consist of long runs of words out of the prompt."""
    words = _tokens(plain)
    phrases = [_tokens(_plain(part)) for part in prompt]
    if len(words) < _ECHO_RUN:
        return None
    runs = {
        tuple(item[start : start + _ECHO_RUN])
        for item in phrases
        for start in range(len(item) - _ECHO_RUN + 1)
    }
    covered: set[int] = set()
    for start in range(len(words) - _ECHO_RUN + 1):
        if tuple(words[start : start + _ECHO_RUN]) in runs:
            covered.update(range(start, start + _ECHO_RUN))
    if len(covered) >= _ECHO_SHARE * len(words):
        return Verdict("echo", "most of it repeats what the respondent was told, word for word")
    return None


def _is_in_another_language(text: str, language: str) -> Verdict | None:
    departs = departs_from(text, language)
    return None if departs is None else Verdict("wrong_language", departs)


# -- talk about oneself and the task ------------------------------------------------------------

_MACHINE = re.compile(
    r"\b(?:as|i'm|i am|being)(?: (?:just|only|merely|simply|but|still))? an? "
    r"(?:(?:\w+ )?(?:language model|chatbot|virtual assistant|computer program)\b|"
    # Not "as an AI researcher", which a person may say.
    r"(?:ai|artificial intelligence)(?=\W*$|\W*[.,;:!?()]| (?:language|model|assistant|chatbot|"
    r"system|program|companion|and|so|but|i|who|that|without|created|trained|developed)\b))"
    r"|\b(?:created|developed|trained|made) by (?:openai|anthropic|google|meta|hugging ?face|"
    r"mistral|alibaba|microsoft)\b"
)
_LABEL = (
    r"(?:listener|speaker|friend|assistant|user|human|ai|bot|me|you|response|reply|answer|"
    r"my (?:response|reply)|(?:empathetic|empathic|possible|suggested) (?:response|reply)|"
    r"supporter|peer supporter|empathy|cognitive|affective|compassionate)"
)
_LABELLED = re.compile(rf"^\W*{_LABEL}\s?:")
_BOTH_SIDES = re.compile(rf"\n[^\w\n]*{_LABEL}\s?:", re.IGNORECASE)
_PREAMBLE = re.compile(
    r"^\W*(?:(?:sure|certainly|of course|absolutely|okay|ok)\W+)?(?:(?:here(?:'s| is| are)|"
    r"this is|below is) (?:\w+ ){0,4}(?:response|reply|answer|message|draft|version|rewrite|"
    r"example|way to (?:respond|reply))\b"
    r"|(?:i would|i'd|you could|you can|one could) (?:respond|reply|say something like|write)"
    r"(?: \w+){0,3}\W*[:\"]"
    r"|[\w ,]{0,20}\b(?:an?|the|my) (?:\w+ ){0,2}(?:response|reply) "
    r"(?:would|could|might|should) be\b)"
)
_ABOUT_TASK = re.compile(
    r"\(\s*(?:word count|\d+ words?)\b|\bword count\s*:|\[(?:your|friend|person|user|insert|their)"
    r"[\w' ]*\]|\[name\]|\bnote\s*: (?:this|the|i|my) (?:reply|response|have|kept)|"
    r"\bthis (?:reply|response) (?:shows|demonstrates|acknowledges|is (?:about|under|within))\b|"
    r"\b(?:rephrase|reword|rewrite) (?:it|this|that|the (?:text|sentence|message)|your \w+)\b|"
    r"\bmake the (?:text|sentence|message)s? (?:\w+ )?(?:clear|flow|sound|plural|better)"
)
_QUOTED = re.compile(r'"[^"]+"')


_QUOTED_ELSEWHERE = re.compile(r'[„«「『"][^„«»「」『』"]+["»」』]')


def _talks_in(language: AnswerLanguage | None, plain: str) -> Verdict | None:
    """The same as below, by the patterns of another language."""
    if language is None:
        return None
    checks = (
        (language.machines, "the respondent says that it is a machine"),
        ((language.labelled,), "it begins with a label such as 'Listener:'"),
        (language.preambles, "it announces a reply, or says how one would reply"),
        (language.about_task, "it talks about the text: a count of words, a blank, a rewording"),
    )
    for patterns, reason in checks:
        if any(pattern.search(plain) for pattern in patterns):
            return Verdict("meta_talk", reason)
    if _QUOTED_ELSEWHERE.fullmatch(plain):
        return Verdict("meta_talk", "the whole reply is in quotation marks")
    return None


def _talks_about_itself(
    text: str, plain: str, language: AnswerLanguage | None = None
) -> Verdict | None:
    """What tells raters that a machine, or someone who was given a task, wrote the reply."""
    matches = (
        (_MACHINE.search(plain), "the respondent says that it is a machine"),
        (_LABELLED.search(plain), "it begins with a label such as 'Listener:'"),
        (_BOTH_SIDES.search(text.strip()), "it writes both sides of a conversation"),
        (_PREAMBLE.search(plain), "it announces a reply, or says how one would reply"),
        (
            _ABOUT_TASK.search(plain),
            "it talks about the text: a count of words, a blank, a rewording",
        ),
        (_QUOTED.fullmatch(plain), "the whole reply is in quotation marks"),
    )
    for match, reason in matches:
        if match:
            return Verdict("meta_talk", reason)
    return _talks_in(language, plain)


# -- length -------------------------------------------------------------------------------------


def _is_too_long_or_short(text: str, expected: Expected) -> Verdict | None:
    words = count_words(text)
    most = TOLERANCE * expected.most_words
    if words > most or len(text) > _LETTERS_PER_WORD * most:
        return Verdict("too_long", f"more than {TOLERANCE} times the {expected.most_words} words")
    if TOLERANCE * words < expected.least_words:
        return Verdict("too_short", f"far fewer than the {expected.least_words} words")
    return None


def _unusual(text: str, expected: Expected) -> str | None:
    words = count_words(text)
    if words > expected.most_words:
        return f"longer than asked for ({expected.most_words} words)"
    if words < expected.least_words:
        return f"shorter than asked for ({expected.least_words} words)"
    return None
