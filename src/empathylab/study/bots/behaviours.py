"""How simulated raters behave: what they answer, decided by what stands on the page alone."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from empathylab.study.blocks.registry import block_types
from empathylab.study.blocks.steps import block_of
from empathylab.study.bots.reading import Asked, ReadPage

Behaviour = Literal["careful", "fast", "dropout", "straightliner", "backtracker"]
BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)

_SHARES: dict[Behaviour, int] = {
    "careful": 50,
    "fast": 15,
    "dropout": 15,
    "straightliner": 10,
    "backtracker": 10,
}
_SENTENCE = (
    "I can see why that stays with you, and I am glad that you told me about it. "
    "What would help you most right now?"
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_MOST_TRIED = 5_000
_NUMBERS = ("34", "50", "18", "5", "1", "100", "0")
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]+)[\"“”«»]")


def mixed(count: int, seed: int) -> list[Behaviour]:
    """So many behaviours in the shares of an ordinary crowd, the same for the same seed."""
    total = sum(_SHARES.values())
    crowd: list[Behaviour] = []
    for behaviour, share in _SHARES.items():
        crowd += [behaviour] * (count * share // total)
    crowd += ["careful"] * (count - len(crowd))
    random.Random(f"crowd {seed}").shuffle(crowd)
    return crowd


@dataclass
class Notes:
    """What raters have found out about comprehension checks, shared by the crowd.

    Otherwise every one of them would have to guess again, and few would pass.
    """

    passed: dict[str, dict[str, str]] = field(default_factory=dict)
    """By block, the answers with which someone passed."""
    failed: dict[str, list[tuple[dict[str, str], int | None]]] = field(default_factory=dict)
    """By block, answers with which someone did not, and how many of them were wrong if known."""

    def may_be_right(self, block: str, answers: dict[str, str]) -> bool:
        """Whether all that was tried before speaks for these answers, or not against them."""
        for tried, wrong in self.failed.get(block, []):
            differ = sum(tried[name] != answers[name] for name in tried)
            if differ == 0 or (wrong and differ != wrong):
                return False
        return True


@dataclass
class Mind:
    """One simulated rater."""

    behaviour: Behaviour
    chance: random.Random
    notes: Notes
    read: set[str] = field(default_factory=set)
    """Words of the pages seen so far in this block."""
    side: float = 0.0
    """Where on a row of options someone puts every cross who does not read."""

    def __post_init__(self) -> None:
        self.side = self.chance.random()

    def answers(self, page: ReadPage) -> dict[str, str]:
        """What the rater puts into the form."""
        if self.behaviour in ("fast", "straightliner"):
            chosen = {name: self._careless(question) for name, question in page.asked.items()}
        else:
            chosen = {name: self._careful(page, question) for name, question in page.asked.items()}
            if "/check/" in page.step:
                chosen = self._tried(page, chosen)
        chosen |= self._grouped(page)
        block_type = block_types().get(page.page)
        needed = block_type.bot_answers(page) if block_type else {}
        return chosen | {f"answer-{name}": value for name, value in needed.items()}

    def _grouped(self, page: ReadPage) -> dict[str, str]:
        """The parts of answers that depend on each other: boxes to tick, and places."""
        chosen: dict[str, str] = {}
        parts = [item for item in page.asked.values() if item.kind in ("tick", "rank")]
        for _, group in itertools.groupby(parts, key=lambda item: item.group):
            members = list(group)
            if members[0].kind == "rank":
                places = list(range(1, len(members) + 1))
                if self.behaviour != "straightliner":
                    self.chance.shuffle(places)
                chosen |= {
                    member.name: str(place) for member, place in zip(members, places, strict=True)
                }
            else:
                # One more than before, where that was not enough.
                more = self.chance.choice(
                    [member for member in members if not member.value] or members
                )
                chosen |= {
                    member.name: member.options[0][0] if member is more or member.value else ""
                    for member in members
                }
        return chosen

    def _careless(self, asked: Asked) -> str:
        if asked.kind != "choice":
            return self._written(asked)
        options = [value for value, _ in asked.options if value]
        if self.behaviour == "straightliner":
            return options[int(self.side * len(options))]
        return self.chance.choice(options)

    def _careful(self, page: ReadPage, asked: Asked) -> str:
        if asked.kind != "choice":
            return self._written(asked)
        instructed = _instructed_answer(asked)
        if instructed is not None:
            return instructed
        if "/check/" in page.step:
            return _likest(asked, words_of(page.words) | self.read)
        return self.chance.choice([value for value, _ in asked.options if value])

    def _tried(self, page: ReadPage, likely: dict[str, str]) -> dict[str, str]:
        """Of the answers to a check that may still be right, those nearest to the likely ones."""
        block = block_of(page.step)
        if block in self.notes.passed:
            return self.notes.passed[block]
        asked = list(page.asked.values())
        every = itertools.product(*([value for value, _ in item.options] for item in asked))
        names = [item.name for item in asked]
        some = (
            dict(zip(names, item, strict=True)) for item in itertools.islice(every, _MOST_TRIED)
        )
        left = [item for item in some if self.notes.may_be_right(block, item)]
        if not left:
            return {item.name: self.chance.choice(item.options)[0] for item in asked}
        return max(left, key=lambda item: sum(item[name] == likely[name] for name in names))

    def _written(self, asked: Asked) -> str:
        if asked.kind in ("tick", "rank"):
            return ""
        if asked.bounds is not None:
            least, most, step = asked.bounds
            side = self.side if self.behaviour == "straightliner" else self.chance.random()
            return str(least + step * round(side * (most - least) / step))
        if asked.kind == "number":
            return _NUMBERS[0]
        if asked.kind == "line":
            return "Somewhere" if asked.required or self.chance.random() < 0.5 else ""
        if not asked.required and self.behaviour != "careful":
            return ""
        return _SENTENCE

    def another_number(self, tried: Sequence[str]) -> str:
        """A number that has not been refused yet."""
        return next((item for item in _NUMBERS if item not in tried), _NUMBERS[0])


def _instructed_answer(item: Asked) -> str | None:
    """The option that the question itself says to choose."""
    for quoted in _QUOTED.findall(item.label):
        for value, label in item.options:
            if label.casefold() == quoted.strip().strip(".,").casefold():
                return value
    asked = item.label.casefold()
    if "last" in asked and "option" in asked:
        return item.options[-1][0]
    for number, word in enumerate(_ORDINALS[: len(item.options)]):
        if f"the {word}" in asked and "choose" in asked:
            return item.options[number][0]
    return None


def _likest(asked: Asked, read: set[str]) -> str:
    """The option most of whose words were read before."""

    def share(option: tuple[str, str]) -> float:
        words = words_of(option[1])
        return len(words & read) / len(words) if words else 0.0

    return max(asked.options, key=share)[0]


def words_of(text: str) -> set[str]:
    """Its words, each once."""
    return {item.casefold() for item in _WORD.findall(text)}
