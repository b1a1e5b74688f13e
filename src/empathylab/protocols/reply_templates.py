"""The words that replies are asked for with: data with a version, stored with every run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from empathylab.errors import InputError, UnknownName
from empathylab.protocols.template_files import read_template


@dataclass(frozen=True, slots=True)
class ReplyTemplate:
    """How a respondent is asked to reply to a situation."""

    id: str
    version: int
    system: str
    """May use {words}, {least_words} and {most_words}."""
    user: str
    """May use {situation}, {emotion}, {utterance} and {title}."""
    words: int
    """About how many a reply should have."""
    most_words: int
    least_words: int = 2

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


# About 28 words and at most 97: people's mean and maximum in Welivita & Pu (2024).
EMPATHIC_LISTENER = ReplyTemplate(
    id="empathic-listener",
    version=1,
    system=(
        "You are a friend who listens with empathy. Empathy has three parts: understanding what "
        "the moment means to the other person (cognitive), feeling with them (affective), and "
        "showing that you care how they are (compassionate). "
        "Reply in about {words} words and never more than {most_words}. Write only the reply."
    ),
    user="{utterance}",
    words=28,
    most_words=97,
)

PLAIN_LISTENER = ReplyTemplate(
    id="plain-listener",
    version=1,
    system=(
        "You are talking with a friend. "
        "Reply in about {words} words and never more than {most_words}. Write only the reply."
    ),
    user="{utterance}",
    words=28,
    most_words=97,
)

# 100 to 150 words, as in Lee et al. (2024).
PEER_SUPPORTER = ReplyTemplate(
    id="peer-supporter",
    version=1,
    system=(
        "You volunteer as a peer supporter in an online community. Somebody has written the post "
        "that follows. Answer them as one person to another, so that they feel understood. "
        "Write between {least_words} and {most_words} words, and only your answer."
    ),
    user="{title}\n\n{situation}",
    words=125,
    most_words=150,
    least_words=100,
)

REPLY_TEMPLATES = {
    template.id: template for template in (EMPATHIC_LISTENER, PLAIN_LISTENER, PEER_SUPPORTER)
}

_PLACEHOLDERS = {
    "system": {"words", "least_words", "most_words"},
    "user": {"situation", "emotion", "utterance", "title"},
}
_NEEDED = {"user": {"situation", "utterance"}}


def reply_template(name: str) -> ReplyTemplate:
    """The reply template of that id, or the one in the TOML file of that path."""
    if name.endswith(".toml"):
        return read_reply_template(Path(name))
    if name not in REPLY_TEMPLATES:
        remedy = "Or give a file that ends in .toml."
        raise UnknownName("reply template", name, REPLY_TEMPLATES, remedy=remedy)
    return REPLY_TEMPLATES[name]


def read_reply_template(path: Path) -> ReplyTemplate:
    """The template in a TOML file; what the file leaves out is as in `empathic-listener`."""
    template = read_template(path, EMPATHIC_LISTENER, _PLACEHOLDERS, _NEEDED)
    if template.id in REPLY_TEMPLATES:
        raise InputError(
            "a built-in template has this id",
            where=str(path),
            got=template.id,
            remedy="Give the template a name of its own.",
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
