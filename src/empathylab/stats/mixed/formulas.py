"""Model formulas in the style of lme4: what is rated, what may explain it, who is grouped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from empathylab.errors import InputError

_EXAMPLE = "Write it like 'rating ~ source * valence + (1|rater) + (1|situation)'."


class Variable(NamedTuple):
    """A column as a formula uses it."""

    name: str
    """The column's name in the frame."""
    label: str
    """As the formula writes it: `x` or `C(x)`."""
    categorical: bool
    """Whether `C(…)` asks for levels, whatever the column contains."""


class RandomTerm(NamedTuple):
    """What varies between the levels of a grouping."""

    group: tuple[str, ...]
    """The column, or the columns that name a group together."""
    intercept: bool
    terms: tuple[tuple[Variable, ...], ...]
    """Slopes, as terms of a formula."""
    correlated: bool
    """False for `||`: intercept and slopes vary independently of each other."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A parsed formula."""

    text: str
    response: str
    intercept: bool
    terms: tuple[tuple[Variable, ...], ...]
    """Fixed terms, main effects before interactions, else in the order written."""
    random: tuple[RandomTerm, ...]
    """Random terms, in the order written."""

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The groupings, each once: the column, or the columns that name a group together."""
        return tuple(dict.fromkeys(term.group for term in self.random))

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is used, the response first, each once."""
        fixed = (variable.name for term in self.terms for variable in term)
        slopes = (variable.name for item in self.random for term in item.terms for variable in term)
        grouped = (name for group in self.groups for name in group)
        return tuple(dict.fromkeys([self.response, *fixed, *slopes, *grouped]))


def parse_formula(text: str) -> Formula:
    """The parsed formula; an InputError where it asks for what no model here can do.

    Fixed terms as in R (`a + b`, `a * b`, `a:b`, `- a:b`, `0 +`), `C(x)` for a number that names
    groups, backquotes for names with spaces. Random intercepts `(1|g)`, nested `(1|a/b)` (that is
    `a` and `a:b`), `(1|a:b)`; random slopes `(1 + x|g)`, the same as `(x|g)`, and `(0 + x|g)`.
    With `||` intercept and slopes are uncorrelated, also those of a factor's levels.
    """
    where = f"formula {text!r}"
    pieces = _random_pieces(text)
    plain = text
    for piece in pieces:
        plain = plain.replace(piece.text, f"(1|{piece.group})")
    described = _described(plain, where)
    if described.response is None:
        raise InputError("the formula names no response", where=where, remedy=_EXAMPLE)
    response = described.response.term.components
    if len(response) != 1 or _calls(response[0]):
        raise InputError(
            "the response must be one plain column",
            where=where,
            got=str(described.response.term.name),
            remedy="Compute the column first, then name it.",
        )
    intercept, terms = _terms(described.common_terms, where)
    random: list[RandomTerm] = []
    for piece in pieces:
        random += _random_terms(piece, where)
    return Formula(
        text=text,
        response=str(response[0].name),
        intercept=intercept,
        terms=terms,
        random=tuple(dict.fromkeys(random)),
    )


class _Piece(NamedTuple):
    """A random term as written."""

    text: str
    effects: str
    group: str
    correlated: bool


def _random_pieces(text: str) -> list[_Piece]:
    """Every `(effects | group)` of a formula; brackets within it belong to `C(x)`."""
    pieces, opened, quoted = [], [], False
    for place, character in enumerate(text):
        if character == "`":
            quoted = not quoted
        if quoted:
            continue
        if character == "(":
            opened.append(place)
        elif character == ")" and opened:
            first = opened.pop()
            inside = text[first + 1 : place]
            bars = _bars(inside)
            if bars:
                effects, group = inside[: bars[0]], inside[bars[1] :]
                correlated = bars[1] - bars[0] == 1
                pieces.append(_Piece(text[first : place + 1], effects, group.strip(), correlated))
    return pieces


def _bars(inside: str) -> tuple[int, int] | None:
    """Where the bar that parts effects from group begins and ends."""
    first = inside.find("|")
    if first < 0:
        return None
    return first, first + (2 if inside[first : first + 2] == "||" else 1)


def _random_terms(piece: _Piece, where: str) -> list[RandomTerm]:
    effects = _described(f"response ~ {piece.effects}", where)
    if effects.group_terms:
        raise InputError(
            "a random term contains another", where=where, got=piece.text, remedy=_EXAMPLE
        )
    intercept, terms = _terms(effects.common_terms, where)
    if not intercept and not terms:
        raise InputError(
            "a random term is empty", where=where, got=piece.text, remedy="For example: (1|g)."
        )
    groups = _described(f"response ~ (1|{piece.group})", where).group_terms
    return [
        RandomTerm(
            tuple(_variable(item, where).name for item in getattr(term.factor, "components", [])),
            intercept,
            terms,
            piece.correlated or not terms,
        )
        for term in groups
    ]


def _terms(described: Any, where: str) -> tuple[bool, tuple[tuple[Variable, ...], ...]]:
    """Whether there is an intercept, and the terms, main effects first."""
    fixed = [term for term in described if hasattr(term, "components")]
    written = [[_variable(component, where) for component in term.components] for term in fixed]
    # Within an interaction, R puts first what the formula names first.
    order = list(dict.fromkeys(item for term in written for item in term))
    terms = [tuple(sorted(term, key=order.index)) for term in written]
    return len(fixed) < len(described), tuple(sorted(terms, key=len))


def _described(text: str, where: str) -> Any:
    from formulae import model_description

    try:
        return model_description(text)
    except Exception as problem:
        raise InputError(
            f"the formula cannot be read ({problem})", where=where, remedy=_EXAMPLE
        ) from problem


def _calls(component: Any) -> bool:
    return hasattr(component, "call")


def _variable(component: Any, where: str) -> Variable:
    if not _calls(component):
        if not isinstance(component.name, str):
            raise InputError(
                f"the number {component.name} is not a column", where=where, remedy=_EXAMPLE
            )
        return Variable(component.name, component.name, False)
    call = component.call
    arguments = [getattr(argument, "name", None) for argument in call.args]
    if call.callee != "C" or call.kwargs or len(arguments) != 1 or arguments[0] is None:
        raise InputError(
            "only C(column) is computed inside a formula",
            where=where,
            got=str(component.name),
            remedy="Compute the column first, then name it; choose a reference with `reference`.",
        )
    return Variable(str(arguments[0]), f"C({arguments[0]})", True)
