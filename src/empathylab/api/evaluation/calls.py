"""The evaluation of models, alone or compared with the human ratings of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

from empathylab.api.actor import operator
from empathylab.api.run_options import Mode, RunKeywords, RunOptions, listed
from empathylab.api.workspace import Workspace

if TYPE_CHECKING:
    from empathylab.api.evaluation.gates import GateOptions
    from empathylab.api.evaluation.measurement import Asked, JudgeOptions
    from empathylab.api.evaluation.result import AgainstStudy, Evaluation
    from empathylab.models import Model


def evaluate(
    workspace: Workspace,
    *models: str | Model,
    situations: int = 3,
    replies: int = 1,
    mode: Mode = "structured",
    scale: str = "panas",
    template: str | None = None,
    language: str | None = None,
    judge: str | None = None,
    judge_base_url: str | None = None,
    judge_api_key_env: str | None = None,
    planted: int | None = None,
    fail_under: Mapping[str, float] | None = None,
    max_unusable: float | None = None,
    baseline: str | int | None = None,
    no_worse_than: float | None = None,
    allow_missing_baseline: bool = False,
    name: str | None = None,
    **options: Unpack[RunKeywords],
) -> Evaluation:
    """Measures models: a scale before and after situations, replies to people, and a report.

    Without a model, the embedded model is measured. For each emotion, `situations` is the number
    of situations to imagine and `replies` the number to reply to. With `judge`, a model scores
    the replies by the rubric. `fail_under`, `max_unusable`, and `baseline` with `no_worse_than`
    are conditions; `result.passed` says whether all are met. If so, `name` names the run of
    replies; an older run with this name loses it.
    """
    from empathylab.api.evaluation.gates import GateOptions
    from empathylab.api.evaluation.measurement import Combination, JudgeOptions
    from empathylab.models import DEFAULT_MODEL

    run = RunOptions.of(options)
    way = Combination(
        situations, mode, scale, run.temperature, run.seed, template, language, replies
    )
    named = None if baseline is None else str(baseline)
    chosen = models or (DEFAULT_MODEL,)
    return evaluate_ways(
        workspace,
        [(model, [way], run) for model in run.open_models(chosen)],
        JudgeOptions(judge, judge_base_url, planted, judge_api_key_env),
        GateOptions(fail_under or {}, max_unusable, named, no_worse_than, allow_missing_baseline),
        run,
        again=chosen,
        name=name,
    )


def evaluate_ways(
    workspace: Workspace,
    asked: Sequence[Asked],
    judge: JudgeOptions,
    gates: GateOptions,
    options: RunOptions,
    *,
    again: Sequence[str | Model] = (),
    name: str | None = None,
) -> Evaluation:
    """Several ways of asking each model, as a sweep file gives them.

    `again` are the models as they were named, for each to score its own replies. `name` is for the
    run of replies, if it is complete and passes all gates.
    """
    from empathylab.api.evaluation.measurement import Evaluating, open_judges

    named = tuple(dict.fromkeys(again)) or [model.name for model, _, _ in asked]
    judges = open_judges(judge, named, asked, options, workspace.reporter)
    return Evaluating(workspace, asked, judge, gates, options, judges, name).carried_out()


def evaluate_against(
    workspace: Workspace,
    study: str,
    *models: str,
    judge: str | Sequence[str],
    dimension: str | None = None,
    sample: int | None = None,
    human_sample: int | None = None,
    mode: Mode = "structured",
    peek: str | None = None,
    judge_base_url: str | None = None,
    judge_api_key_env: str | None = None,
    **options: Unpack[RunKeywords],
) -> AgainstStudy:
    """Compares models with the human ratings of a study.

    The models reply to the study's situations. A judge (`provider/name`, or `style`, which is
    free) that is calibrated on the study's ratings predicts how people would rate the replies.
    """
    from empathylab.api.evaluation.against import StudyMeasurement, open_bench
    from empathylab.models import DEFAULT_MODEL

    wanted = StudyMeasurement(
        models=tuple(dict.fromkeys(models or (DEFAULT_MODEL,))),
        study=study,
        judges=tuple(dict.fromkeys(listed(judge))),
        dimension=dimension,
        sample=sample,
        human_sample=human_sample,
        mode=mode,
        peek=peek,
        who=operator(workspace.interface),
        judge_base_url=judge_base_url,
        judge_api_key_env=judge_api_key_env,
    )
    return open_bench(workspace, wanted, RunOptions.of(options)).compared()
