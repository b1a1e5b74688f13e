"""What `evaluate` does without a study: ask the models, let a judge score the replies, conclude."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from empathylab.cli.evaluate.gate_options import GateOptions
from empathylab.cli.options import RunOptions

if TYPE_CHECKING:
    from empathylab.analysis.scores import ScoresResult
    from empathylab.analysis.scores.gates import Conditions, Gate, Measured
    from empathylab.models import Model, Prices
    from empathylab.report import LabOverview
    from empathylab.runs import Job, Plan, Tally
    from empathylab.store import Lab

Mode = Literal["structured", "free", "logprob"]

SELF = "self"
"""As `--judge`: every model scores its own replies."""


@dataclasses.dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Who scores the replies."""

    name: str | None = None
    base_url: str | None = None
    planted: int | None = None
    """To how many situations planted replies are scored; all where none is given."""


@dataclasses.dataclass(frozen=True, slots=True)
class Combination:
    """One way of asking a model."""

    situations: int = 3
    """For each emotion."""
    mode: Mode = "structured"
    scale: str = "panas"
    temperature: float | None = None
    seed: int = 1
    template: str | None = None
    """Of replies: an id or a file; the usual one where none is given."""
    language: str | None = None
    """Of prompts, situations and the scale; English where none is given."""

    def plans(self, lab: Lab, model: str) -> list[Plan]:
        """A scale before and after situations, where it has its wording, and replies to people."""
        return [*self._appraisal(lab, model), self._replies(lab, model)]

    def missing_wording(self, lab: Lab) -> str | None:
        """Why no scale is administered; None if one is."""
        from empathylab.errors import InputError
        from empathylab.protocols.translations import scale_in_language

        if self.language is None:
            return None
        try:
            scale_in_language(lab, self.scale, self.language)
        except InputError as error:
            return str(error)
        return None

    def _appraisal(self, lab: Lab, model: str) -> list[Plan]:
        from empathylab.protocols import Appraisal, plan_appraisal
        from empathylab.protocols.translations import (
            questionnaire_in_language,
            scale_in_language,
            set_in_language,
        )
        from empathylab.store import lab_situation_set

        if self.missing_wording(lab):
            return []
        imagined = lab_situation_set(lab, set_in_language(lab, "appraisal", self.language))
        appraisal = Appraisal(
            scale_in_language(lab, self.scale, self.language),
            imagined,
            imagined.first_per_group(self.situations),
            mode=self.mode,
            temperature=0.0 if self.temperature is None else self.temperature,
            seed=self.seed,
            template=questionnaire_in_language(self.language),
        )
        return [plan_appraisal(lab, model, appraisal)]

    def _replies(self, lab: Lab, model: str) -> Plan:
        from empathylab.protocols import (
            Responding,
            plan_responding,
            reply_template,
            usual_template,
        )
        from empathylab.protocols.reply_templates import in_language
        from empathylab.protocols.translations import set_in_language
        from empathylab.store import lab_situation_set

        dialogues = lab_situation_set(lab, set_in_language(lab, "dialogues", self.language))
        named = None if self.template is None else reply_template(self.template)
        responding = Responding(
            dialogues,
            dialogues.first_per_group(1),
            temperature=0.7 if self.temperature is None else self.temperature,
            seed=self.seed,
            template=in_language(named or usual_template(dialogues), dialogues.language),
        )
        return plan_responding(lab, model, responding)


@dataclasses.dataclass(frozen=True, slots=True)
class Evaluated:
    """All that an evaluation found."""

    tallies: list[Tally]
    """Of the models that were measured."""
    judging: list[Tally]
    data: LabOverview
    report: Path
    measured: tuple[Measured, ...]
    scores: Mapping[str, ScoresResult]
    """By respondent, where a judge scored its replies."""
    gates: tuple[Gate, ...]

    @property
    def failed(self) -> tuple[Gate, ...]:
        return tuple(gate for gate in self.gates if not gate.passed)


def evaluate_models(
    asked: Sequence[tuple[Model, Sequence[Combination], RunOptions]],
    judge: JudgeOptions,
    gates: GateOptions,
    options: RunOptions,
) -> Evaluated:
    """Measures the models; what a gate or a judge needs is checked before anything is asked."""
    from empathylab.analysis import overview
    from empathylab.analysis.scores.gates import check_gates
    from empathylab.report import write_report
    from empathylab.store import Lab

    judges = _judges(judge, [model.name for model, _, _ in asked], options)
    prices = options.price_table()
    with Lab.open(options.lab) as lab:
        conditions = gates.conditions(lab)
        _say_missing_wording(lab, [way for _, ways, _ in asked for way in ways])
        tallies = _carry_out(lab, [_job(lab, *one) for one in asked], prices)
        judging = _ask_judges(lab, judges, tallies, conditions, judge, options, prices)
        data = overview.from_lab(lab)
        path = write_report(data, lab.reports)
        own = {tally.run for tally in tallies if tally.run is not None}
        if not own <= {run.run for run in data.runs}:
            # The report keeps the runs it shows; the summary is of what was asked just now.
            data = overview.from_lab(lab, first=own)
        scores = {
            respondent: _scores(lab, respondent, model.name, tallies, conditions, data)
            for respondent, model in judges.items()
        }
        measured = _measured(lab, tallies)
    found = check_gates(conditions, measured, scores)
    return Evaluated(tallies, judging, data, path, measured, scores, found)


def _say_missing_wording(lab: Lab, ways: Sequence[Combination]) -> None:
    """Says which scales cannot be administered in the language, each once."""
    for reason in dict.fromkeys(filter(None, (way.missing_wording(lab) for way in ways))):
        sys.stderr.write(f"Only replies are measured: {reason}\n")


def conclude(found: Evaluated, options: RunOptions) -> None:
    """Says which conditions failed and what is missing, and ends with the exit code that fits."""
    from empathylab.cli.model_runs import conclude as conclude_runs

    for gate in found.failed:
        sys.stderr.write(f"{gate}\n")
    conclude_runs([*found.tallies, *found.judging], options)
    if found.failed:
        raise typer.Exit(1)


def model_plans(lab: Lab, model: str, combinations: Sequence[Combination]) -> list[Plan]:
    """The plans of all combinations; what two of them share, such as the replies, comes once."""
    plans = [plan for one in combinations for plan in one.plans(lab, model)]
    return list({repr((plan.protocol, plan.settings)): plan for plan in plans}.values())


def _job(lab: Lab, model: Model, combinations: Sequence[Combination], options: RunOptions) -> Job:
    return _with_options(model, model_plans(lab, model.name, combinations), options)


def _with_options(model: Model, plans: Sequence[Plan], options: RunOptions) -> Job:
    from empathylab.runs import Job

    return Job(
        model,
        plans,
        limits=options.limits(),
        fresh=options.fresh,
        batching=options.batching(),
    )


def _carry_out(lab: Lab, jobs: Sequence[Job], prices: Prices) -> list[Tally]:
    from empathylab.cli.progress import progress
    from empathylab.runs import run

    with progress() as observe:
        return run(lab, jobs, prices=prices, observe=observe)


def _judges(judge: JudgeOptions, names: Sequence[str], options: RunOptions) -> dict[str, Model]:
    """By respondent, the model that scores its replies."""
    from empathylab.models import open_model

    if judge.name is None:
        return {}
    if judge.name == SELF:
        sys.stderr.write(
            "Warning: each model scores its own replies. Models tend to prefer their own; name "
            "another model with --judge to rely on the scores.\n"
        )
        return {model.name: model for model in options.open_models(list(names))}
    providers = {name.partition("/")[0] for name in names}
    own = judge.base_url
    if own is None and judge.name.partition("/")[0] in providers:
        own = options.base_url
    model = open_model(judge.name, base_url=own, api_key_env=options.api_key_env)
    return dict.fromkeys(names, model)


def _ask_judges(
    lab: Lab,
    judges: Mapping[str, Model],
    tallies: Sequence[Tally],
    conditions: Conditions,
    judge: JudgeOptions,
    options: RunOptions,
    prices: Prices,
) -> list[Tally]:
    """Every judge scores the planted replies, then those of the models and of the baseline."""
    from empathylab.judging.asking import Asking
    from empathylab.judging.scoring import plan_planted, plan_scoring, planted_sample
    from empathylab.store.judged_responses import run_responses

    asking = Asking(seed=options.seed)
    jobs = []
    for model in {id(one): one for one in judges.values()}.values():
        mine = {name for name, one in judges.items() if one is model}
        runs = [
            tally.run for tally in tallies if tally.protocol == "respond" and tally.model in mine
        ]
        if conditions.baseline is not None:
            runs.append(conditions.baseline)
        replies = {run: run_responses(lab, run) for run in dict.fromkeys(runs) if run is not None}
        plans = [plan_planted(asking, planted_sample(judge.planted))]
        plans += [
            plan_scoring(found, f"replies of run {run}", asking)
            for run, found in replies.items()
            if found
        ]
        jobs.append(_with_options(model, plans, options))
    return _carry_out(lab, jobs, prices) if jobs else []


def _scores(
    lab: Lab,
    respondent: str,
    judge: str,
    tallies: Sequence[Tally],
    conditions: Conditions,
    data: LabOverview,
) -> ScoresResult:
    from empathylab.analysis.scores import from_lab

    runs = [
        tally.run
        for tally in tallies
        if tally.protocol == "respond" and tally.model == respondent and tally.run is not None
    ]
    return from_lab(
        lab,
        judge,
        runs=runs,
        baseline=conditions.baseline,
        margin=conditions.no_worse_than,
        validated=data.judges,
    )


def _measured(lab: Lab, tallies: Sequence[Tally]) -> tuple[Measured, ...]:
    """By respondent, how many requests got a usable answer; retries count as one request."""
    from empathylab.analysis.scores.gates import Measured
    from empathylab.store.queries import usable_requests

    found = []
    for name in dict.fromkeys(tally.model for tally in tallies):
        mine = [tally for tally in tallies if tally.model == name]
        runs = [tally.run for tally in mine if tally.run is not None]
        requests, usable = usable_requests(lab, runs)
        replies = [tally.run for tally in mine if tally.protocol == "respond"]
        found.append(Measured(name, tuple(one for one in replies if one), requests, usable))
    return tuple(found)
