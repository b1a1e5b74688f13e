"""`empathylab evaluate --dry-run`: how many requests and tokens, and what they cost at most."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from empathylab.api.evaluation.gates import GateOptions
from empathylab.api.evaluation.measurement import (
    Asked,
    JudgeOptions,
    model_plans,
    open_judges,
)
from empathylab.api.progress import Reporter
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
    gates: GateOptions,
    options: RunOptions,
    *,
    as_json: bool,
) -> None:
    """One row for each model and for the judge; nothing is asked and no lab is made.

    What the evaluation itself would refuse is refused here, too, except for missing keys.
    """
    from empathylab.store import Lab, has_lab

    if has_lab(folder):
        with Lab.open(folder, create=False) as lab:
            rows = _rows(lab, asked, judge, gates, options)
    else:
        with tempfile.TemporaryDirectory() as empty, Lab.open(Path(empty)) as lab:
            rows = _rows(lab, asked, judge, gates, options)
    if not as_json and len(rows) > 1:
        rows = [*rows, _total(rows)]
    show_rows(rows, "requests", as_json=as_json)
    if not as_json:
        typer.echo("Costs are in dollars; – where no price is known (see --prices).")


def _total(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The sums of the rows; no cost where that of a row is not known."""
    counts = ("requests", "prompt_tokens", "most_completion_tokens")
    costs = [row["most_cost"] for row in rows]
    return {
        "model": "total",
        "role": "",
        **{name: sum(row[name] for row in rows) for name in counts},
        "most_cost": None if None in costs else round(sum(costs), 4),
    }


def _rows(
    lab: Lab,
    asked: Sequence[Asked],
    judge: JudgeOptions,
    gates: GateOptions,
    options: RunOptions,
) -> list[dict[str, Any]]:
    from empathylab.judging.asking import Asking
    from empathylab.judging.rubric import rubric
    from empathylab.judging.scoring import plan_planted, planted_sample
    from empathylab.runs import require_price
    from empathylab.store.judgements import replied_situations

    prices = options.price_table()
    baseline = gates.conditions(lab, judged=judge.name is not None).baseline
    names = [model.name for model, _, _ in asked]
    judges = open_judges(judge, names, asked, options, Reporter(quiet=True), need_keys=False)
    rows, replies = [], {}
    for model, combinations, own_options in asked:
        require_price(own_options.max_cost, model.name, prices)
        plans = model_plans(lab, model.name, combinations)
        requests = [request for plan in plans for request in plan.requests]
        rows.append(_row(model, "measured", requests, prices.of(model.name)))
        replies[model.name] = sum(len(p.requests) for p in plans if p.protocol == "respond")
    if judge.name is None:
        return rows
    planted = list(plan_planted(Asking(), planted_sample(judge.planted)).requests)
    again = 0 if baseline is None else replied_situations(lab, [baseline]).height
    for model in {opened.name: opened for opened in judges.values()}.values():
        require_price(options.max_cost, model.name, prices)
        scored = [name for name, opened in judges.items() if opened.name == model.name]
        count = again + sum(replies[name] for name in scored)
        # Replies are not known yet; they are taken to be as long as the planted ones.
        whole = len(rubric().names) * count
        times = whole // len(planted) + 1
        requests = planted + (planted * times)[:whole]
        rows.append(_row(model, "judge", requests, prices.of(model.name)))
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
