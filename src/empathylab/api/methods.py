"""Functions as methods of a lab: forms for `await`, and errors in Python's words."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from empathylab.api.workspace import PYTHON, Workspace
from empathylab.errors import UserError

P = ParamSpec("P")
R = TypeVar("R")
# Options, but not those of a command that the message names.
_OPTION = re.compile(r"(`[^`]*`|empathylab .*?(?:$|\. ))|--([a-z][a-z-]*)")
_OTHER_NAMES = {"set": "situation_set", "lab": "open_lab(FOLDER)", "against": "evaluate_against"}


def awaitable(method: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """The same method for `await`; cancelling it stops the requests, and answers are kept."""

    @functools.wraps(method)
    async def waiting(*args: P.args, **kwargs: P.kwargs) -> R:
        from empathylab.runs.event_loops import in_thread

        return await in_thread(functools.partial(method, *args, **kwargs))

    waiting.__doc__ = f"`{method.__name__}` for `await`."
    return waiting


class HasWorkspace(Protocol):
    """A lab."""

    workspace: Workspace


def method(function: Callable[Concatenate[Workspace, P], R]) -> Callable[Concatenate[Any, P], R]:
    """The function of a workspace as a method of a lab; errors name arguments, not options."""

    @functools.wraps(function)
    def bound(self: HasWorkspace, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(self.workspace, *args, **kwargs)
        except UserError as error:
            if self.workspace.interface == PYTHON:
                raise in_python(error) from None
            raise

    signature = inspect.signature(function)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [own, *list(signature.parameters.values())[1:]]
    bound.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return bound


def in_python(error: UserError) -> UserError:
    """The same error in Python's words."""
    error.where = error.where and python_words(error.where)
    error.what, error.remedy = python_words(error.what), python_words(error.remedy)
    return error


def python_words(text: str) -> str:
    """The text with the names of arguments in place of options: `max_cost` for `--max-cost`."""

    def argument(match: re.Match[str]) -> str:
        name = match[2] and match[2].replace("-", "_")
        return _OTHER_NAMES.get(name, name) if name else match[0]

    return _OPTION.sub(argument, text)
