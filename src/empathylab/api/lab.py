"""The lab as Python users open it: measure models, read what is there, analyse, report."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from empathylab.api.actor import operator
from empathylab.api.methods import PYTHON, awaitable, in_python_words
from empathylab.api.progress import Reporter
from empathylab.api.run_options import Mode, RunKeywords, RunOptions

if TYPE_CHECKING:
    import polars as pl

    from empathylab.api.analyses import LabAnalyses
    from empathylab.api.evaluation.gates import GateOptions
    from empathylab.api.evaluation.measurement import Asked, JudgeOptions
    from empathylab.api.evaluation.result import AgainstStudy, Evaluation
    from empathylab.api.imports import LabImports
    from empathylab.api.run_results import ConversationsResult, JudgingResult, RunResult
    from empathylab.api.sessions import Sessions
    from empathylab.api.studies import LabStudies
    from empathylab.models import Model
    from empathylab.report import LabOverview
    from empathylab.runs import Job, Plan
    from empathylab.store import Lab as Store

Planner = Callable[["Store", str], Sequence["Plan"]]
DEFAULT_FOLDER = "lab"


def open_lab(
    folder: str | Path | None = None, *, quiet: bool = False, database: str | None = None
) -> Lab:
    """The lab in that folder; it is created when the first model is measured.

    Without a folder, `EMPATHYLAB_LAB` or `./lab`. A quiet lab shows no progress. `database` is the
    address of a PostgreSQL database, in place of the SQLite file in the folder.

    >>> lab = open_lab("my-lab", quiet=True)
    >>> lab.folder.name
    'my-lab'
    """
    folder = folder or os.environ.get("EMPATHYLAB_LAB") or DEFAULT_FOLDER
    return Lab(Path(folder), quiet=quiet, database=database)


class Lab:
    """A lab: models are measured in it, and everything that was measured stays there.

    Open it with `open_lab`. It is a context manager, but need not be used as one. Methods that ask
    models take the keywords of `RunOptions` too, such as `max_cost=1`, and each has a form for
    `await`: `aevaluate`, `aappraise`, `arespond`, `aconverse`, `ajudge`, `aevaluate_against`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        quiet: bool = False,
        database: str | None = None,
        interface: str = PYTHON,
    ) -> None:
        self.folder = folder
        self.interface = interface
        self.reporter = Reporter(quiet=quiet)
        self._database = database
        self._store: Store | None = None

    def __repr__(self) -> str:
        return f"<Lab {str(self.folder)!r}>"

    @in_python_words
    def store(self, *, create: bool = False) -> Store:
        """The lab's database; an error where there is none, unless it may be created."""
        if self._store is None:
            import weakref

            from empathylab.store import Lab as Store

            self._store = Store.open(self.folder, create=create, database=self._database)
            weakref.finalize(self, self._store.close)
        return self._store

    def close(self) -> None:
        """Closes the database; the lab can be used again."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @in_python_words
    def evaluate(
        self,
        *models: str | Model,
        situations: int = 3,
        mode: Mode = "structured",
        scale: str = "panas",
        template: str | None = None,
        language: str | None = None,
        judge: str | None = None,
        judge_base_url: str | None = None,
        planted: int | None = None,
        fail_under: Mapping[str, float] | None = None,
        max_unusable: float | None = None,
        baseline: str | int | None = None,
        no_worse_than: float | None = None,
        **options: Unpack[RunKeywords],
    ) -> Evaluation:
        """Measures models: a scale before and after situations, replies to people, and a report.

        Without a model, the embedded one. `situations` is their number for each of 8 emotions.
        With `judge`, a model scores the replies by the rubric. `fail_under`, `max_unusable`, and
        `baseline` with `no_worse_than` are conditions; `result.passed` says whether all hold.
        """
        from empathylab.api.evaluation.gates import GateOptions
        from empathylab.api.evaluation.measurement import Combination, JudgeOptions
        from empathylab.models import DEFAULT_MODEL

        run = RunOptions.of(options)
        way = Combination(situations, mode, scale, run.temperature, run.seed, template, language)
        chosen = models or (DEFAULT_MODEL,)
        return self.evaluate_ways(
            [(model, [way], run) for model in run.open_models(chosen)],
            JudgeOptions(judge, judge_base_url, planted),
            GateOptions(
                fail_under or {},
                max_unusable,
                None if baseline is None else str(baseline),
                no_worse_than,
            ),
            run,
            again=chosen,
        )

    def evaluate_ways(
        self,
        asked: Sequence[Asked],
        judge: JudgeOptions,
        gates: GateOptions,
        options: RunOptions,
        *,
        again: Sequence[str | Model] = (),
    ) -> Evaluation:
        """Several ways of asking each model, as a sweep file gives them.

        `again` are the models as they were named, for each to score its own replies.
        """
        from empathylab.api.evaluation.measurement import Evaluating, open_judges

        named = again or [model.name for model, _, _ in asked]
        judges = open_judges(judge, named, options, self.reporter)
        store = self.store(create=True)
        return Evaluating(store, asked, judge, gates, options, self.reporter, judges).carried_out()

    @in_python_words
    def evaluate_against(
        self,
        study: str,
        *models: str,
        judge: str | Sequence[str],
        dimension: str | None = None,
        sample: int | None = None,
        human_sample: int | None = None,
        mode: Mode = "structured",
        peek: str | None = None,
        judge_base_url: str | None = None,
        **options: Unpack[RunKeywords],
    ) -> AgainstStudy:
        """Compares models with the human ratings of a study.

        The models reply to the study's situations. A judge (`provider/name`, or `style`, which is
        free) that is calibrated on the study's ratings predicts how people would rate the replies.
        """
        from empathylab.api.evaluation.against import Wanted, open_bench
        from empathylab.models import DEFAULT_MODEL

        wanted = Wanted(
            models=models or (DEFAULT_MODEL,),
            study=study,
            judges=_listed(judge),
            dimension=dimension,
            sample=sample,
            human_sample=human_sample,
            mode=mode,
            peek=peek,
            who=operator(self.interface),
            judge_base_url=judge_base_url,
        )
        bench = open_bench(self.store(), wanted, RunOptions.of(options), self.reporter)
        return bench.compared()

    @in_python_words
    def appraise(
        self,
        *models: str | Model,
        scale: str = "panas",
        situation_set: str = "appraisal",
        language: str | None = None,
        emotion: str | None = None,
        factor: str | None = None,
        situations: int = 3,
        per_factor: int | None = None,
        mode: Mode = "structured",
        default_orders: int = 4,
        orders: int = 1,
        repeats: int = 1,
        counterparts: bool = False,
        stable: bool = False,
        template: str | Path | None = None,
        report: bool = False,
        **options: Unpack[RunKeywords],
    ) -> RunResult:
        """Gives models a scale at baseline and after they imagine situations.

        `situations` is their number for each emotion, `per_factor` for each factor instead.
        `default_orders` baseline administrations, each in another item order, are compared with
        `orders` item orders after each situation.
        """
        from empathylab.api.appraise import AppraisalOptions

        run = RunOptions.of(options)
        wanted = AppraisalOptions(
            scale=scale,
            situation_set=situation_set,
            language=language,
            emotion=emotion,
            factor=factor,
            situations=situations,
            per_factor=per_factor,
            mode=mode,
            default_orders=default_orders,
            orders=orders,
            repeats=repeats,
            counterparts=counterparts,
            stable=stable,
            template=template,
        )
        return self._ask(models, lambda lab, name: wanted.plans(lab, name, run), run, report=report)

    @in_python_words
    def respond(
        self,
        *models: str | Model,
        situation_set: str = "dialogues",
        language: str | None = None,
        situations: int | None = None,
        emotion: str | Sequence[str] = (),
        samples: int = 1,
        template: str | None = None,
        words: int | str | None = None,
        least_words: int | None = None,
        most_words: int | None = None,
        retries: int = 1,
        report: bool = False,
        **options: Unpack[RunKeywords],
    ) -> RunResult:
        """Lets models reply to people who tell about a situation.

        `situations` is their number for each emotion, all of a small set if left out. `words` is
        the length to ask for; `"human"` takes that of people's replies in the lab.
        """
        from empathylab.api.respond import ReplyOptions

        run = RunOptions.of(options)
        wanted = ReplyOptions(
            situation_set=situation_set,
            language=language,
            situations=situations,
            emotion=_listed(emotion),
            samples=samples,
            template=template,
            words=words,
            least_words=least_words,
            most_words=most_words,
            retries=retries,
        )
        return self._ask(models, lambda lab, name: wanted.plans(lab, name, run), run, report=report)

    @in_python_words
    def converse(
        self,
        *models: str,
        simulator: str | Sequence[str],
        personas: str = "built-in",
        persona: str | Sequence[str] = (),
        count: int | None = None,
        language: str | None = None,
        samples: int = 1,
        exchanges: int | None = None,
        simulator_temperature: float = 0.7,
        system_prompt: str | Path | None = None,
        retries: int = 1,
        check: bool = True,
        report: bool = False,
        **options: Unpack[RunKeywords],
    ) -> ConversationsResult:
        """Lets models talk with people whom another model simulates, and follows how those feel.

        `count` personas are spread over the emotions. With `check`, each simulator also talks with
        an attentive and a cold scripted listener, which it must tell apart.
        """
        from empathylab.analysis.conversations import from_lab
        from empathylab.api.converse import ConversationOptions
        from empathylab.api.run_results import ConversationsResult

        run = RunOptions.of(options)
        wanted = ConversationOptions(
            simulators=_listed(simulator),
            personas=personas,
            persona=_listed(persona),
            count=count,
            language=language,
            samples=samples,
            exchanges=exchanges,
            simulator_temperature=simulator_temperature,
            system_prompt=system_prompt,
            retries=retries,
            check=check,
        )
        names = list(dict.fromkeys([*models, *wanted.simulators]))
        opened = dict(zip(names, run.open_models(names), strict=True))
        store = self.store(create=True)
        sessions = self._run(wanted.jobs(store, models, opened, run), run)
        path = self.report() if report else None
        return ConversationsResult(sessions, from_lab(store), path)

    @in_python_words
    def judge(
        self,
        *models: str | Model,
        study: str | None = None,
        situation_set: str | None = None,
        respondent: str | Sequence[str] = (),
        dimension: str | Sequence[str] = (),
        sample: int | None = None,
        pairs: bool = False,
        mode: Mode = "structured",
        reason: bool = False,
        repeats: int = 1,
        orders: int = 1,
        retries: int = 1,
        **options: Unpack[RunKeywords],
    ) -> JudgingResult:
        """Lets models rate the responses of a study, or to a set, as blinded raters do.

        With `pairs` they choose between two replies, in both orders. How far judges agree with
        people is `lab.analyze.judges()`.
        """
        from empathylab.api.judge import JudgingOptions
        from empathylab.api.run_results import JudgingResult
        from empathylab.judging.function_judges import open_judges

        run = RunOptions.of(options)
        wanted = JudgingOptions(
            study=study,
            situation_set=situation_set,
            respondent=_listed(respondent),
            dimension=_listed(dimension),
            sample=sample,
            pairs=pairs,
            mode=mode,
            reason=reason,
            repeats=repeats,
            orders=orders,
            retries=retries,
        )
        if repeats > 1 and wanted.asking(run).temperature == 0:
            self.reporter.say(
                "At temperature 0, repeats only show how steady the endpoint is; give "
                "--temperature to see how steady the judge is."
            )
        store = self.store()
        plan, replies = wanted.plan(store, run)
        judges = open_judges(models, plan, run.open_models)
        sessions = self._run([run.job(model, [plan]) for model in judges], run)
        found = wanted.summed_up(store, [model.name for model in judges], replies)
        return JudgingResult(sessions, **found)

    @in_python_words
    def ask(
        self,
        protocol: str,
        *models: str | Model,
        settings: Mapping[str, str] | None = None,
        report: bool = False,
        **options: Unpack[RunKeywords],
    ) -> RunResult:
        """Asks models by the protocol of a plugin, with the settings that it understands."""
        from empathylab.protocols.plugin_protocols import open_protocol

        plans = open_protocol(protocol)
        return self._ask(
            models,
            lambda lab, name: plans(lab, name, settings or {}),
            RunOptions.of(options),
            report=report,
        )

    aask = awaitable(ask)
    aevaluate = awaitable(evaluate)
    aevaluate_against = awaitable(evaluate_against)
    aappraise = awaitable(appraise)
    arespond = awaitable(respond)
    aconverse = awaitable(converse)
    ajudge = awaitable(judge)

    def _ask(
        self, models: Sequence[str | Model], plan: Planner, options: RunOptions, *, report: bool
    ) -> RunResult:
        """Carries out the plans for each model, and sums up what was measured."""
        import polars as pl

        from empathylab.analysis import overview
        from empathylab.api.run_results import RunResult
        from empathylab.store import responses_frame

        opened = options.open_models(models)
        store = self.store(create=True)
        jobs = [options.job(model, plan(store, model.name)) for model in opened]
        sessions = self._run(jobs, options)
        path = self.report() if report else None
        replies = responses_frame(store).filter(pl.col("run").is_in(sessions.runs))
        return RunResult(sessions, overview.of_runs(store, sessions.runs), replies, path)

    def _run(self, jobs: Sequence[Job], options: RunOptions) -> Sessions:
        from empathylab.api.sessions import Sessions
        from empathylab.runs import run

        with self.reporter.runs() as observe:
            store = self.store(create=True)
            tallies = run(store, jobs, prices=options.price_table(), observe=observe)
        return Sessions(tuple(tallies), options)

    @property
    def analyze(self) -> LabAnalyses:
        """The analyses, one for each topic: `lab.analyze.ratings()`, `lab.analyze.style()` …"""
        from empathylab.api.analyses import LabAnalyses

        return LabAnalyses(self.store)

    def overview(self) -> LabOverview:
        """The results of all topics in one: what the report shows."""
        from empathylab.analysis import overview

        return overview.from_lab(self.store())

    def report(self) -> Path:
        """Writes the report, one HTML file; its path."""
        from empathylab.report import write_report

        return write_report(self.overview(), self.store().reports)

    def runs(self) -> pl.DataFrame:
        """The runs: what was asked of whom, with which settings, tokens and cost."""
        from empathylab.store import runs_frame

        return runs_frame(self.store())

    def responses(self) -> pl.DataFrame:
        """All responses with the situations they reply to, one row each."""
        from empathylab.store import responses_frame

        return responses_frame(self.store())

    @in_python_words
    def ratings(self, study: str | None = None, *, peek: str | None = None) -> pl.DataFrame:
        """The ratings of a study; without a name, of the only one.

        A study that this lab runs must be closed, unless there is a reason to `peek`, which the
        audit log keeps.
        """
        from empathylab.store.ratings import lab_study, ratings_frame
        from empathylab.study.admin.embargo import require_closed

        store = self.store()
        chosen = lab_study(store, study)
        require_closed(store, chosen, peek=peek, who=operator(self.interface))
        return ratings_frame(store, chosen.name)

    def administrations(self) -> pl.DataFrame:
        """All administrations of scales, usable or not, one row each."""
        from empathylab.store.administrations import read_appraisals

        return read_appraisals(self.store()).administrations.drop("scale_row")

    def scores(self) -> pl.DataFrame:
        """The scores of usable administrations, one row per subscale.

        `from_table(lab.scores()).analyze.appraisal()` reads them.
        """
        from empathylab.scales.score_frames import score_frame
        from empathylab.store.administrations import read_appraisals

        read = read_appraisals(self.store())
        valid = read.administrations.filter(outcome="valid", counterpart=False)
        rows = valid.select("administration", "scale_row")
        scored = score_frame(read.answers.join(rows, on="administration"), read.scales)
        return valid.drop("scale_row").join(scored, on="administration")

    def conversations(self) -> pl.DataFrame:
        """The conversations that count, one row each."""
        from empathylab.analysis.conversations.frames import lab_frames

        return lab_frames(self.store())[0]

    def turns(self) -> pl.DataFrame:
        """The turns of those conversations, one row each."""
        from empathylab.analysis.conversations.frames import lab_frames

        return lab_frames(self.store())[1]

    @property
    def studies(self) -> LabStudies:
        """Studies with people: `lab.studies.check(study)`, `.launch(study)`, `.pilot(name)` …"""
        from empathylab.api.studies import LabStudies

        return LabStudies(self.folder, self.store)

    @property
    def imports(self) -> LabImports:
        """Published files into the lab: `lab.imports.welivita(file)` …"""
        from empathylab.api.imports import LabImports

        return LabImports(lambda: self.store(create=True))


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
