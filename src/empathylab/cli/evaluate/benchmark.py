"""`empathylab evaluate --against`: a new model compared with human ratings of a study."""

from __future__ import annotations

import dataclasses
import json as encoder
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import RunOptions
from empathylab.cli.tables import print_json, print_rows

if TYPE_CHECKING:
    from empathylab.analysis.benchmark import BenchmarkResult
    from empathylab.analysis.benchmark.frames import ReferenceRatings
    from empathylab.analysis.benchmark.prompts import StudyPrompt
    from empathylab.models import Model
    from empathylab.runs import Job, Plan, Tally
    from empathylab.situations import SituationSet
    from empathylab.store import Lab
    from empathylab.study.added_arms.human_sample import HumanSample
    from empathylab.study.added_arms.instruments import MeasuredStudy


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be measured, as the options say."""

    models: list[str]
    study: str
    judges: list[str]
    dimension: str | None
    sample: int | None
    """Only so many of the study's situations."""
    human_sample: int | None
    mode: Any
    peek: str | None
    judge_base_url: str | None


def evaluate_against(
    wanted: Wanted, options: RunOptions, *, as_json: bool, open_report: bool = False
) -> None:
    """Asks for missing replies and judgements, and prints the results."""
    from empathylab.cli.model_runs import conclude
    from empathylab.store import Lab

    judges = list(dict.fromkeys(wanted.judges))
    _require_judges(judges)
    with Lab.open(options.lab, create=False) as lab:
        bench = _opened(lab, wanted, options)
        tallies = bench.ask_for_replies(wanted.models)
        conclude(tallies, options)
        samples = bench.samples(wanted.models)
        tallies += bench.ask_judges(wanted.models, judges)
        conclude(tallies, options)
        found = bench.measured(wanted.models, judges)
        page = bench.page(found)
    notes = [bench.prompt.note] if bench.prompt.note else []
    if as_json:
        _print_json(bench, found, samples, tallies, page, notes)
    else:
        _print(found, samples, page, notes)
    if open_report:
        typer.launch(page.resolve().as_uri())


def _require_judges(judges: Sequence[str]) -> None:
    from empathylab.errors import InputError

    if not judges:
        raise InputError(
            "a judge is needed to predict human ratings",
            where="--against",
            remedy="Give --judge MODEL, or --judge style, which is free and a weak baseline.",
        )


def _opened(lab: Lab, wanted: Wanted, options: RunOptions) -> _Bench:
    """All that is checked before anything is asked or paid for."""
    from empathylab.analysis.benchmark.frames import reference_ratings
    from empathylab.analysis.benchmark.prompts import study_prompt, study_set
    from empathylab.store.ratings import lab_study
    from empathylab.study.added_arms.instruments import measured_study
    from empathylab.study.admin.embargo import require_closed

    study = lab_study(lab, wanted.study)
    reference = reference_ratings(lab, study.name, wanted.dimension)
    require_closed(lab, study, peek=wanted.peek, who=operator())
    for name in wanted.models:
        _require_one_arm(reference, name)
        _require_covered(lab, reference, name, wanted.judges)
    measured = measured_study(lab, study.name)
    whole = study_set(lab, measured)
    return _Bench(lab, wanted, options, reference, measured, study_prompt(lab, measured), whole)


def _require_one_arm(reference: ReferenceRatings, name: str) -> None:
    from empathylab.errors import InputError

    if arms := reference.arms_of(name):
        raise InputError(
            "people rated its replies in several arms of the study, each measured by itself",
            where=f"study {reference.study.name}",
            got=", ".join(arms),
            remedy="See `empathylab analyze leaderboard`.",
        )


def _require_covered(
    lab: Lab, reference: ReferenceRatings, name: str, judges: Iterable[str]
) -> None:
    """A judge whose ratings came with the study cannot be asked about other replies."""
    from empathylab.analysis.benchmark.frames import FEWEST_RATINGS
    from empathylab.errors import InputError

    for judge in _brought(lab, reference, judges):
        covered = reference.imported.filter(judge=judge, respondent=name).height
        if covered < FEWEST_RATINGS:
            raise InputError(
                f"the imported ratings of the judge {judge} hold {covered} of the replies of "
                f"{name}, and {FEWEST_RATINGS} are needed",
                where=f"study {reference.study.name}",
                got=f"--judge {judge}",
                remedy="Import its ratings of these replies, or name a judge that can be asked.",
            )


def _brought(lab: Lab, reference: ReferenceRatings, judges: Iterable[str]) -> list[str]:
    """Those of the judges whose ratings came with the study, and whom the lab has not asked."""
    from empathylab.store.judgements import lab_judgements

    imported = [one for one in judges if one in reference.imported_judges]
    if not imported:
        return []
    asked = set(lab_judgements(lab, reference.study.name)["judge"])
    return [one for one in imported if one not in asked]


@dataclasses.dataclass(frozen=True, slots=True)
class _Bench:
    """The study on the bench, and what is asked of models there."""

    lab: Lab
    wanted: Wanted
    options: RunOptions
    reference: ReferenceRatings
    study: MeasuredStudy
    prompt: StudyPrompt
    situation_set: SituationSet

    def keys(self) -> set[tuple[str, str]]:
        """The study's situations, or the part of them that is wanted."""
        from empathylab.judging.sampling import drawn

        known = [(self.situation_set.id, one.id) for one in self.study.situations]
        count = len(known) if self.wanted.sample is None else self.wanted.sample
        return drawn(known, count, seed=self.options.seed)

    def ask_for_replies(self, names: Sequence[str]) -> list[Tally]:
        """Models that have replied to this prompt already are not asked again.

        Nor is any model where no judge can be asked about new replies.
        """
        if self.wanted.judges and not self._asked_judges(self.wanted.judges):
            return []
        plans = {name: self._missing_replies(name) for name in dict.fromkeys(names)}
        jobs = [
            self._job(self._model(name), [plan]) for name, plan in plans.items() if plan is not None
        ]
        return self._carry_out(jobs)

    def _missing_replies(self, name: str) -> Plan | None:
        from empathylab.protocols import Responding, plan_responding
        from empathylab.store.judged_responses import asked_situations

        keys = {key for _, key in self.keys()}
        chosen = tuple(one for one in self.study.situations if one.id in keys)
        whole = Responding(
            self.situation_set,
            chosen,
            temperature=0.7 if self.options.temperature is None else self.options.temperature,
            seed=self.options.seed,
            template=self.prompt.template,
        )
        if not self.options.fresh and not self._begun(name, whole.settings()):
            before = asked_situations(self.lab, name, self.prompt.prompt, self.situation_set.id)
            chosen = tuple(one for one in chosen if one.id not in before)
        if not chosen:
            return None
        return plan_responding(self.lab, name, dataclasses.replace(whole, situations=chosen))

    def _begun(self, name: str, settings: dict[str, Any]) -> bool:
        """Whether this very run was begun before, so that it can go on where it was."""
        from empathylab.store import runs_frame

        predicted = encoder.loads(encoder.dumps(settings))
        runs = runs_frame(self.lab).filter(protocol="respond", respondent=name)
        return any(encoder.loads(one) == predicted for one in runs["settings"])

    def ask_judges(self, names: Sequence[str], judges: Sequence[str]) -> list[Tally]:
        """The judges rate what people rated, for their errors to be known, and the new replies."""
        from empathylab.analysis.judges.style_judge import STYLE_JUDGE

        asked = [name for name in self._asked_judges(judges) if name != STYLE_JUDGE]
        if not asked:
            return []
        plans = list(self._judging(names))
        models = [self._judge(name) for name in asked]
        return self._carry_out([self._job(one, plans) for one in models])

    def _asked_judges(self, judges: Sequence[str]) -> list[str]:
        """Without those whose ratings came with the study."""
        brought = _brought(self.lab, self.reference, judges)
        return [name for name in judges if name not in brought]

    def _judging(self, names: Sequence[str]) -> Iterable[Plan]:
        from empathylab.analysis.benchmark.frames import measured_replies
        from empathylab.judging.asking import Asking
        from empathylab.judging.instruments import study_instrument
        from empathylab.judging.single import Judging, plan_judging
        from empathylab.store.judged_responses import study_responses

        asking = Asking(mode=self.wanted.mode, seed=self.options.seed)
        study = self.reference.study
        source = f"study {study.name.removesuffix(f'@{study.version}')} (version {study.version})"
        instrument = study_instrument(study, [self.reference.dimension.name])
        kept = self.keys()
        shown = study_responses(self.lab, study.row)
        known = {one.response for one in shown}
        parts = [shown]
        for name in dict.fromkeys(names):
            mine = measured_replies(self.lab, self.reference, name, self.prompt.prompt)
            parts.append(tuple(one for one in mine if one.response not in known))
        for part in parts:
            replies = tuple(one for one in part if (one.set, one.situation.id) in kept)
            if replies:
                judging = Judging(instrument, replies, source, study.row, asking)
                yield plan_judging(judging)

    def measured(self, names: Sequence[str], judges: Sequence[str]) -> list[BenchmarkResult]:
        """The results of each model, by each judge and by all judges together."""
        from empathylab.analysis.benchmark.result import measure
        from empathylab.analysis.judges.analysis import PANEL
        from empathylab.analysis.judges.style_judge import STYLE_JUDGE

        models = [name for name in judges if name != STYLE_JUDGE]
        methods = [*models, *([PANEL] if len(models) > 1 else ()), *(set(judges) - set(models))]
        kept = None if self.wanted.sample is None else self.keys()
        return [
            measure(self.lab, self.reference, name, judge, self.prompt.prompt, models, keys=kept)
            for name in dict.fromkeys(names)
            for judge in methods
        ]

    def samples(self, names: Sequence[str]) -> list[HumanSample]:
        """For each model, which replies people should rate, where that is asked for."""
        from empathylab.study.added_arms.human_sample import choose_human_sample

        count = self.wanted.human_sample
        if count is None:
            return []
        return [
            choose_human_sample(self.lab, self.study.name, name, count, seed=self.options.seed)
            for name in dict.fromkeys(names)
        ]

    def page(self, known: Sequence[BenchmarkResult]) -> Path:
        """Writes the study's leaderboard; its path."""
        from empathylab.analysis.benchmark.leaderboard import leaderboard
        from empathylab.report.benchmark.page import write_leaderboard

        path = self.lab.reports / f"leaderboard-{self.study.name}.html"
        # The table is of all situations.
        whole = [result.measurement for result in known] if self.wanted.sample is None else ()
        board = leaderboard(self.lab, self.reference, self.study, known=whole)
        return write_leaderboard(path, board)

    def _model(self, name: str) -> Model:
        return self.options.open_models([name])[0]

    def _judge(self, name: str) -> Model:
        """At its own address; at that of the models where it comes from the same provider."""
        from empathylab.models import open_model

        providers = {one.partition("/")[0] for one in self.wanted.models}
        own = self.wanted.judge_base_url
        if own is None and name.partition("/")[0] in providers:
            own = self.options.base_url
        return open_model(name, base_url=own, api_key_env=self.options.api_key_env)

    def _job(self, model: Model, plans: Sequence[Plan]) -> Job:
        from empathylab.runs import Job

        return Job(
            model,
            plans,
            limits=self.options.limits(),
            fresh=self.options.fresh,
            batching=self.options.batching(),
        )

    def _carry_out(self, jobs: list[Job]) -> list[Tally]:
        from empathylab.cli.progress import progress
        from empathylab.runs import run

        if not jobs:
            return []
        with progress() as observe:
            return run(self.lab, jobs, prices=self.options.price_table(), observe=observe)


def _print_json(
    bench: _Bench,
    found: Sequence[BenchmarkResult],
    samples: Sequence[HumanSample],
    tallies: Sequence[Tally],
    page: Path,
    notes: Sequence[str],
) -> None:
    content = {
        "study": bench.study.name,
        "protocol_hash": bench.study.protocol_hash,
        "prompt": bench.prompt.prompt,
        "situations": len(bench.keys()),
        "results": [result.to_dict() for result in found],
        "human_samples": [dataclasses.asdict(one) for one in samples],
        "notes": list(notes),
        "report": str(page),
        "sessions": [_session(one) for one in tallies],
    }
    print_json(content)


def _session(tally: Tally) -> dict[str, Any]:
    # Not asdict(), which cannot copy a Counter.
    predicted = {field.name: getattr(tally, field.name) for field in dataclasses.fields(tally)}
    return predicted | {"done": tally.done, "missing": tally.missing}


def _print(
    found: Sequence[BenchmarkResult],
    samples: Sequence[HumanSample],
    page: Path,
    notes: Sequence[str],
) -> None:
    from empathylab.analysis.benchmark.prose import difference_rows, estimate_rows

    for result in found:
        one = result.measurement
        typer.echo(
            f"{one.respondent} compared with {one.study}, {one.dimension}; judge {one.judge}; "
            f"{one.situations:,} situations\n"
        )
        print_rows(estimate_rows(one), "estimates", as_json=False)
        typer.echo("")
        print_rows(difference_rows(one), "differences", as_json=False)
        typer.echo("")
        for sentence in result.caveats:
            typer.echo(f"– {sentence}")
        typer.echo("")
    for sample in samples:
        typer.echo(
            f"For people to rate: the replies to {len(sample.situations):,} situations, kept as "
            f"{sample.selection} (`empathylab data show {sample.selection}`)."
        )
        typer.echo(f"  {sample.command}")
        typer.echo(f"  {sample.advice}\n")
    for note in notes:
        typer.echo(note, err=True)
    typer.echo(f"Report: {page}")
