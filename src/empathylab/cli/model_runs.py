"""What the commands that ask models have in common: run, and say what was measured."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from empathylab.analysis import overview
from empathylab.cli.options import RunOptions
from empathylab.errors import BudgetReached
from empathylab.models import Model
from empathylab.report import LabOverview, write_report
from empathylab.runs import Job, Plan, Tally, run
from empathylab.runs.plans import CUT_OFF
from empathylab.store import Lab

Planner = Callable[[Lab, Model], Sequence[Plan]]


def ask(
    names: list[str], plan: Planner, options: RunOptions, *, report: bool
) -> tuple[list[Tally], LabOverview, Path | None]:
    """Carries out the plans for each model: the tallies, what was measured, and the report."""
    from empathylab.cli.progress import progress

    models = options.open_models(names)
    prices = options.price_table()
    with Lab.open(options.lab) as lab:
        jobs = [
            Job(
                model,
                plan(lab, model),
                limits=options.limits(),
                fresh=options.fresh,
                batching=options.batching(),
            )
            for model in models
        ]
        with progress() as observe:
            tallies = run(lab, jobs, prices=prices, observe=observe)
        path = write_report(overview.from_lab(lab), lab.reports) if report else None
        own = [tally.run for tally in tallies if tally.run is not None]
        return tallies, overview.of_runs(lab, own), path


def conclude(tallies: list[Tally], options: RunOptions) -> None:
    """Says what is missing, and ends with the exit code that fits."""
    for note in _notes(tallies):
        sys.stderr.write(f"{note}\n")
    capped = [tally for tally in tallies if tally.stopped == "cap"]
    if capped:
        missing = sum(tally.missing for tally in tallies)
        raise BudgetReached(
            f"the cap stopped the run with {missing} requests to go",
            where="--max-cost" if options.max_cost is not None else "--max-total-tokens",
            got=options.max_cost if options.max_cost is not None else options.max_total_tokens,
            remedy="Answers so far are kept. Run the same command with a higher cap to resume.",
        )
    missing = sum(tally.missing for tally in tallies)
    if missing:
        sys.stderr.write(
            f"{missing} requests got no answer: {_kinds(tallies)}. "
            "Run the same command again to ask them again.\n"
        )
        raise typer.Exit(1)


def _notes(tallies: list[Tally]) -> list[str]:
    """What the settings had to do with the answers."""
    adjusted = {tally.model: tally.adjusted for tally in tallies if tally.adjusted}
    notes = [
        f"{model} refused settings, so the requests were changed: {changes}."
        for model, changes in adjusted.items()
    ]
    cut_off = sum(tally.outcomes[CUT_OFF] for tally in tallies)
    if cut_off:
        notes.append(
            f"{cut_off} answers were cut off while the model was reasoning. "
            "Set --max-tokens higher, or --reasoning-effort low."
        )
    return notes


def _kinds(tallies: list[Tally]) -> str:
    """How many requests failed in which way, each with what the first of them was told."""
    counts: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for tally in tallies:
        counts += tally.failures
        examples = tally.examples | examples
    return ", ".join(
        f"{count} × {kind}" + (f" ({examples[kind]})" if kind in examples else "")
        for kind, count in sorted(counts.items())
    )
