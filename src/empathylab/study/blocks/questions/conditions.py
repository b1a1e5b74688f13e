"""Conditions on earlier answers, such as `age >= 60 and country in ["Germany", "Austria"]`.

A condition compares answers with constants and joins comparisons by `and`, `or`, `not` and
parentheses. It can call nothing and read nothing but answers. A comparison with a question that was
not asked or not answered is false.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator

from empathylab.file_models import Words, wrong
from empathylab.study.blocks.questions.interface import Constant

Values = Mapping[str, Any]
"""Stored answers by the name of the question."""

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>"[^"]*"|'[^']*')
    | (?P<number>-?\d+(?:\.\d+)?(?![\w-]))
    | (?P<name>[a-z0-9]+(?:[-_][a-z0-9]+)*)
    | (?P<sign>==|!=|<=|>=|<|>|[()\[\],])
    )""",
    re.VERBOSE,
)
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "contains": operator.contains,
}
_WORDS = ("and", "or", "not", "in", "contains")
_MOST_CHARACTERS = 1000
_MOST_LEVELS = 20
_EXAMPLE = 'Write it as in `age >= 60 and country in ["Germany", "Austria"]`.'


@dataclass(frozen=True, slots=True)
class Comparison:
    """An answer compared with a constant."""

    name: str
    operator: str
    constant: Constant

    def holds(self, answers: Values) -> bool:
        """Whether the answer meets it."""
        given = answers.get(self.name)
        if given is None:
            return False
        if isinstance(self.constant, str) == isinstance(given, int | float):
            return False
        return _COMPARISONS[self.operator](given, self.constant)

    def comparisons(self) -> Iterator[Comparison]:
        """Itself."""
        yield self


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions joined by `and`, `or` or `not`."""

    word: str
    parts: tuple[Condition, ...]

    def holds(self, answers: Values) -> bool:
        """Whether all of them hold, or any, or none."""
        results = (part.holds(answers) for part in self.parts)
        if self.word == "and":
            return all(results)
        return any(results) if self.word == "or" else not any(results)

    def comparisons(self) -> Iterator[Comparison]:
        """The comparisons in them."""
        for part in self.parts:
            yield from part.comparisons()


Condition = Comparison | Joined


@functools.lru_cache(maxsize=512)
def condition(text: str) -> Condition:
    """The condition that is written there; raises ValueError with what is wrong."""
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"at most {_MOST_CHARACTERS} characters")
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._levels = 0

    def whole(self) -> Condition:
        parsed = self._any()
        if self._tokens:
            raise ValueError(f"an 'and' or 'or' before {self._tokens[0][1]!r}")
        return parsed

    def _any(self) -> Condition:
        return self._joined("or", lambda: self._joined("and", self._single))

    def _joined(self, word: str, part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while self._next_is("name", word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def _single(self) -> Condition:
        self._levels += 1
        if self._levels > _MOST_LEVELS:
            raise ValueError(f"at most {_MOST_LEVELS} comparisons")
        if self._next_is("name", "not"):
            return Joined("not", (self._single(),))
        if self._next_is("sign", "("):
            inside = self._any()
            self._take("sign", "a closing parenthesis", ")")
            return inside
        return self._comparison()

    def _comparison(self) -> Condition:
        name = self._take("name", "the name of a question")
        if name in _WORDS:
            raise ValueError(f"the name of a question before {name!r}")
        if self._next_is("name", "in"):
            return Joined("or", tuple(Comparison(name, "==", item) for item in self._list()))
        if self._next_is("name", "contains"):
            return Comparison(name, "contains", self._constant())
        sign = self._take("sign", f"a sign such as == or >= after {name!r}")
        if sign not in _COMPARISONS:
            raise ValueError(f"a sign such as == or >= after {name!r}")
        return Comparison(name, sign, self._constant())

    def _list(self) -> Iterator[Constant]:
        self._take("sign", "a list in brackets after 'in'", "[")
        yield self._constant()
        while not self._next_is("sign", "]"):
            self._take("sign", "a comma or a closing bracket", ",")
            yield self._constant()

    def _constant(self) -> Constant:
        kind, value = self._tokens.pop(0) if self._tokens else ("", "")
        if kind == "text":
            return value[1:-1]
        if kind == "number":
            return float(value)
        raise ValueError("a number, or a text in quotation marks, after each sign")

    def _next_is(self, kind: str, value: str) -> bool:
        if self._tokens and self._tokens[0] == (kind, value):
            del self._tokens[0]
            return True
        return False

    def _take(self, kind: str, what: str, value: str | None = None) -> str:
        token = self._tokens.pop(0) if self._tokens else ("", "")
        if token[0] != kind or value not in (None, token[1]):
            raise ValueError(what)
        return token[1]


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    while text[place:].strip():
        match = _TOKEN.match(text, place)
        if match is None:
            raise ValueError(f"no {text[place:].strip()[0]!r}")
        place = match.end()
        yield str(match.lastgroup), match[str(match.lastgroup)]


def _readable(text: str) -> str:
    try:
        condition(text)
    except ValueError as error:
        raise wrong(f"a condition with {error}", _EXAMPLE) from None
    return text


ConditionText = Annotated[Words, AfterValidator(_readable)]
"""A condition as the study file holds it."""
