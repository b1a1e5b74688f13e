"""What a study is: the models of its file, which the code obeys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from empathylab.errors import UserError
from empathylab.file_models import FileModel, Flag, Number, Whole, Words, misfit, plain, wrong
from empathylab.study.blocks.dimensions import Dimension
from empathylab.study.blocks.interface import Block
from empathylab.study.blocks.questions.checks import CheckQuestion
from empathylab.study.blocks.registry import AnyBlock, block_types
from empathylab.study.blocks.texts import Identifier, Text, languages_of
from empathylab.study.blocks.work import MOST_ITEMS
from empathylab.study.design.interface_texts import read_interface
from empathylab.study.design.recruitment import Recruitment
from empathylab.study.live.settings import Live

Design = Literal["between", "within"]
Group = Literal["emotion", "topic", "factor"]

EVERYONE = "everyone"
"""The arm of all raters where none is kept from what others see."""

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_ARM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,59}")
_DAYS = 36_500


class Arm(FileModel):
    """Whose responses are rated; in a file a plain respondent will do."""

    respondent: Words
    prompt: Words | None = None
    """Which of the respondent's replies, where the lab has some to several prompts."""

    @model_validator(mode="before")
    @classmethod
    def _from_respondent(cls, data: Any) -> Any:
        return data if isinstance(data, Mapping) else {"respondent": data}


PerGroup = Annotated[Whole, Field(ge=1)] | dict[str, Annotated[Whole, Field(ge=1)]] | None


class Situations(FileModel):
    """Which situations of the lab are used."""

    set: Words | None = None
    selection: Words | None = None
    """A draw stored in the lab, in place of a set."""
    count: Annotated[Whole, Field(ge=1)] | None = None
    """In total; None: all, or as many as the groups give."""
    per_emotion: PerGroup = None
    per_topic: PerGroup = None
    per_factor: PerGroup = None
    """A number for every group, or a table of numbers by group."""
    valence: Literal["positive", "negative", "mixed"] | None = None

    @model_validator(mode="after")
    def _one_source_and_one_grouping(self) -> Self:
        if (self.set is None) == (self.selection is None):
            raise wrong("given as a set or as a selection", "Name one of the two.")
        grouped = [group for group in get_args(Group) if getattr(self, f"per_{group}")]
        if len(grouped) > 1:
            raise wrong(
                f"left out where there is 'per_{grouped[0]}'",
                "Keep one.",
                at=(f"per_{grouped[1]}",),
            )
        return self

    @property
    def source(self) -> str:
        """The name of the selection or the set."""
        return self.selection or self.set or ""

    @property
    def group(self) -> Group | None:
        """What the numbers are by."""
        return next((group for group in get_args(Group) if getattr(self, f"per_{group}")), None)

    @property
    def per_group(self) -> int | Mapping[str, int]:
        """How many of every group, or of each; 0 where there are no groups."""
        number: int | Mapping[str, int] = getattr(self, f"per_{self.group}") if self.group else 0
        return number


class Responses(FileModel):
    """Which of several replies to the same prompt are rated."""

    sample: Annotated[Whole, Field(ge=0)] = 0


class Quota(FileModel):
    """How many people of each kind may take part."""

    by: Words
    """A question of the demographics, or what the platform tells."""
    counts: dict[str, Annotated[Whole, Field(ge=0)]] = Field(default_factory=dict)
    shares: dict[str, Annotated[Number, Field(ge=0, le=1)]] = Field(default_factory=dict)
    """In place of counts: proportions of the places there are."""
    others: Annotated[Whole, Field(ge=0)] | None = None
    """Places for everybody not named; None: they are turned away."""
    source: Literal["demographics", "platform"] = "demographics"

    @model_validator(mode="after")
    def _counts_or_shares(self) -> Self:
        if bool(self.counts) == bool(self.shares):
            raise wrong("given with counts or with shares", "Give one of the two.")
        total = sum(self.shares.values())
        if total > 1 + 1e-9:
            raise wrong("shares that add up to 1 at most", at=("shares",), got=f"{total:g}")
        return self


class TimeLimits(FileModel):
    """Minutes after which a place can be given to someone else."""

    abandon_after: Annotated[Whole, Field(ge=5, le=60 * 24 * 60)] = 60
    """Without any sign of the person."""
    finish_within: Whole | None = None
    """Since the place was taken; None: no such limit."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.finish_within is not None and self.finish_within < self.abandon_after:
            raise wrong(f"{self.abandon_after} or more", at=("finish_within",))
        return self


class Looks(FileModel):
    """When results may be looked at before the study is closed, and how they are then tested."""

    ratings: Annotated[Whole, Field(ge=1)]
    """Rated replies of the whole study."""
    at: Annotated[tuple[Number, ...], Field(min_length=1)]
    """Proportions of these ratings; the last is 1."""
    spending: Literal["obrien-fleming", "pocock"] = "obrien-fleming"

    @field_validator("at", mode="after")
    @classmethod
    def _rising(cls, at: tuple[float, ...]) -> tuple[float, ...]:
        if list(at) != sorted(set(at)) or at[0] <= 0 or at[-1] != 1:
            raise wrong("proportions above 0 in rising order, and the last is 1")
        return at


class Retention(FileModel):
    """Days after closing until data is deleted."""

    platform_ids: Annotated[Whole, Field(ge=0, le=_DAYS)] = 90
    comments: Annotated[Whole, Field(ge=0, le=_DAYS)] | None = None
    """Comments and answers in free text, which may identify someone; None: kept."""


def _exclusion_rule(rule: Any) -> Any:
    from empathylab.stats.raters.exclusions import rules_from  # statistics load slowly

    rule = plain(rule)
    if not isinstance(rule, dict):
        raise wrong("a table that begins with the key 'rule'")
    try:
        rules_from([rule])
    except UserError as error:
        raise misfit(error.what, error.remedy, got=error.got) from None
    except TypeError:
        raise wrong("a rule whose settings are numbers", got=str(rule)) from None
    return rule


def _language(name: str) -> str:
    if not _LANGUAGE.fullmatch(name):
        raise wrong("a language such as en, de or pt-BR")
    return name


def _each_once(languages: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(languages)) < len(languages):
        raise wrong("a list of languages, each once")
    return languages


Languages = Annotated[
    tuple[Annotated[Words, AfterValidator(_language)], ...],
    Field(min_length=1),
    AfterValidator(_each_once),
]


class FollowUp(FileModel):
    """A second study of the same people: questionnaires, days after the first."""

    study: Words
    """The first study, in the same lab: `NAME`, or `NAME@VERSION`."""
    people: Annotated[Whole, Field(ge=1, le=100_000)]
    """How many can take part; all must have completed the first study."""


class Study(FileModel):
    """A study: its texts, its blocks, its arms, and how people are assigned to them."""

    languages: Languages
    name: Identifier
    version: Annotated[Whole, Field(ge=1)]
    title: Text
    seed: Annotated[Whole, Field(ge=0, le=2**63 - 1)]
    blocks: Annotated[tuple[AnyBlock, ...], Field(min_length=1)]
    recruitment: Recruitment
    situations: Situations | None = None
    """None where participants write about experiences of their own, with `live`."""
    live: Live | None = None
    follow_up: FollowUp | None = None
    """Of a study of questionnaires alone, days after another one."""
    design: Design = "between"
    arms: dict[str, Arm] = Field(default_factory=dict)
    responses: Responses = Responses()
    dimensions: tuple[Dimension, ...] = ()
    attention_pool: tuple[CheckQuestion, ...] = ()
    """Questions of which attention checks without one of their own draw."""
    batch_size: Annotated[Whole, Field(ge=1, le=MOST_ITEMS)]
    """Situations in one rater's batch; 10 where responses are rated, else 1, unless given."""
    ratings_per_response: Annotated[Whole, Field(ge=1, le=10_000)] | None = None
    people_per_situation: Annotated[Whole, Field(ge=1, le=10_000)] | None = None
    replies_per_situation: Literal["one", "all"] = "all"
    """Within subjects: whether a rater sees all replies to a situation, or one of them."""
    quotas: tuple[Quota, ...] = ()
    time_limits: TimeLimits = TimeLimits()
    exclusions: tuple[Annotated[dict[str, Any], BeforeValidator(_exclusion_rule)], ...] = ()
    """As `empathylab.stats.raters.exclusions.rules_from` reads them."""
    looks: Looks | None = None
    retention: Retention = Retention()
    signals: Flag | None = None
    """Whether the browser counts signs of AI assistance and of bots; the consent must say so."""
    content_note: Text | None = None
    """What may distress, said before it is seen."""
    help: Text | None = None
    """Where to find help; stands on every page."""
    contact: Text | None = None
    """Who answers questions about the study."""
    interface: dict[str, Any] = Field(default_factory=dict)
    """Interface texts by language, which replace the built-in ones."""

    @model_validator(mode="after")
    def _situations_or_live(self) -> Self:
        keys = ("situations", "live", "follow_up")
        given = [key for key in keys if getattr(self, key) is not None]
        if len(given) != 1:
            raise wrong(
                "given with situations; with live, if participants describe their own; or with "
                "follow_up, if they answer questionnaires days later",
                "Keep one of the three.",
                got=" and ".join(given) or "none",
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _usual_batch_size(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("batch_size") is None:
            return {**data, "batch_size": 10 if _rates(data.get("blocks")) else 1}
        return data

    @field_validator("blocks", mode="before")
    @classmethod
    def _number_blocks(cls, blocks: Any) -> Any:
        """Ids that are not given are the kind and a number."""
        if not isinstance(blocks, list | tuple):
            return blocks
        counts: dict[str, int] = {}
        numbered = []
        for block in blocks:
            if isinstance(block, Mapping):
                kind = str(block.get("block"))
                counts[kind] = counts.get(kind, 0) + 1
                default = kind if counts[kind] == 1 else f"{kind}-{counts[kind]}"
                numbered.append({"id": default, **block})
            else:
                numbered.append(block)
        return tuple(numbered)

    @field_validator("arms", mode="before")
    @classmethod
    def _arm_names(cls, arms: Any) -> Any:
        for name in arms if isinstance(arms, Mapping) else ():
            if not _ARM.fullmatch(name) or name == EVERYONE:
                raise misfit(
                    "an arm's name must be letters, digits, dots and hyphens, 60 at most, and not "
                    f"{EVERYONE!r}",
                    "Rename the arm. The respondent's name goes after the colon.",
                    at=(name,),
                    got=name,
                )
        return arms

    @field_validator("interface", mode="before")
    @classmethod
    def _interface_texts(cls, texts: Any, info: ValidationInfo) -> Any:
        return read_interface(texts, languages_of(info))

    def block(self, block_id: str) -> Block:
        """The block of that id."""
        return next(block for block in self.blocks if block.id == block_id)

    @property
    def rated(self) -> bool:
        """Whether responses are rated; else situations are imagined or replied to."""
        return any(block.rates_responses for block in self.blocks)

    @property
    def repeats(self) -> int:
        """Ratings of each response, or people for each situation."""
        return (self.ratings_per_response if self.rated else self.people_per_situation) or 1

    @property
    def items_per_rater(self) -> int:
        """How many items one rater has, where batches are full."""
        return 0 if self.situations is None else self.batch_size * self.replies_together

    @property
    def replies_together(self) -> int:
        """How many replies to one situation a rater sees, one after the other."""
        together = self.design == "within" and self.replies_per_situation == "all"
        return len(self.arms) if together and self.rated else 1

    @property
    def blocks_before_place(self) -> frozenset[str]:
        """The ids of the blocks that can be answered without a place.

        They are the consent and what stands before the last question that a quota or a screening
        rule goes by: a place is taken as soon as it can be, so nobody works for nothing, and no
        sooner.
        """
        by = {quota.by for quota in self.quotas if quota.source == "demographics"}
        last = 0
        for number, block in enumerate(self.blocks):
            if block.is_work:
                break
            if block.screening or by & {person_field.name for person_field in block.person_fields}:
                last = number
        return frozenset(block.id for block in self.blocks[: last + 1])

    @property
    def demographic_fields(self) -> tuple[str, ...]:
        """The names of all questions about the person."""
        return tuple(
            person_field.name for block in self.blocks for person_field in block.person_fields
        )


def _rates(blocks: Any) -> bool:
    """Whether the blocks of a file rate responses."""
    types = block_types()
    return any(
        isinstance(block, Mapping)
        and str(block.get("block")) in types
        and types[str(block.get("block"))].rates_responses
        for block in (blocks if isinstance(blocks, list | tuple) else ())
    )
