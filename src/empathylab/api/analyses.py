"""The analyses of a lab or a table, one method for each topic, with the topic's own options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import polars as pl

from empathylab.analysis import (
    agreement,
    appraisal,
    benchmark,
    conversations,
    drift,
    judges,
    norming,
    pairs,
    preferences,
    ratings,
    recipients,
    scores,
    style,
)
from empathylab.analysis.benchmark import leaderboard_from_lab
from empathylab.api.actor import operator
from empathylab.api.methods import in_python
from empathylab.errors import UnknownName, UserError
from empathylab.frames import accepting_pandas
from empathylab.store import Lab as Store

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


class Topic(Generic[S, P, R]):
    """A topic's function, as a method of the object that holds its first argument."""

    def __init__(self, function: Callable[Concatenate[S, P], R]) -> None:
        self.function = function

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, holder: LabAnalyses | TableAnalyses, _owner: type) -> Callable[P, R]:
        function: Any = accepting_pandas(self.function)
        signature = inspect.signature(self.function)
        extra = {"who": operator("Python")} if "who" in signature.parameters else {}

        @functools.wraps(self.function)
        def method(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                result: R = function(holder.analysed(), *args, **(extra | kwargs))
            except UserError as error:
                raise holder.explained(error) from None
            return result

        hidden = ("who", "progress", "keep", "where")
        kept = [
            parameter for parameter in signature.parameters.values() if parameter.name not in hidden
        ]
        method.__signature__ = signature.replace(parameters=kept[1:])  # type: ignore[attr-defined]
        method.__name__ = self.name
        return method


class LabAnalyses:
    """The topics that a lab's data can be analysed for."""

    def __init__(self, store: Callable[[], Store]) -> None:
        self._store = store

    def analysed(self) -> Store:
        """What the analyses read."""
        return self._store()

    def explained(self, error: UserError) -> UserError:
        """The error in the words of this interface."""
        return in_python(error)

    agreement = Topic(agreement.from_lab)
    appraisal = Topic(appraisal.from_lab)
    benchmark = Topic(benchmark.from_lab)
    changes = Topic(drift.from_lab)
    compare = Topic(pairs.from_lab)
    conversations = Topic(conversations.from_lab)
    judges = Topic(judges.from_lab)
    leaderboard = Topic(leaderboard_from_lab)
    norming = Topic(norming.from_lab)
    preferences = Topic(preferences.from_lab)
    ratings = Topic(ratings.from_lab)
    recipients = Topic(recipients.from_lab)
    scores = Topic(scores.from_lab)
    style = Topic(style.from_lab)


class TableAnalyses:
    """The topics that a table can be analysed for."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def analysed(self) -> pl.DataFrame:
        """What the analyses read."""
        return self._frame

    def explained(self, error: UserError) -> UserError:
        """The error in the words of this interface; of a missing column, how to name it."""
        if isinstance(error, UnknownName) and error.kind == "column":
            remedy = f"Say which column it is: from_table(…, {error.name}=COLUMN)."
            return UnknownName("column", error.name, self._frame.columns, remedy=remedy)
        return in_python(error)

    agreement = Topic(agreement.from_table)
    appraisal = Topic(appraisal.from_table)
    benchmark = Topic(benchmark.from_table)
    compare = Topic(pairs.from_table)
    conversations = Topic(conversations.from_table)
    judges = Topic(judges.from_table)
    preferences = Topic(preferences.from_table)
    ratings = Topic(ratings.from_table)
    recipients = Topic(recipients.from_table)
    scores = Topic(scores.from_table)
    style = Topic(style.from_table)
