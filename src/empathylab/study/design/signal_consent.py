"""Whether a study that records signs of automation tells participants so before they agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from empathylab.study.design.definition import Study
from empathylab.study.design.live_checks import texts_in


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
