"""What `study check` says of promises: texts of consent and debrief that the study contradicts.

The words are looked for in the languages of the interface. A text that says nothing of the kind, or
says it in other words, is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from empathylab.study.design.definition import Study

_SHARE = 0.3
"""By how much a stated time may differ from the estimate, which is itself only one."""
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_MINUTES = "minutes?|minuten?|minutos?|分钟|分|분|دقائق|دقيقة"
_DAYS = "days?|tagen?|tage|jours?|días?|dias?|天|日|일|أيام|يوما?"
_REPLIES = (
    "replies|responses|antworten|réponses|respuestas|respostas|条回复|件の返信|개의 답변|ردود"
)
_SITUATIONS = (
    "(?:short )?(?:situations|posts)|situationen|beiträge|situaciones|publicaciones|situações|"
    "个情境|件の場面|개의 상황|مواقف"
)
_FAMILIES = re.compile(
    r"\b(chat-?gpt|gpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|grok|phi|smollm)"
    r"(?:[ -]?v?(\d+(?:\.\d+)*))?",
    re.IGNORECASE,
)
_INVENTED = re.compile(
    r"\b(?:invented|fictional|made[ -]up|erfunden\w*|fiktiv\w*|inventad\w+|inventé\w*|fictíci\w+)"
    r"|虚构|架空|가상|خيالي",
    re.IGNORECASE,
)
_REAL = re.compile(r"\breal (?:people|persons|posts|situations|conversations)\b", re.IGNORECASE)
_MODELS = re.compile(
    r"\b(?:language models?|artificial intelligence|ai|sprachmodell\w*|künstliche\w* intelligenz|"
    r"modelos? de lengua\w+|modelos? de linguagem|modèles? de langage)\b"
    r"|语言模型|言語モデル|언어 모델|نماذج لغوية",
    re.IGNORECASE,
)
_PEOPLE = re.compile(
    r"\b(?:by|from) (?:people|humans|a person)\b|\bvon menschen\b|\bpor personas\b|\bpor pessoas\b"
    r"|\bpar des (?:personnes|humains)\b|由人",
    re.IGNORECASE,
)
_HUMAN = re.compile(r"\b(?:human|people|person|peer)s?\b", re.IGNORECASE)


def claim_warnings(study: Study, minutes: float | None, *, invented: bool | None) -> Iterator[str]:
    """What the texts and the settings of a study say of it that is not so.

    `minutes` is the estimate of one participation; `invented` says whether the situations were
    written for studies, None where that is not known.
    """
    for block in study.blocks:
        text = getattr(block, "text", None) if block.position else None
        for language, written in () if text is None else text.versions:
            where = f"The block {block.id!r}"
            if len(study.languages) > 1:
                where += f" ({language})"
            yield from _numbers(study, written, where, minutes)
            yield from _names(study, written, where)
            if invented is False and (claim := _INVENTED.search(written)):
                yield (
                    f"{where} says {claim[0]!r}, but the situations are not from a built-in set. "
                    "Say where they come from."
                )
            if invented and (claim := _REAL.search(written)):
                yield f"{where} says {claim[0]!r}, but the built-in situations are invented."
    yield from _example_ratings(study)
    yield from _times(study, minutes)


def _example_ratings(study: Study) -> Iterator[str]:
    """Examples whose rating is not on the scale that participants then see."""
    if len(study.dimensions) != 1 or study.dimensions[0].input == "slider":
        return
    labels = [label for label in study.dimensions[0].labels if label]
    for block in study.blocks:
        for number, example in enumerate(getattr(block, "examples", ()), start=1):
            for language, rating in example.rating.versions if example.rating else ():
                known = [label.in_language(language) for label in labels]
                if not any(_letters(label) in _letters(rating) for label in known):
                    yield (
                        f"Example {number} of the block {block.id!r} has the rating {rating!r}, "
                        f"but the labels are {', '.join(known)}."
                    )


def _numbers(study: Study, text: str, where: str, minutes: float | None) -> Iterator[str]:
    kept = {study.retention.platform_ids, study.retention.comments or 0}
    replies = {study.items_per_rater}
    if study.design == "within":
        replies.add(len(study.arms))
    for number, words in _stated(text, _DAYS):
        if number not in kept:
            yield (
                f"{where} says {words!r}, but retention deletes platform ids after "
                f"{study.retention.platform_ids} days. Write {{{{retention_days}}}}."
            )
    for number, words in _stated(text, _REPLIES) if study.rated else ():
        if number not in replies:
            yield (
                f"{where} says {words!r}, but one participant rates {study.items_per_rater}. "
                "Write {{items}}."
            )
    for number, words in _stated(text, _SITUATIONS):
        if number not in (study.batch_size, study.items_per_rater):
            yield (
                f"{where} says {words!r}, but one participant gets {study.batch_size}. "
                "Write {{situations}}."
            )
    stated = study.recruitment.minutes
    for number, words in _stated(text, _MINUTES):
        if number != stated and minutes is not None and _is_off(number, minutes):
            yield f"{where} says {words!r}, but the estimate is {minutes:.0f} minutes."


def _names(study: Study, text: str, where: str) -> Iterator[str]:
    respondents = {arm.respondent for arm in study.arms.values()}
    known = [_letters(name) for name in (*respondents, *study.arms)]
    seen = {match[0].lower(): match for match in _FAMILIES.finditer(text)}
    for match in seen.values():
        family = _letters(match[1]).removeprefix("chat")
        if not any(family + _letters(match[2] or "") in name for name in known):
            yield f"{where} names {match[0]!r}, but no arm shows its replies."
    if not study.rated:
        return
    people = {name for name in respondents if _HUMAN.search(name)}
    if people == respondents and (claim := _MODELS.search(text)):
        yield f"{where} speaks of {claim[0]!r}, but every arm shows replies of people."
    models = {name for name in respondents if "/" in name}
    if models == respondents and (claim := _PEOPLE.search(text)):
        yield f"{where} says {claim[0]!r}, but every arm shows replies of a model."


def _times(study: Study, minutes: float | None) -> Iterator[str]:
    if minutes is None:
        return
    limit, stated = study.time_limits.finish_within, study.recruitment.minutes
    if limit is not None and limit < minutes:
        yield (
            f"time_limits.finish_within is {limit} minutes, less than the estimate of "
            f"{minutes:.0f}: careful participants would be timed out."
        )
    if stated is not None and _is_off(stated, minutes):
        yield (
            f"recruitment.minutes is {stated}, but the estimate is {minutes:.0f} minutes. Pilot "
            "the study, then correct it."
        )


def _stated(text: str, nouns: str) -> Iterator[tuple[int, str]]:
    # Chinese and Japanese put no space around a number, so words end where Latin letters do.
    number = rf"(?<![\d.,A-Za-z])(\d{{1,4}}|{'|'.join(_NUMBERS)})"
    pattern = rf"{number}\s?(?:{nouns})(?![A-Za-z])"
    for match in re.finditer(pattern, text, re.IGNORECASE):
        word = match[1].lower()
        yield int(word) if word.isdecimal() else _NUMBERS.index(word), match[0]


def _is_off(number: float, minutes: float) -> bool:
    return abs(number - minutes) > max(2.0, _SHARE * minutes)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
