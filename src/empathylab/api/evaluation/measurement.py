"""What `evaluate` does without a study: ask the models, let a judge score the replies, conclude."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from empathylab.api.evaluation.gates import GateOptions
from empathylab.api.progress import Reporter
from empathylab.api.run_options import Mode, PartnerOptions, RunOptions, require_at_least
from empathylab.api.workspace import Workspace

if TYPE_CHECKING:
    from empathylab.analysis.scores import ScoresResult
    from empathylab.analysis.scores.gates import Conditions, Measured
    from empathylab.api.evaluation.result import Evaluation
    from empathylab.api.sessions import Sessions
    from empathylab.models import Model
    from empathylab.report import LabOverview
    from empathylab.runs import Job, Plan, Tally
    from empathylab.store import Lab

SELF = "self"
"""As `--judge`: every model scores its own replies."""


@dataclasses.dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Who scores the replies."""

    name: str | None = None
    base_url: str | None = None
    planted: int | None = None
    """To how many situations planted replies are scored; all where none is given."""
    api_key_env: str | None = None

    def __post_init__(self) -> None:
        require_at_least(2, planted=self.planted)


@dataclasses.dataclass(frozen=True, slots=True)
class Combination:
    """One way of asking a model."""

    situations: int = 3
    """To imagine before a scale, for each emotion."""
    mode: Mode = "structured"
    scale: str = "panas"
    temperature: float | None = None
    seed: int = 1
    template: str | None = None
    """Of replies: an id or a file; the usual one where none is given."""
    language: str | None = None
    """Of prompts, situations and the scale; English where none is given."""
    replies: int = 1
    """Situations to reply to, for each emotion."""

    def __post_init__(self) -> None:
        require_at_least(1, situations=self.situations, replies=self.replies)

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
            dialogues.first_per_group(self.replies),
            temperature=0.7 if self.temperature is None else self.temperature,
            seed=self.seed,
            template=in_language(named or usual_template(dialogues), dialogues.language),
        )
        return plan_responding(lab, model, responding)


Asked = tuple["Model", Sequence[Combination], RunOptions]
"""A model, the ways of asking it, and its options."""


@dataclasses.dataclass(frozen=True, slots=True)
class Evaluating:
    """An evaluation under way: the lab, who is asked, who scores, and what is demanded."""

    workspace: Workspace
    asked: Sequence[Asked]
    judge: JudgeOptions
    gates: GateOptions
    options: RunOptions
    judges: Mapping[str, Model]
    """By respondent, the model that scores its replies."""
    name: str | None = None
    """For the run of replies, if it is complete and passes all gates."""

    def carried_out(self) -> Evaluation:
        """Measures the models; what a gate or a judge needs is checked before anything is asked."""
        from empathylab.analysis import overview
        from empathylab.analysis.scores.gates import check_gates
        from empathylab.api.evaluation.result import Evaluation
        from empathylab.report import write_report

        lab = self.workspace.store(create=True)
        conditions = self.gates.conditions(lab, judged=bool(self.judges))
        self._say_missing_wording(lab)
        jobs = [
            options.job(model, model_plans(lab, model.name, ways))
            for model, ways, options in self.asked
        ]
        if self.name is not None:
            _require_one_run(self.name, jobs)
        sessions = self._run(jobs)  # a judge scores all replies, so all must be there
        tallies = sessions.tallies
        judging = self._run(self._judge_jobs(lab, tallies, conditions))
        data = reported = overview.from_lab(lab)
        own = {tally.run for tally in tallies if tally.run is not None}
        if not own <= {run.run for run in data.runs}:
            # The report keeps the runs it shows; the summary is of what was asked just now.
            data = overview.from_lab(lab, first=own)
        scores = {
            respondent: _scores(lab, respondent, model.name, tallies, conditions, data)
            for respondent, model in self.judges.items()
        }
        measured = _measured(lab, tallies)
        gates = check_gates(conditions, measured, scores)
        comparisons = tuple(one for result in scores.values() for one in result.comparisons)
        reported = dataclasses.replace(reported, gates=gates, comparisons=comparisons)
        evaluation = Evaluation(
            sessions=sessions,
            judging=judging,
            overview=data,
            report=write_report(reported, lab.reports),
            measured=measured,
            scores=scores,
            gates=gates,
        )
        if self.name is not None:
            self.workspace.reporter.say(_named(lab, self.name, evaluation))
        return evaluation

    def _say_missing_wording(self, lab: Lab) -> None:
        """Says which scales cannot be administered in the language, each once."""
        ways = [way for _, ways, _ in self.asked for way in ways]
        reasons = (way.missing_wording(lab) for way in ways)
        for reason in dict.fromkeys(filter(None, reasons)):
            self.workspace.reporter.say(f"Only replies are measured: {reason}")

    def _run(self, jobs: Sequence[Job]) -> Sessions:
        """What became of the jobs; an error where other shards have not answered all of them."""
        from empathylab.api.sessions import Sessions

        sessions = self.workspace.run(jobs, self.options) if jobs else Sessions((), self.options)
        if self.options.shard is not None:
            sessions.require_complete()
        return sessions

    def _judge_jobs(self, lab: Lab, tallies: Sequence[Tally], conditions: Conditions) -> list[Job]:
        """Every judge scores the planted replies, then those of the models and of the baseline."""
        from empathylab.judging.asking import Asking
        from empathylab.judging.scoring import (
            plan_planted,
            plan_scoring,
            planted_sample,
            scoring_source,
        )
        from empathylab.store.judged_responses import run_responses

        asking = Asking(seed=self.options.seed)
        jobs = []
        for judge in {id(model): model for model in self.judges.values()}.values():
            mine = {name for name, model in self.judges.items() if model is judge}
            runs = [
                tally.run
                for tally in tallies
                if tally.protocol == "respond" and tally.model in mine
            ]
            if conditions.baseline is not None:
                runs.append(conditions.baseline)
            replies = {
                number: run_responses(lab, number)
                for number in dict.fromkeys(runs)
                if number is not None
            }
            plans = [plan_planted(asking, planted_sample(self.judge.planted))]
            plans += [
                plan_scoring(run_replies, scoring_source(number), asking)
                for number, run_replies in replies.items()
                if run_replies
            ]
            jobs.append(self.options.job(judge, plans))
        return jobs


def open_judges(
    judge: JudgeOptions,
    models: Sequence[str | Model],
    asked: Sequence[Asked],
    options: RunOptions,
    reporter: Reporter,
    *,
    need_keys: bool = True,
) -> dict[str, Model]:
    """By respondent, the model that scores its replies; `models` are those asked, as named."""
    if judge.name is None:
        return {}
    if judge.name == SELF:
        reporter.say(
            "Warning: each model scores its own replies. Models tend to prefer their own; name "
            "another model with --judge to rely on the scores."
        )
        own = [
            options.open_models([named], need_keys=need_keys)[0]
            for named, (_, _, options) in zip(models, asked, strict=True)
        ]
        return {model.name: model for model in own}
    names = [model if isinstance(model, str) else model.name for model in models]
    partner = PartnerOptions(judge.base_url, judge.api_key_env)
    return dict.fromkeys(
        names, options.open_partner(judge.name, partner, names, need_key=need_keys)
    )


def _require_one_run(name: str, jobs: Sequence[Job]) -> None:
    """Refuses a name that several runs of replies would share."""
    from empathylab.errors import InputError
    from empathylab.store.run_labels import require_run_name

    require_run_name(name)
    count = sum(plan.protocol == "respond" for job in jobs for plan in job.plans)
    if count != 1:
        raise InputError(
            f"only one run can have a name, and this evaluation has {count} runs of replies",
            where="--name",
            got=name,
            remedy="Evaluate one model in one way, or leave out --name.",
        )


def _named(lab: Lab, name: str, evaluation: Evaluation) -> str:
    """Names the run of replies if nothing is missing and all gates passed; says what was done."""
    from empathylab.store.run_labels import name_run

    run = next((run for item in evaluation.measured for run in item.runs), None)
    if run is None or not evaluation.complete:
        return f"Answers are missing, so no run was named {name}."
    if not evaluation.passed:
        return f"A condition failed, so run {run} was not named {name}."
    name_run(lab, str(run), name, move=True)
    return f"Run {run} is now named {name}."


def model_plans(lab: Lab, model: str, combinations: Sequence[Combination]) -> list[Plan]:
    """The plans of all combinations; what two of them share, such as the replies, comes once."""
    plans = [plan for way in combinations for plan in way.plans(lab, model)]
    return list({repr((plan.protocol, plan.settings)): plan for plan in plans}.values())


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
        baseline_name=conditions.baseline_name,
        margin=conditions.no_worse_than,
        validated=data.judges,
    )


def _measured(lab: Lab, tallies: Sequence[Tally]) -> tuple[Measured, ...]:
    """By respondent, how many requests got a usable answer; retries count as one request."""
    from empathylab.analysis.scores.gates import Measured
    from empathylab.store.queries import usable_requests

    measured = []
    for name in dict.fromkeys(tally.model for tally in tallies):
        mine = [tally for tally in tallies if tally.model == name]
        runs = [tally.run for tally in mine if tally.run is not None]
        requests, usable = usable_requests(lab, runs)
        replies = [tally.run for tally in mine if tally.protocol == "respond"]
        measured.append(Measured(name, tuple(filter(None, replies)), requests, usable))
    return tuple(measured)
