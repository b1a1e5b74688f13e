"""What a study is: frozen data, read from a file or from the lab, that code obeys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from empathylab.study.blocks.types import Block, Demographics, Imagine, Rate, Text, WorkBlock, Write

Design = Literal["between", "within"]
Platform = Literal["prolific", "mturk", "sona", "open", "invitation"]
Outcome = Literal[
    "completed",
    "no-consent",
    "screened-out",
    "full",
    "failed-comprehension",
    "failed-attention",
    "withdrawn",
]

EVERYONE = "everyone"
"""The arm of all raters where none is kept from what others see."""


@dataclass(frozen=True, slots=True)
class Arm:
    """Whose responses are rated."""

    respondent: str
    prompt: str | None = None
    """Which of the respondent's replies, where the lab holds some to several prompts."""


@dataclass(frozen=True, slots=True)
class Situations:
    """Which situations of the lab are used."""

    set: str | None = None
    selection: str | None = None
    """A draw kept in the lab, in place of a set."""
    count: int | None = None
    """In total; None: all, or as many as the groups give."""
    group: Literal["emotion", "topic", "factor"] | None = None
    """What the counts below are by."""
    per_group: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict, hash=False)
    """By group, where groups differ."""
    valence: Literal["positive", "negative", "mixed"] | None = None


@dataclass(frozen=True, slots=True)
class Dimension:
    """What a response is rated on, point by point."""

    name: str
    question: Text
    values: tuple[int, ...]
    labels: tuple[Text | None, ...]
    """Of each value; None where a point bears its number only."""
    direction: Literal["fixed", "random"] = "fixed"
    """`random`: half of the raters see the points the other way round, always the same way."""


@dataclass(frozen=True, slots=True)
class Quota:
    """How many people of each kind may take part."""

    by: str
    """A field of the demographics, or what the platform tells."""
    counts: Mapping[str, int] = field(default_factory=dict, hash=False)
    shares: Mapping[str, float] = field(default_factory=dict, hash=False)
    """In place of counts: parts of the places there are."""
    others: int | None = None
    """Places for everybody not named; None: they are turned away."""
    source: Literal["demographics", "platform"] = "demographics"


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Minutes after which a place can be given to somebody else."""

    abandon_after: int = 60
    """Without any sign of the person."""
    finish_within: int | None = None
    """Since the place was taken; None: no such limit."""


@dataclass(frozen=True, slots=True)
class Recruitment:
    """Where raters come from, and what they get at the end."""

    platform: Platform
    once: bool = True
    """Nobody takes part twice."""
    codes: Mapping[Outcome, str] = field(default_factory=dict, hash=False)
    return_url: str | None = None
    """Where people are sent at the end; `{code}` stands for the code."""


@dataclass(frozen=True, slots=True)
class Retention:
    """Days after closing until data is deleted."""

    platform_ids: int = 90
    comments: int | None = None
    """Free words, which may tell who somebody is; None: kept."""


@dataclass(frozen=True, slots=True)
class Study:
    """A study: its texts, its blocks, its arms, and how people are shared out."""

    name: str
    version: int
    title: Text
    languages: tuple[str, ...]
    design: Design
    seed: int
    blocks: tuple[Block, ...]
    situations: Situations
    recruitment: Recruitment
    arms: Mapping[str, Arm] = field(default_factory=dict, hash=False)
    sample: int = 0
    """Which of several replies to the same prompt."""
    dimensions: tuple[Dimension, ...] = ()
    batch_size: int = 10
    """Situations in one rater's packet of work."""
    repeats: int = 1
    """Ratings of each response, or people for each situation."""
    replies_per_situation: Literal["one", "all"] = "all"
    """Within subjects: whether a rater sees all replies to a situation, or one of them."""
    quotas: tuple[Quota, ...] = ()
    time_limits: TimeLimits = TimeLimits()
    exclusions: tuple[Mapping[str, object], ...] = field(default=(), hash=False)
    """As `empathylab.stats.raters.exclusions.rules_from` reads them."""
    retention: Retention = Retention()
    content_note: Text | None = None
    """What may distress, said before it is seen."""
    help: Text | None = None
    """Where to find help; stands on every page."""
    contact: Text | None = None
    """Who answers questions about the study."""
    interface: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    """By language, words in place of those that the pages say of themselves."""

    def block(self, block_id: str) -> Block:
        """The block of that id."""
        return next(one for one in self.blocks if one.id == block_id)

    @property
    def work(self) -> WorkBlock:
        """The block in which the packet of work is done; the last one where there are two."""
        return next(one for one in reversed(self.blocks) if isinstance(one, Rate | Imagine | Write))

    @property
    def rated(self) -> bool:
        """Whether responses are rated; else situations are imagined or replied to."""
        return isinstance(self.work, Rate)

    @property
    def demographic_fields(self) -> tuple[str, ...]:
        """The names of all questions about the person."""
        return tuple(
            one.name
            for block in self.blocks
            if isinstance(block, Demographics)
            for one in block.fields
        )

    def rated_dimensions(self, block: Rate) -> tuple[Dimension, ...]:
        """The dimensions that the block asks for, in the study's order."""
        wanted = block.dimensions or tuple(one.name for one in self.dimensions)
        return tuple(one for one in self.dimensions if one.name in wanted)
