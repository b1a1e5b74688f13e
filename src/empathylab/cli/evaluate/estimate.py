"""`empathylab evaluate --dry-run`: how many requests and tokens, and what they cost at most."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from empathylab.api.evaluation.measurement import SELF, Asked, JudgeOptions, model_plans
from empathylab.api.run_options import RunOptions
from empathylab.cli.tables import show_rows

if TYPE_CHECKING:
    from empathylab.models import Model, Price
    from empathylab.runs import Request
    from empathylab.store import Lab


def print_estimate(
    folder: Path,
    asked: Sequence[Asked],
    judge: JudgeOptions,
    options: RunOptions,
    *,
    as_json: bool,
) -> None:
    """One row for each model and for the judge; nothing is asked and no lab is made."""
    from empathylab.store import Lab, has_lab

    if has_lab(folder):
        with Lab.open(folder, create=False) as lab:
            rows = _rows(lab, asked, judge, options)
    else:
        with tempfile.TemporaryDirectory() as empty, Lab.open(Path(empty)) as lab:
            rows = _rows(lab, asked, judge, options)
    show_rows(rows, "requests", as_json=as_json)


def _rows(
    lab: Lab,
    asked: Sequence[Asked],
    judge: JudgeOptions,
    options: RunOptions,
) -> list[dict[str, Any]]:
    from empathylab.judging.asking import Asking
    from empathylab.judging.rubric import rubric
    from empathylab.judging.scoring import plan_planted, planted_sample

    prices = options.price_table()
    rows, replies = [], {}
    for model, combinations, _ in asked:
        plans = model_plans(lab, model.name, combinations)
        requests = [request for plan in plans for request in plan.requests]
        rows.append(_row(model, "measured", requests, prices.of(model.name)))
        replies[model.name] = sum(len(p.requests) for p in plans if p.protocol == "respond")
    if judge.name is None:
        return rows
    planted = list(plan_planted(Asking(), planted_sample(judge.planted)).requests)
    own = judge.name == SELF
    for model, _, _ in asked if own else asked[:1]:
        count = replies[model.name] if own else sum(replies.values())
        name = model.name if own else judge.name
        # Replies are not known yet; they are taken to be as long as the planted ones.
        whole = len(rubric().names) * count
        times = whole // len(planted) + 1
        requests = planted + (planted * times)[:whole]
        rows.append(_row(model, "judge", requests, prices.of(name)) | {"model": name})
    return rows


def _row(
    model: Model, role: str, requests: Sequence[Request], price: Price | None
) -> dict[str, Any]:
    from empathylab.models import Usage

    prompt = sum(request.prompt_tokens for request in requests)
    most = sum(model.output_limit(request.parameters) for request in requests)
    return {
        "model": model.name,
        "role": role,
        "requests": len(requests),
        "prompt_tokens": prompt,
        "most_completion_tokens": most,
        "most_cost": None if price is None else round(price.cost(Usage(prompt, most)), 4),
    }
