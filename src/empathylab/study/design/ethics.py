"""What `study check` requires for the sake of participants: consent that says what is recorded and
who receives what they write, a debrief, help, and known costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from empathylab.models.prices import Prices
from empathylab.study.blocks.interface import Block
from empathylab.study.blocks.texts import Text
from empathylab.study.design.definition import Study
from empathylab.study.live.safety import unknown_languages
from empathylab.study.live.settings import Live

_SHORT_DELAY = 5.0


def live_problems(study: Study) -> Iterator[str]:
    """Why a study with live replies may not be launched."""
    live = study.live
    if live is None:
        return
    yield from _consent(study, live)
    last = study.blocks[-1]
    false = live.false_conditions
    if false and not last.reveals_deception:
        yield (
            f"Participants of {', '.join(false)} read a false label: the block {last.id!r} needs "
            "the key `reveals`, a text that says so. It is shown on a page where participants can "
            "have their answers deleted."
        )
    if study.help is None:
        yield (
            "A study with live replies needs `help`: participants write about themselves and must "
            "always be able to see where to get help."
        )
    yield from _costs(live)


def _on_one_line(text: str) -> str:
    """The text in lower case; a line break of the file is a space."""
    return " ".join(text.casefold().split())


def _consent(study: Study, live: Live) -> Iterator[str]:
    consent = study.blocks[0]
    receivers = {author.receiver for author in live.authors.values()} - {None}
    for language in study.languages:
        words = _on_one_line(" ".join(texts_in(consent, language)))
        for receiver in sorted(name for name in receivers if name):
            if _on_one_line(receiver) not in words:
                yield (
                    f"The consent ({language}) does not name {receiver!r}, which receives what "
                    f"participants write. Add a sentence to the block {consent.id!r}, or say with "
                    "`sent_to` how the consent names it."
                )


def texts_in(block: Block, language: str) -> Iterator[str]:
    """The texts of a block's own keys in one language."""
    for name in type(block).model_fields:
        value = getattr(block, name)
        if isinstance(value, Text):
            yield value.in_language(language)


def _costs(live: Live) -> Iterator[str]:
    if live.costs.study is None and live.costs.participant is None:
        return
    prices = Prices.load()
    for name, author in live.authors.items():
        if author.model is not None and prices.of(author.model) is None:
            yield (
                f"The author {name!r} has a limit on costs, but the price of {author.model} is "
                "not known: add it with `empathylab models update-prices FILE`, or remove `costs`."
            )


def _check_notes(study: Study, live: Live) -> Iterator[str]:
    if not live.checks:
        yield "`checks` is empty: models' replies are shown without any check."
    for check in ("unsafe", "identity", "refusal"):
        unknown = unknown_languages(check, study.languages) if check in live.checks else ()
        if unknown:
            yield (
                f"The check {check!r} has no phrases in {', '.join(unknown)}: replies there are "
                "checked for English ones only."
            )


def _waits_for_people(study: Study, live: Live) -> Iterator[str]:
    longest = live.people.wait.maximum + live.people.reply_within
    one_reply = any(block.kind == "reply" for block in study.blocks)
    mixed = live.has_people and not live.only_people
    if mixed and one_reply and longest > live.delay.minimum:
        yield (
            f"A reply by a person can take up to {longest:g} s, longer than the shortest `delay`: "
            "waiting can identify these authors. It cannot where `delay.minimum` is at least "
            "`people.wait.maximum` and `people.reply_within` together."
        )


def live_notes(study: Study) -> Iterator[str]:
    """Remarks about live replies that stop nothing."""
    live = study.live
    if live is None:
        return
    paid = [name for name, author in live.authors.items() if author.receiver is not None]
    if paid and live.costs.study is None:
        yield "There is no `costs.study`: nothing limits the total cost of the replies."
    if any(author.kind == "model" for author in live.authors.values()):
        if live.delay.minimum < _SHORT_DELAY:
            yield (
                f"A reply can be due after {live.delay.minimum:g} s. If the model is slower, the "
                "fallback is shown instead, so that the waiting time does not identify the "
                "author. Pilot "
                "the study and see how often."
            )
        yield from _check_notes(study, live)
    yield from _waits_for_people(study, live)
    if live.crisis_words:
        if unknown := unknown_languages("crisis", study.languages):
            yield (
                f"There are no crisis words in {', '.join(unknown)}: only English ones, or the "
                "participant, can stop a conversation."
            )
    else:
        yield "`crisis_words` is off: only the participant can stop a conversation."


def signal_problems(study: Study) -> Iterator[str]:
    """Why signs of automation may not be recorded or used: participants must be informed first."""
    rules = {rule.get("rule") for rule in study.exclusions}
    if "automation signs" in rules and not study.signals:
        yield "The rule 'automation signs' needs signals: set `signals: true`, or omit the rule."
    if not study.signals:
        return
    consent = study.blocks[0]
    for language in study.languages:
        words = " ".join(texts_in(consent, language)).lower()
        stems = _RECORDED.get(language.partition("-")[0].lower())
        if stems is None:
            yield (
                f"`signals: true` cannot be used with the language {language!r}: EmpathyLab "
                "cannot check that a consent text in it says that pasting and typing are recorded."
            )
        elif not all(any(stem in words for stem in kind) for kind in stems):
            yield (
                f"`signals: true` needs a consent text that says so in {language!r}: that pasting "
                "and the rhythm of typing are recorded, not the keys. Add a sentence to the block "
                f"{consent.id!r}, or remove the key."
            )


_RECORDED: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "en": (("paste", "pasting"), ("typing", "type ", "keystroke", "keyboard")),
    "de": (("einfüg", "eingefüg"), ("tipp", "tast")),
    "es": (("pegar", "pega", "pegad"), ("tecle", "escrib", "escritura")),
    "fr": (("coll",), ("frapp", "clavier", "saisi")),
    "pt": (("cola", "colar"), ("digit", "tecla")),
    "zh": (("粘贴", "贴上"), ("键", "输入", "打字")),
    "ja": (("貼り付け", "ペースト"), ("キー", "入力", "タイピング")),
    "ko": (("붙여넣",), ("타자", "타이핑", "키보드", "입력")),
    "ar": (("لصق",), ("كتاب", "مفاتيح")),
}
"""By language, stems of words for pasting and for typing."""
