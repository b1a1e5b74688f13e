"""The words that replies are asked for with: data with a version, stored with every run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from empathylab.errors import InputError, UnknownName
from empathylab.protocols.languages import language_code
from empathylab.protocols.prompt_texts import ENGLISH, prompt_texts
from empathylab.protocols.template_files import read_template


@dataclass(frozen=True, slots=True)
class ReplyTemplate:
    """How a respondent is asked to reply to a situation."""

    id: str
    version: int
    system: str
    """May use {words}, {least_words}, {most_words} and {situation}.

    A paragraph with {situation} is left out where the person says nothing beyond the situation.
    """
    user: str
    """May use {situation}, {emotion}, {utterance} and {title}."""
    words: int
    """About how many a reply should have."""
    most_words: int
    least_words: int = 2

    @property
    def sees(self) -> tuple[str, ...]:
        """The parts of a situation that the respondent sees, named as in a study's `shows`."""
        used = f"{self.system} {self.user}"
        fields = ("emotion", "title", "situation", "context", "utterance")
        return tuple(field for field in fields if field == "context" or f"{{{field}}}" in used)

    def with_lengths(
        self,
        *,
        words: int | None = None,
        least_words: int | None = None,
        most_words: int | None = None,
    ) -> ReplyTemplate:
        """The template with other lengths; None leaves a length as it is."""
        changed = dataclasses.replace(
            self,
            words=self.words if words is None else words,
            least_words=self.least_words if least_words is None else least_words,
            most_words=self.most_words if most_words is None else most_words,
        )
        return _checked(changed, where=f"reply template {self.id}")


_LISTENER: dict[str, Any] = {"user": "{utterance}", "words": 28, "most_words": 97}
"""About 28 words and at most 97: people's mean and maximum in Welivita & Pu (2024)."""

_PEER: dict[str, Any] = {
    "user": "{title}\n\n{situation}",
    "words": 125,
    "most_words": 150,
    "least_words": 100,
}
"""100 to 150 words, as in Lee et al. (2024)."""

# Three listeners: from the first to the second the request is added, from the second to the third
# the definition, so that the effect of each can be estimated.
_ASKED = {
    "plain-listener": (),
    "empathic-listener-brief": ("request",),
    "empathic-listener": ("request", "definition"),
}
_PEER_SUPPORTER = "peer-supporter"


def _template(name: str, version: int, system: str) -> ReplyTemplate:
    rest = _PEER if name.startswith(_PEER_SUPPORTER) else _LISTENER
    return ReplyTemplate(name, version, system, **rest)


def _newest(language: str) -> Iterator[ReplyTemplate]:
    """The newest built-in templates; those in other languages have the code after their id."""
    texts = prompt_texts()[language]
    code = "" if language == ENGLISH else f"-{language}"
    for name, parts in _ASKED.items():
        prompt = " ".join(texts[part] for part in ("friend", *parts, "length"))
        system = f"{prompt}\n\n{texts['background']}\n{{situation}}"
        yield _template(f"{name}{code}", texts["version"], system)
    yield _template(f"{_PEER_SUPPORTER}{code}", texts["version"], texts["peer"])


PLAIN_LISTENER, BRIEF_LISTENER, EMPATHIC_LISTENER, PEER_SUPPORTER = _newest(ENGLISH)
_EARLIER = tuple(
    _template(name, int(version), system)
    for version, systems in prompt_texts()[ENGLISH]["earlier"].items()
    for name, system in systems.items()
)
REPLY_TEMPLATES = {
    template.id: template
    for template in (EMPATHIC_LISTENER, BRIEF_LISTENER, PLAIN_LISTENER, PEER_SUPPORTER)
}
"""The newest version of each built-in template."""

TRANSLATED_TEMPLATES = {
    template.id: template
    for language in prompt_texts()
    if language != ENGLISH
    for template in _newest(language)
}
"""The built-in templates in other languages, such as `empathic-listener-de`."""

_NEWEST = REPLY_TEMPLATES | TRANSLATED_TEMPLATES
_VERSIONS = {f"{item.id}@{item.version}": item for item in (*_EARLIER, *_NEWEST.values())}

_PLACEHOLDERS = {
    "system": {"words", "least_words", "most_words", "situation"},
    "user": {"situation", "emotion", "utterance", "title"},
}
_NEEDED = {"user": {"situation", "utterance"}}


def reply_template(name: str) -> ReplyTemplate:
    """The reply template of that id, or the one in the TOML file of that path.

    `empathic-listener@1` names a version of a built-in template, `empathic-listener` the newest.
    """
    if name.endswith(".toml"):
        return read_reply_template(Path(name))
    known = _VERSIONS if "@" in name else _NEWEST
    if name not in known:
        remedy = "Or give a file that ends in .toml."
        raise UnknownName("reply template", name, known, remedy=remedy)
    return known[name]


def in_language(template: ReplyTemplate, language: str) -> ReplyTemplate:
    """A built-in template in another language; any other, and where none is written, as it is."""
    if template != REPLY_TEMPLATES.get(template.id):
        return template
    return TRANSLATED_TEMPLATES.get(f"{template.id}-{language_code(language)}", template)


def prompt_fields(prompt: str) -> tuple[str, ...] | None:
    """What the built-in template `id@version` tells of a situation; None for any other."""
    template = _VERSIONS.get(prompt)
    return None if template is None else template.sees


def template_versions(name: str) -> tuple[ReplyTemplate, ...]:
    """All versions of the built-in template of that id, the oldest first."""
    versions = (item for item in _VERSIONS.values() if item.id == name)
    return tuple(sorted(versions, key=lambda item: item.version))


def read_reply_template(path: Path) -> ReplyTemplate:
    """The template in a TOML file; what it leaves out is as in `empathic-listener@1`.

    That version stays, so that the meaning of an existing file does not change.
    """
    template = read_template(path, _VERSIONS["empathic-listener@1"], _PLACEHOLDERS, _NEEDED)
    if template.id in _NEWEST:
        raise InputError(
            "a built-in template has this id",
            where=str(path),
            got=template.id,
            remedy="Give the template its own name.",
        )
    return _checked(template, where=str(path))


def _checked(template: ReplyTemplate, *, where: str) -> ReplyTemplate:
    least, about, most = template.least_words, template.words, template.most_words
    if not 1 <= least <= about <= most:
        raise InputError(
            "the words asked for must be least_words ≤ words ≤ most_words, all above 0",
            where=where,
            got=f"{least}, {about}, {most}",
            remedy="Give the three numbers so that they fit.",
        )
    return template
