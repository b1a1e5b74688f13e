"""Scorers with EmpathyLab's own parser, checks and judges, and its clustered intervals."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import polars as pl
from inspect_ai.model import get_model
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    mean,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from empathylab.export.inspect_logs.layout import carried_in
from empathylab.inspect_tasks.measuring import Measuring
from empathylab.judging import Judging, default_instrument, plan_judging
from empathylab.models.inspect_chats import completion_of, plain_messages
from empathylab.protocols.reply_checks import Expected, check_reply
from empathylab.scales import parse_answer, scale_from_dict, score
from empathylab.stats.conversations import clustered_mean
from empathylab.stats.questionnaires.appraisal import SCORES, scale_changes
from empathylab.store.judged_responses import single_response


@metric
def interval(cluster: str) -> Metric:
    """The 95% interval of the mean, with the scores of a cluster taken as one piece of evidence."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        clusters = [(entry.sample_metadata or {}).get(cluster) for entry in scores]
        found = clustered_mean([entry.score.as_float() for entry in scores], clusters)
        return {"low": found.low, "high": found.high}

    return compute


@metric
def scale_change() -> Metric:
    """Each subscale at baseline, after situations, and the change with its clustered error."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        rows = [row for entry in scores for row in _score_rows(entry)]
        if not rows:
            return {}
        found: dict[str, float] = {}
        for change in scale_changes(pl.DataFrame(rows, schema=SCORES)):
            if change.level == "overall":
                found |= {
                    f"{change.subscale}_baseline": change.default_mean,
                    f"{change.subscale}_evoked": change.mean,
                    f"{change.subscale}_change": change.cluster_delta,
                    f"{change.subscale}_change_stderr": change.error[0],
                }
        return found

    return compute


def _score_rows(entry: SampleScore) -> list[dict[str, Any]]:
    sample = entry.sample_metadata or {}
    value = entry.score.value
    if not isinstance(value, dict) or sample.get("counterpart"):
        return []
    shared = {
        "respondent": "model",
        "scale": sample["scale"],
        "phase": sample["phase"],
        "emotion": sample["emotion"],
        "factor": sample["factor"],
        "situation": None if sample["phase"] == "default" else sample["situation"],
        "subject": None,
        "order_index": sample["order_index"],
    }
    return [
        shared | {"subscale": name, "score": float(number)}
        for name, number in value.items()
        if isinstance(number, int | float) and not math.isnan(number)
    ]


@scorer(metrics=[mean(), stderr(cluster="emotion"), interval("emotion")])
def reply_checks() -> Scorer:
    """1 where the reply passes every check of EmpathyLab, 0 where one fails."""

    async def check(state: TaskState, target: Target) -> Score:
        limits = state.metadata
        completion = completion_of(state.output)
        if completion.refusal or completion.finish_reason == "content_filter":
            return Score(value=0.0, answer=completion.text, explanation="refusal")
        expected = Expected(
            prompt=tuple(message.content for message in plain_messages(state.messages[:-1])),
            least_words=limits["least_words"],
            most_words=limits["most_words"],
            language=limits["language"],
        )
        cut_off = completion.finish_reason == "length"
        verdict = check_reply(completion.text.strip(), expected, cut_off=cut_off)
        reason = "" if verdict.reason is None else f": {verdict.reason}"
        return Score(
            value=float(verdict.outcome == "valid"),
            answer=completion.text.strip(),
            explanation=f"{verdict.outcome}{reason}",
        )

    return check


@scorer(metrics=[scale_change()])
def scale_scores(scale: dict[str, Any], structured: bool = True) -> Scorer:
    """The scores of the scale's subscales; unscored where the answer cannot be read."""
    definition = scale_from_dict(scale)

    async def administer(state: TaskState, target: Target) -> Score:
        completion = completion_of(state.output)
        order = state.metadata["item_order"]
        parsed = parse_answer(completion.text, definition, order, structured=structured)
        if structured and parsed.outcome == "unparseable":
            parsed = parse_answer(completion.text, definition, order)
        if parsed.outcome != "valid":
            reason = f"{parsed.outcome}: {parsed.reason}"
            return Score.unscored(answer=completion.text, explanation=reason)
        found = score(definition, dict(parsed.values))
        return Score(
            value={item.subscale: item.value for item in found if item.value is not None},
            answer=completion.text,
        )

    return administer


@scorer(metrics=[mean(), stderr(cluster="persona"), interval("persona")])
def conversation() -> Scorer:
    """The person's feeling at the end, 0 to 100; unscored where the conversation broke off."""

    async def follow(state: TaskState, target: Target) -> Score:
        found = carried_in(state.metadata)
        rows = [] if found is None else found["records"].get("conversations", [])
        if not rows:
            return Score.unscored(explanation="the sample contains no conversation")
        course = {name: rows[0][name] for name in ("start", "final", "exchanges", "ended_by")}
        if rows[0]["outcome"] != "completed" or rows[0]["final"] is None:
            reason = f"{rows[0]['outcome']}: {rows[0]['reason'] or ''}"
            return Score.unscored(explanation=reason, metadata=course)
        return Score(value=rows[0]["final"], explanation=rows[0]["ended_by"], metadata=course)

    return follow


@scorer(metrics={"*": [mean(), stderr(cluster="emotion")]})
def judge(model: str | None = None, dimensions: Sequence[str] = ("empathy",)) -> Scorer:
    """A judge model's rating on each dimension, asked and read as `empathylab judge` does it.

    The judge is the model named here, or the one with the role `judge`.
    """
    instrument = default_instrument(dimensions)

    async def rate(state: TaskState, target: Target) -> Score:
        found = carried_in(state.metadata)
        replies = [] if found is None else found["records"].get("responses", [])
        measuring = None if found is None else Measuring.live.get(found["source"])
        if not replies or measuring is None:
            return Score.unscored(explanation="the sample contains no reply from this evaluation")
        reply = single_response(measuring.lab, replies[0]["id"])
        if reply is None:
            return Score.unscored(explanation="there is no usable reply to judge")
        plan = plan_judging(Judging(instrument, (reply,), f"set {reply.set}"))
        chat = get_model(role="judge", default=model, required=model is None)
        # One run for all replies that the judge rates here.
        whole = dataclasses.replace(plan, requests=(), settings=_without_replies(plan.settings))
        opened = measuring.open(whole, {None: chat}, name="judge")
        drafts = await measuring.carry_out(opened._replace(plan=plan), plan.requests)
        reading = drafts[-1].reading
        chosen_points = reading.content.answer.chosen
        return Score(
            value={
                dimension.name: dimension.value_of(chosen_points[dimension.name])
                if dimension.name in chosen_points
                else math.nan
                for dimension in instrument.dimensions
            },
            explanation=reading.reason,
            metadata=measuring.records(opened, drafts),
        )

    return rate


def _without_replies(settings: dict[str, Any]) -> dict[str, Any]:
    return settings | {"situation_ids": [], "responses": None}
