"""The key `live` of a study file: who answers participants, under which labels, at what cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from empathylab.file_models import FileModel, Flag, Number, Whole, Words, misfit, wrong
from empathylab.models.providers import PROVIDERS
from empathylab.study.blocks.texts import Text

Kind = Literal["model", "person", "fixed"]
Check = Literal["unsafe", "identity", "refusal", "echo", "length", "leak"]
CHECKS: tuple[Check, ...] = ("unsafe", "identity", "refusal", "echo", "length", "leak")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,28}")
_OWN_MACHINE = ("local", "scripted")


class Author(FileModel):
    """Who writes the replies of a condition: exactly one of a model, a fixed text, or a person."""

    model: Words | None = None
    """A model as in `empathylab models`, such as `openai/gpt-4o-mini`."""
    text: Text | None = None
    """A fixed reply, the same for everybody."""
    person: Literal["participant", "confederate"] | None = None
    """Another participant, or a person whom the researchers trained."""
    prompt: Text | None = None
    """Of a model: its instructions. It gets the participant's words as the user's message."""
    base_url: Words | None = None
    """Of a model: the address of an endpoint that EmpathyLab does not know by name."""
    api_key_env: Words | None = None
    """Of a model: the environment variable of the server that holds the key."""
    sent_to: Words | None = None
    """Of a model: who receives what participants write, in the words of the consent text."""
    temperature: Annotated[Number, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[Whole, Field(ge=1, le=8000)] = 400
    written_by: Literal["model", "person"] = "person"
    """Of a fixed reply: who wrote it."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [name for name in ("model", "text", "person") if getattr(self, name) is not None]
        if len(given) != 1:
            raise wrong("given with one of model, text and person", got=", ".join(given) or "none")
        if self.model is None:
            for key in ("prompt", "base_url", "api_key_env", "sent_to", "temperature"):
                if getattr(self, key) is not None:
                    raise wrong("left out: only a model can have it", "Remove it.", at=(key,))
        elif self.prompt is None:
            raise misfit("the key 'prompt' is missing", "Add the model's instructions.")
        return self

    @property
    def kind(self) -> Kind:
        """What kind of author it is."""
        if self.model is not None:
            return "model"
        return "fixed" if self.text is not None else "person"

    @property
    def truth(self) -> Literal["model", "person"]:
        """Who really writes: what a label may say or deny."""
        return self.written_by if self.kind == "fixed" else "model" if self.model else "person"

    @property
    def receiver(self) -> str | None:
        """Who receives what participants write; None where it stays on the study's machines."""
        if self.model is None:
            return None
        if self.sent_to is not None:
            return self.sent_to
        family = self.model.partition("/")[0]
        known = PROVIDERS.get(family)
        if family in _OWN_MACHINE or (known is not None and known.is_own_server):
            return None
        return family


class Label(FileModel):
    """What participants are shown about the author."""

    text: Text | None = None
    """None: nothing is said."""
    claims: Literal["model", "person"] | None = None
    """Who wrote the reply, as the label says; None: it does not say."""

    @model_validator(mode="after")
    def _claims_what_it_says(self) -> Self:
        if self.text is None and self.claims is not None:
            raise wrong("given where a label makes a claim", "Add text.", at=("text",), got="none")
        return self


class Delay(FileModel):
    """Seconds from a participant's message to the reply, drawn evenly, the same for all arms."""

    minimum: Annotated[Number, Field(ge=0, le=600)]
    maximum: Annotated[Number, Field(ge=0, le=600)]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.maximum < self.minimum:
            raise wrong(f"{self.minimum:g} or more", at=("maximum",))
        return self


class People(FileModel):
    """Waiting for a person who answers: another participant, or a confederate."""

    wait: Delay = Delay(minimum=5, maximum=180)
    """Seconds in the waiting room. Where models or fixed texts answer in other arms, nobody is
    connected before a time drawn evenly from these. Anyone without a partner at the maximum gets
    what `otherwise` says."""
    otherwise: Words = "end"
    """`end` the participant's part with a code of its own, or an author who answers instead."""
    reply_within: Annotated[Whole, Field(ge=5, le=3600)] = 300
    """Seconds that a person has for each message, before they count as having left."""


class Limits(FileModel):
    """The most that replies may cost, in US dollars by the price table."""

    participant: Annotated[Number, Field(gt=0)] | None = None
    study: Annotated[Number, Field(gt=0)] | None = None


class Live(FileModel):
    """Live replies: authors crossed with labels."""

    authors: Annotated[dict[str, Author], Field(min_length=1)]
    labels: dict[str, Label] = Field(default_factory=dict)
    people_per_condition: Annotated[Whole, Field(ge=1, le=100_000)]
    """How many participants see each combination of author and label."""
    delay: Delay
    people: People = People()
    fallback: Text | None = None
    """Shown in place of a model's reply that is late, missing or must not be shown."""
    attempts: Annotated[Whole, Field(ge=1, le=5)] = 2
    """How often a model is asked for one reply at most."""
    pause_after: Annotated[Whole, Field(ge=1, le=100)] = 5
    """The study pauses when the provider fails for so many replies in a row."""
    maximum_words: Annotated[Whole, Field(ge=10, le=2000)] = 200
    """Of a reply by a model or a person."""
    mask: Flag = False
    """Whether names, numbers and addresses are replaced before a model gets a text."""
    checks: tuple[Check, ...] = CHECKS
    """What a model's reply is checked for before it is shown."""
    crisis_words: Flag = True
    """Whether words of the data file for crises end the conversation and show help."""
    costs: Limits = Limits()

    @field_validator("authors", "labels", mode="before")
    @classmethod
    def _names(cls, entries: Any) -> Any:
        for name in entries if isinstance(entries, Mapping) else ():
            if not _NAME.fullmatch(str(name)):
                raise misfit(
                    "a name must be letters, digits, dots and hyphens, 29 at most",
                    "Rename it.",
                    at=(str(name),),
                    got=name,
                )
        return entries

    @model_validator(mode="after")
    def _fallback_for_models(self) -> Self:
        if self.fallback is None and any(
            author.kind == "model" for author in self.authors.values()
        ):
            raise misfit(
                "the key 'fallback' is missing: a model can fail or be too slow",
                "Add the text to show in that case.",
            )
        return self

    @model_validator(mode="after")
    def _otherwise_is_known(self) -> Self:
        author = self.authors.get(self.people.otherwise)
        if self.people.otherwise != "end" and (author is None or author.kind == "person"):
            known = [name for name, author in self.authors.items() if author.kind != "person"]
            raise wrong(
                f"one of {', '.join(('end', *known))}",
                at=("people", "otherwise"),
                got=self.people.otherwise,
            )
        return self

    @property
    def has_people(self) -> bool:
        """Whether people answer in some arm, so that everybody waits for a partner."""
        return any(author.kind == "person" for author in self.authors.values())

    @property
    def only_people(self) -> bool:
        """Whether people answer in all arms, so that waiting tells nobody's arm."""
        return all(author.kind == "person" for author in self.authors.values())

    @property
    def conditions(self) -> dict[str, tuple[str, str | None]]:
        """By arm, the names of its author and its label."""
        if not self.labels:
            return {author: (author, None) for author in self.authors}
        return {
            f"{author}+{label}": (author, label) for author in self.authors for label in self.labels
        }

    @property
    def false_conditions(self) -> tuple[str, ...]:
        """The arms whose label names another author than the true one."""
        return tuple(
            arm
            for arm, (author, label) in self.conditions.items()
            if label is not None
            if self.labels[label].claims not in (None, self.authors[author].truth)
        )
