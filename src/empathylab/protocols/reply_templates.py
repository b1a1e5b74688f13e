"""The words that replies are asked for with: data with a version, stored with every run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from empathylab.errors import InputError, UnknownName
from empathylab.protocols.languages import language_code
from empathylab.protocols.prompt_texts import prompt_texts
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
        """What the respondent is told of a situation, in the words of a study's `shows`."""
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


_LISTENER = {"user": "{utterance}", "words": 28, "most_words": 97}
"""About 28 words and at most 97: people's mean and maximum in Welivita & Pu (2024)."""

_FRIEND = "You are talking with a friend."
_REQUEST = "Reply with empathy."
_DEFINITION = (
    "Empathy has three parts: understanding what the situation means to the other person "
    "(cognitive), feeling with them (affective), and caring about them and being willing to help "
    "(compassionate)."
)
_LENGTH = "Reply in about {words} words and never more than {most_words}. Write only the reply."
_BACKGROUND = "This is what happened to your friend, in their own words:\n{situation}"


def _listener(name: str, *asked: str) -> ReplyTemplate:
    """A listener template of version 2: they differ only in what is asked."""
    system = " ".join((_FRIEND, *asked, _LENGTH)) + f"\n\n{_BACKGROUND}"
    return ReplyTemplate(id=name, version=2, system=system, **_LISTENER)  # type: ignore[arg-type]


# Three listeners: from the first to the second the request is added, from the second to the third
# the definition, so that the effect of each can be estimated.
PLAIN_LISTENER = _listener("plain-listener")
BRIEF_LISTENER = _listener("empathic-listener-brief", _REQUEST)
EMPATHIC_LISTENER = _listener("empathic-listener", _REQUEST, _DEFINITION)

_PEER = {"user": "{title}\n\n{situation}", "words": 125, "most_words": 150, "least_words": 100}
"""100 to 150 words, as in Lee et al. (2024)."""

PEER_SUPPORTER = ReplyTemplate(
    id="peer-supporter",
    version=2,
    system=(
        "You volunteer as a peer supporter in an online community. Someone has written the post "
        "that follows. Answer them as one person to another. "
        "Write between {least_words} and {most_words} words, and only your answer."
    ),
    **_PEER,  # type: ignore[arg-type]
)

# What earlier versions of EmpathyLab asked. Runs and studies refer to them: never change a word.
_EARLIER = (
    ReplyTemplate(
        id="empathic-listener",
        version=1,
        system=(
            "You are a friend who listens with empathy. Empathy has three parts: understanding "
            "what the moment means to the other person (cognitive), feeling with them "
            "(affective), and showing that you care how they are (compassionate). "
            "Reply in about {words} words and never more than {most_words}. Write only the reply."
        ),
        **_LISTENER,  # type: ignore[arg-type]
    ),
    ReplyTemplate(
        id="plain-listener",
        version=1,
        system=(
            "You are talking with a friend. "
            "Reply in about {words} words and never more than {most_words}. Write only the reply."
        ),
        **_LISTENER,  # type: ignore[arg-type]
    ),
    ReplyTemplate(
        id="peer-supporter",
        version=1,
        system=(
            "You volunteer as a peer supporter in an online community. Somebody has written the "
            "post that follows. Answer them as one person to another, so that they feel "
            "understood. "
            "Write between {least_words} and {most_words} words, and only your answer."
        ),
        **_PEER,  # type: ignore[arg-type]
    ),
)

REPLY_TEMPLATES = {
    template.id: template
    for template in (EMPATHIC_LISTENER, BRIEF_LISTENER, PLAIN_LISTENER, PEER_SUPPORTER)
}
"""The newest version of each built-in template."""


def _translated(language: str, texts: dict[str, Any]) -> Iterator[ReplyTemplate]:
    """The newest built-in templates in another language, each with the code after its id."""
    asked = {
        "plain-listener": (),
        "empathic-listener-brief": ("request",),
        "empathic-listener": ("request", "definition"),
    }
    for name, parts in asked.items():
        prompt = " ".join(texts[part] for part in ("friend", *parts, "length"))
        system = f"{prompt}\n\n{texts['background']}\n{{situation}}"
        yield dataclasses.replace(
            REPLY_TEMPLATES[name],
            id=f"{name}-{language}",
            version=texts["version"],
            system=system,
        )
    yield dataclasses.replace(
        PEER_SUPPORTER,
        id=f"{PEER_SUPPORTER.id}-{language}",
        version=texts["version"],
        system=texts["peer"],
    )


TRANSLATED_TEMPLATES = {
    template.id: template
    for code, texts in prompt_texts().items()
    for template in _translated(code, texts)
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
