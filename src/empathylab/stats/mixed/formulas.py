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
    """Whether `C(…)` asks for levels, whatever the column holds."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula taken apart."""

    text: str
    response: str
    intercept: bool
    terms: tuple[tuple[Variable, ...], ...]
    """Fixed terms, main effects before interactions, else in the order written."""
    groups: tuple[tuple[str, ...], ...]
    """Random intercepts: the column, or the columns that name a group together."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is used, the response first, each once."""
        fixed = (variable.name for term in self.terms for variable in term)
        grouped = (name for group in self.groups for name in group)
        return tuple(dict.fromkeys([self.response, *fixed, *grouped]))


def parse_formula(text: str) -> Formula:
    """The formula taken apart; an InputError where it asks for what no model here can do.

    Fixed terms as in R (`a + b`, `a * b`, `a:b`, `- a:b`, `0 +`), `C(x)` for a number that names
    groups, backquotes for names with spaces. Random intercepts only: `(1|g)`, nested `(1|a/b)`
    (that is `a` and `a:b`), `(1|a:b)`.
    """
    where = f"formula {text!r}"
    described = _described(text, where)
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
    fixed = [term for term in described.common_terms if hasattr(term, "components")]
    written = [[_variable(one, where) for one in term.components] for term in fixed]
    # Within an interaction, R puts first what the formula names first.
    order = list(dict.fromkeys(one for term in written for one in term))
    terms = [tuple(sorted(term, key=order.index)) for term in written]
    groups = [_group(term, where) for term in described.group_terms]
    return Formula(
        text=text,
        response=str(response[0].name),
        intercept=len(fixed) < len(described.common_terms),
        terms=tuple(sorted(terms, key=len)),
        groups=tuple(dict.fromkeys(groups)),
    )


def _described(text: str, where: str) -> Any:
    if "||" in text:
        raise InputError(
            "random slopes are not fitted, so '||' has no meaning here",
            where=where,
            remedy="Write (1|g) for a random intercept.",
        )
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
                f"the number {component.name} is no column", where=where, remedy=_EXAMPLE
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


def _group(term: Any, where: str) -> tuple[str, ...]:
    members = getattr(term.factor, "components", [])
    names = tuple(_variable(member, where).name for member in members)
    # Only the intercept has no components of its own.
    if hasattr(term.expr, "components"):
        raise InputError(
            f"random slopes are not fitted: ({term.expr.name}|{':'.join(names)})",
            where=where,
            remedy=f"Use a random intercept: (1|{':'.join(names)}).",
        )
    return names
