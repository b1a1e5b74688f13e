"""Judges that are functions: a plugin's classifier rates replies as a judge model does."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from empathylab.errors import InputError, ModelError
from empathylab.judging.instruments import JudgedDimension
from empathylab.judging.single import JudgingInterpreter
from empathylab.models import Message, Model, Parameters, ScriptedModel
from empathylab.plugins import plugin_part, plugins, require_function
from empathylab.runs import Plan
from empathylab.situations import Situation

RateReply = Callable[[Situation, str, JudgedDimension], float]
"""What a package offers as `empathylab.judges`: the value of one of the dimension's points."""


def open_judges(
    judges: Sequence[str | Model],
    plan: Plan,
    open_models: Callable[[Sequence[str | Model]], list[Model]],
) -> list[Model]:
    """The judges of those names, each once: a plugin's function, or else a model."""
    named = [judge for judge in dict.fromkeys(judges) if judge in plugins("judges")]
    others = [judge for judge in judges if judge not in named]
    functions = [_function_judge(str(name), plan) for name in named]
    return [*functions, *(open_models(others) if others or not named else [])]


def judge_plugin(name: str, part: RateReply) -> RateReply:
    """The plugin's function that rates; an error where it cannot be one."""
    if "/" in name:
        raise ValueError("a judge's name must not contain a slash; only the names of models do")
    require_function(name, part)
    return part


def _function_judge(name: str, plan: Plan) -> Model:
    if not isinstance(plan.interpreter, JudgingInterpreter):
        raise InputError(
            "the judge of a plugin rates one reply at a time", got=name, remedy="Leave out --pairs."
        )
    rate = plugin_part("judges", name, judge_plugin)
    planned = plan.interpreter.planned
    shown = {request.messages: planned[request.key] for request in plan.requests}

    def answer(messages: tuple[Message, ...], parameters: Parameters) -> str | Exception:
        rated = shown[messages]
        chosen = {}
        for dimension in rated.dimensions:
            try:
                value = rate(rated.reply.situation, rated.reply.text, dimension)
            except Exception as error:  # noqa: BLE001 - anything can go wrong in a plugin
                return ModelError(f"{name} failed: {type(error).__name__}: {error}")
            known = dict(zip(dimension.values, dimension.labels, strict=True))
            chosen[dimension.name] = known.get(value, str(value))
        return json.dumps(chosen)

    plugin = plugins("judges")[name]
    # Another version of the package may rate otherwise, so it does not reuse these ratings.
    identity = f"{name} ({plugin.package} {plugin.version})"
    return ScriptedModel(answer, name=name, identity=identity, concurrency=1)
