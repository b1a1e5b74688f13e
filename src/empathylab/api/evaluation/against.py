"""A new model compared with human ratings of a study: its replies, and judges that predict."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from empathylab.api.evaluation.result import AgainstStudy
from empathylab.api.run_options import Mode, PartnerOptions, RunOptions, require_at_least
from empathylab.api.sessions import Sessions
from empathylab.api.workspace import Workspace
from empathylab.errors import InputError

if TYPE_CHECKING:
    from empathylab.analysis.benchmark import BenchmarkResult
    from empathylab.analysis.benchmark.frames import ReferenceRatings
    from empathylab.analysis.benchmark.prompts import StudyPrompt
    from empathylab.models import Model
    from empathylab.runs import Job, Plan
    from empathylab.situations import SituationSet
    from empathylab.store import Lab
    from empathylab.study.added_arms.human_sample import HumanSample
    from empathylab.study.added_arms.instruments import MeasuredStudy


@dataclasses.dataclass(frozen=True, slots=True)
class StudyMeasurement:
    """What is to be measured, as the options say."""

    models: Sequence[str]
    """Each once, and so the judges."""
    study: str
    judges: Sequence[str]
    dimension: str | None = None
    sample: int | None = None
    """The number of the study's situations; None for all."""
    human_sample: int | None = None
    mode: Mode = "structured"
    peek: str | None = None
    who: str = "researcher"
    """Who peeks, for the audit log."""
    judge_base_url: str | None = None
    judge_api_key_env: str | None = None

    def __post_init__(self) -> None:
        require_at_least(1, sample=self.sample, human_sample=self.human_sample)
        if not self.judges:
            raise InputError(
                "a judge is needed to predict human ratings",
                where="--against",
                remedy="Give --judge MODEL, or --judge style, which is free and a weak baseline.",
            )


def open_bench(workspace: Workspace, wanted: StudyMeasurement, options: RunOptions) -> Bench:
    """The study, checked before anything is asked or paid for."""
    from empathylab.analysis.benchmark.frames import measured_replies, reference_ratings
    from empathylab.analysis.benchmark.prompts import study_prompt, study_set
    from empathylab.store.ratings import lab_study
    from empathylab.study.added_arms.instruments import measured_study
    from empathylab.study.admin.embargo import require_judged_openly

    options.require_one_address(wanted.models)
    lab = workspace.store()
    study = lab_study(lab, wanted.study)
    reference = reference_ratings(lab, study.name, wanted.dimension)
    measured = measured_study(lab, study.name)
    prompt = study_prompt(lab, measured)
    replies = [
        reply.response
        for name in wanted.models
        for reply in measured_replies(lab, reference, name, prompt.prompt)
    ]
    require_judged_openly(lab, replies, [study.name], peek=wanted.peek, who=wanted.who)
    for name in wanted.models:
        _require_one_arm(reference, name)
        _require_covered(lab, reference, name, wanted.judges)
    whole = study_set(lab, measured)
    return Bench(workspace, wanted, options, reference, measured, prompt, whole)


def _require_one_arm(reference: ReferenceRatings, name: str) -> None:
    if arms := reference.arms_of(name):
        raise InputError(
            "people rated its replies in several arms of the study, and each arm is measured "
            "separately",
            where=f"study {reference.study.name}",
            got=", ".join(arms),
            remedy="See `empathylab analyze leaderboard`.",
        )


def _require_covered(
    lab: Lab, reference: ReferenceRatings, name: str, judges: Iterable[str]
) -> None:
    """A judge whose ratings came with the study cannot be asked about other replies."""
    from empathylab.analysis.benchmark.frames import FEWEST_RATINGS

    for judge in _brought(lab, reference, judges):
        covered = reference.imported.filter(judge=judge, respondent=name).height
        if covered < FEWEST_RATINGS:
            raise InputError(
                f"the imported ratings of the judge {judge} cover {covered} of the replies of "
                f"{name}, but {FEWEST_RATINGS} are needed",
                where=f"study {reference.study.name}",
                got=f"--judge {judge}",
                remedy="Import its ratings of these replies, or name a judge that can be asked.",
            )


def _brought(lab: Lab, reference: ReferenceRatings, judges: Iterable[str]) -> list[str]:
    """Judges whose ratings came with the study, and that the lab has not asked."""
    from empathylab.store.judgements import lab_judgements

    imported = [judge for judge in judges if judge in reference.imported_judges]
    if not imported:
        return []
    asked = set(lab_judgements(lab, reference.study.name, embargoed=True)["judge"])
    return [item for item in imported if item not in asked]


@dataclasses.dataclass(frozen=True, slots=True)
class Bench:
    """The study on the bench, and what is asked of models there."""

    workspace: Workspace
    wanted: StudyMeasurement
    options: RunOptions
    reference: ReferenceRatings
    study: MeasuredStudy
    prompt: StudyPrompt
    situation_set: SituationSet

    @property
    def lab(self) -> Lab:
        """The lab's database."""
        return self.workspace.store()

    def compared(self) -> AgainstStudy:
        """Asks for missing replies and judgements; ends with an error where some got no answer."""
        replied = self._run(self._reply_jobs())
        replied.require_complete()
        samples = self._samples()
        judged = self._run(self._judge_jobs())
        sessions = Sessions((*replied.tallies, *judged.tallies), self.options)
        sessions.require_complete()
        results = self._measured()
        return AgainstStudy(
            sessions=sessions,
            study=self.study.name,
            protocol_hash=self.study.protocol_hash,
            prompt=self.prompt.prompt,
            situations=len(self._keys()),
            results=tuple(results),
            human_samples=tuple(samples),
            notes=(self.prompt.note,) if self.prompt.note else (),
            report=self._page(results),
        )

    def _keys(self) -> set[tuple[str, str]]:
        """The study's situations, or the part of them that is wanted."""
        from empathylab.judging.sampling import drawn

        known = [(self.situation_set.id, situation.id) for situation in self.study.situations]
        count = len(known) if self.wanted.sample is None else self.wanted.sample
        return drawn(known, count, seed=self.options.seed)

    def _reply_jobs(self) -> list[Job]:
        """Models that have replied to this prompt already are not asked again.

        Nor is any model where no judge can be asked about new replies.
        """
        if not self._asked_judges():
            return []
        plans = {name: self._missing_replies(name) for name in self.wanted.models}
        return [
            self.options.job(self.options.open_models([name])[0], [plan])
            for name, plan in plans.items()
            if plan is not None
        ]

    def _missing_replies(self, name: str) -> Plan | None:
        from empathylab.protocols import Responding, plan_responding
        from empathylab.store.judged_responses import asked_situations

        keys = {key for _, key in self._keys()}
        chosen = tuple(situation for situation in self.study.situations if situation.id in keys)
        whole = Responding(
            self.situation_set,
            chosen,
            temperature=0.7 if self.options.temperature is None else self.options.temperature,
            seed=self.options.seed,
            template=self.prompt.template,
        )
        if not self.options.fresh and not self._is_started(name, whole.settings()):
            before = asked_situations(self.lab, name, self.prompt.prompt, self.situation_set.id)
            chosen = tuple(item for item in chosen if item.id not in before)
        if not chosen:
            return None
        return plan_responding(self.lab, name, dataclasses.replace(whole, situations=chosen))

    def _is_started(self, name: str, settings: dict[str, Any]) -> bool:
        """Whether this very run was begun before, so that it can go on where it was."""
        from empathylab.store import runs_frame

        predicted = json.loads(json.dumps(settings))
        runs = runs_frame(self.lab).filter(protocol="respond", respondent=name)
        return any(json.loads(setting) == predicted for setting in runs["settings"])

    def _judge_jobs(self) -> list[Job]:
        """The judges rate what people rated, for their errors to be known, and the new replies."""
        from empathylab.analysis.judges.style_judge import STYLE_JUDGE

        asked = [name for name in self._asked_judges() if name != STYLE_JUDGE]
        plans = list(self._judging()) if asked else []
        return [self.options.job(self._judge(name), plans) for name in asked]

    def _judge(self, name: str) -> Model:
        own = PartnerOptions(self.wanted.judge_base_url, self.wanted.judge_api_key_env)
        return self.options.open_partner(name, own, self.wanted.models)

    def _asked_judges(self) -> list[str]:
        """Without those whose ratings came with the study."""
        brought = _brought(self.lab, self.reference, self.wanted.judges)
        return [name for name in self.wanted.judges if name not in brought]

    def _judging(self) -> Iterable[Plan]:
        from empathylab.analysis.benchmark.frames import measured_replies
        from empathylab.judging.asking import Asking
        from empathylab.judging.instruments import study_instrument
        from empathylab.judging.single import Judging, plan_judging
        from empathylab.store.judged_responses import study_responses

        asking = Asking(mode=self.wanted.mode, seed=self.options.seed)
        study = self.reference.study
        source = f"study {study.name.removesuffix(f'@{study.version}')} (version {study.version})"
        instrument = study_instrument(study, [self.reference.dimension.name])
        kept = self._keys()
        shown = study_responses(self.lab, study.row)
        known = {item.response for item in shown}
        parts = [shown]
        for name in self.wanted.models:
            mine = measured_replies(self.lab, self.reference, name, self.prompt.prompt)
            parts.append(tuple(item for item in mine if item.response not in known))
        for part in parts:
            replies = tuple(item for item in part if (item.set, item.situation.id) in kept)
            if replies:
                judging = Judging(instrument, replies, source, study.row, asking)
                yield plan_judging(judging)

    def _measured(self) -> list[BenchmarkResult]:
        """The results of each model, by each judge and by all judges together."""
        from empathylab.analysis.benchmark.result import measure
        from empathylab.analysis.judges.analysis import PANEL
        from empathylab.analysis.judges.style_judge import STYLE_JUDGE

        judges = self.wanted.judges
        models = [name for name in judges if name != STYLE_JUDGE]
        methods = [*models, *([PANEL] if len(models) > 1 else ()), *(set(judges) - set(models))]
        kept = None if self.wanted.sample is None else self._keys()
        return [
            measure(self.lab, self.reference, name, judge, self.prompt.prompt, models, keys=kept)
            for name in self.wanted.models
            for judge in methods
        ]

    def _samples(self) -> list[HumanSample]:
        """For each model, which replies people should rate, where that is asked for."""
        from empathylab.study.added_arms.human_sample import choose_human_sample

        count = self.wanted.human_sample
        if count is None:
            return []
        return [
            choose_human_sample(self.lab, self.study.name, name, count, seed=self.options.seed)
            for name in self.wanted.models
        ]

    def _page(self, known: Sequence[BenchmarkResult]) -> Path:
        """Writes the study's leaderboard and returns its path."""
        from empathylab.analysis.benchmark.leaderboard import leaderboard, without_embargoed
        from empathylab.report.benchmark.page import write_leaderboard

        path = self.lab.reports / f"leaderboard-{self.study.name}.html"
        # The table is of all situations.
        whole = [result.measurement for result in known] if self.wanted.sample is None else ()
        board = leaderboard(self.lab, self.reference, self.study, known=whole)
        return write_leaderboard(path, without_embargoed(self.lab, board))

    def _run(self, jobs: list[Job]) -> Sessions:
        return self.workspace.run(jobs, self.options) if jobs else Sessions((), self.options)
