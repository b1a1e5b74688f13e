"""`empathylab evaluate`: the main job."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from empathylab.cli.examples import examples
from empathylab.cli.options import (
    JsonOption,
    LanguageOption,
    ModeOption,
    RunOptions,
    TrackOption,
    with_run_options,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from empathylab.cli.evaluate.gate_options import GateOptions
    from empathylab.cli.evaluate.measurement import Combination, Evaluated, JudgeOptions
    from empathylab.models import Model
    from empathylab.tracking import Tracker

EXAMPLE = examples(
    (
        "empathylab evaluate",
        "measures the embedded model and writes the report.",
    ),
    (
        "empathylab evaluate openai/gpt-4o-mini --max-cost 1",
        "measures any other model, for a dollar at most.",
    ),
    (
        (
            "empathylab evaluate openai/gpt-4o-mini --judge anthropic/claude-sonnet-4 "
            "--fail-under replies.empathy=3.5"
        ),
        "scores the replies, and fails below a mean.",
    ),
    (
        "empathylab evaluate openai/gpt-4o-mini --against welivita-2024 --judge style",
        "predicts how a study's raters would have rated the replies.",
    ),
    (
        "empathylab evaluate sweep.yaml --dry-run",
        "says what a sweep would cost.",
    ),
)

_SCORES = "Scores of the replies"
_GATE = "Release gate"
_AGAINST = "Against a study that people rated"


@with_run_options
def evaluate(
    model: Annotated[
        list[str] | None,
        typer.Argument(
            help="provider/name, one or several, or a sweep file (YAML); the embedded model, if "
            "not given."
        ),
    ] = None,
    situations: Annotated[
        int, typer.Option(help="Situations for each of the 8 emotions.", min=1)
    ] = 3,
    mode: ModeOption = "structured",
    language: LanguageOption = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="STUDY",
            help="Reply to this study's situations, and estimate what its raters would have said.",
            rich_help_panel=_AGAINST,
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="The model that scores the replies by the rubric: provider/name, or self. With "
            "--against, the judge that predicts human ratings: provider/name, or style, which is "
            "free; repeatable there.",
            rich_help_panel=_SCORES,
        ),
    ] = None,
    human_sample: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Say which N replies people should rate, at random, and how to let them.",
            min=1,
            rich_help_panel=_AGAINST,
        ),
    ] = None,
    dimension: Annotated[
        str | None,
        typer.Option(
            help="What was rated; the study's first dimension, if not given.",
            rich_help_panel=_AGAINST,
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            help="Only so many of the study's situations, drawn by the seed.",
            min=1,
            rich_help_panel=_AGAINST,
        ),
    ] = None,
    judge_base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The judges' address; that of --base-url for a judge of the model's provider.",
            rich_help_panel=_SCORES,
        ),
    ] = None,
    peek: Annotated[
        str | None,
        typer.Option(
            metavar="REASON",
            help="Look at a study of this lab before it is closed. The audit log keeps the reason.",
            rich_help_panel=_AGAINST,
        ),
    ] = None,
    planted: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Try the judge on the planted replies to N situations; on all 12 if left out.",
            min=2,
            rich_help_panel=_SCORES,
        ),
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=NUMBER",
            help="Exit 1 if a mean score is lower, such as replies.empathy=3.5; repeatable.",
            rich_help_panel=_GATE,
        ),
    ] = None,
    max_unusable: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT",
            help="Exit 1 if more requests get no usable answer, such as 10%.",
            rich_help_panel=_GATE,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Compare with the replies of this run: its number or name (empathylab runs list).",
            rich_help_panel=_GATE,
        ),
    ] = None,
    no_worse_than: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS",
            help="Exit 1 unless a paired test shows that empathy is less than this below the "
            "baseline's.",
            rich_help_panel=_GATE,
        ),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the conditions as a JUnit file.", rich_help_panel=_GATE
        ),
    ] = None,
    track: TrackOption = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print requests, tokens and the highest cost; ask nothing."),
    ] = False,
    summary: Annotated[
        Literal["text", "md"],
        typer.Option(help="How the results are printed: as text or as Markdown."),
    ] = "text",
    json: JsonOption = False,
    open_report: Annotated[
        bool, typer.Option("--open", help="Open the report in the browser.")
    ] = False,
    *,
    run: RunOptions,
) -> None:
    """Measures a model: a scale before and after situations, replies to people, and a report.

    With --judge, a model scores the replies by the rubric, and replies with planted faults show
    whether it can. With --against, the model is compared with the human ratings of a study: a
    judge that is calibrated on these ratings predicts how people would rate the model's replies.
    """
    from empathylab.cli.evaluate.gate_options import GateOptions
    from empathylab.models import DEFAULT_MODEL

    gates = GateOptions(tuple(fail_under or ()), max_unusable, baseline, no_worse_than, junit)
    if against is None:
        from empathylab.cli.evaluate.measurement import Combination, JudgeOptions

        _refuse_alone(
            {"--human-sample": human_sample, "--dimension": dimension}
            | {"--sample": sample, "--peek": peek}
        )
        job = _Job(
            model or [DEFAULT_MODEL],
            Combination(
                situations,
                mode,
                temperature=run.temperature,
                seed=run.seed,
                language=language,
            ),
            JudgeOptions(_one_judge(judge or []), judge_base_url, planted),
            gates,
        )
        shown = _Shown(as_json=json, summary=summary, open_report=open_report, dry_run=dry_run)
        _evaluate(job, shown, run, track)
        return
    _refuse_against(gates, language, track)
    from empathylab.cli.evaluate.benchmark import Wanted, evaluate_against

    wanted = Wanted(
        models=model or [DEFAULT_MODEL],
        study=against,
        judges=judge or [],
        dimension=dimension,
        sample=sample,
        human_sample=human_sample,
        mode=mode,
        peek=peek,
        judge_base_url=judge_base_url,
    )
    evaluate_against(wanted, run, as_json=json, open_report=open_report)


def _one_judge(judges: list[str]) -> str | None:
    from empathylab.errors import InputError

    if len(judges) > 1 or "style" in judges:
        raise InputError(
            "one model scores the replies",
            where="--judge",
            got=", ".join(judges),
            remedy="Name one model; several, and style, belong to --against.",
        )
    return judges[0] if judges else None


def _refuse_against(gates: GateOptions, language: str | None, track: str | None) -> None:
    """Refuses what has no meaning in a comparison with a study."""
    from empathylab.errors import InputError

    if track is not None:
        raise InputError(
            "a comparison with a study is not tracked",
            where="--track",
            got=track,
            remedy="Leave out --track, or --against.",
        )

    if language is not None:
        raise InputError(
            "the study decides the language",
            where="--language",
            got=language,
            remedy="Leave out --language, or --against.",
        )
    if gates != type(gates)():
        raise InputError(
            "gates are checked on scores by the rubric",
            where="--against",
            remedy="Leave out --against, or the gates.",
        )


def _refuse_alone(given: Mapping[str, object]) -> None:
    from empathylab.errors import InputError

    for option, value in given.items():
        if value:
            raise InputError(
                "this belongs to a measurement against a study",
                where=option,
                remedy="Name the study with --against; to let models judge: `empathylab judge`.",
            )


@dataclasses.dataclass(frozen=True, slots=True)
class _Job:
    """What the command line asks for."""

    names: list[str]
    combination: Combination
    judge: JudgeOptions
    gates: GateOptions


@dataclasses.dataclass(frozen=True, slots=True)
class _Shown:
    """How the results are shown."""

    as_json: bool
    summary: str
    open_report: bool
    dry_run: bool


def _evaluate(job: _Job, shown: _Shown, run: RunOptions, track: Tracker | None) -> None:
    from empathylab.cli.evaluate.estimate import print_estimate
    from empathylab.cli.evaluate.measurement import conclude, evaluate_models

    if track is not None:
        from empathylab.tracking import require_tracker

        require_tracker(track)  # before anything is asked and paid for
    judge, gates = job.judge, job.gates
    if any(name.lower().endswith((".yaml", ".yml")) for name in job.names):
        asked, judge, gates = _from_file(job, run)
    else:
        asked = [(model, [job.combination], run) for model in run.open_models(job.names)]
    if shown.dry_run:
        print_estimate(asked, judge, run, as_json=shown.as_json)
        return
    found = evaluate_models(asked, judge, gates, run)
    show(found, gates, as_json=shown.as_json, summary=shown.summary)
    if track is not None:
        from empathylab.cli.evaluate.tracked import track_evaluation

        track_evaluation(track, found, job.combination, judge, lab=run.lab)
    if shown.open_report:
        typer.launch(found.report.resolve().as_uri())
    conclude(found, run)


def _from_file(
    job: _Job, run: RunOptions
) -> tuple[list[tuple[Model, Sequence[Combination], RunOptions]], JudgeOptions, GateOptions]:
    """What a sweep file asks for; what it says itself cannot be given as an option too."""
    from empathylab.cli.evaluate.sweep import read_sweep
    from empathylab.errors import InputError

    gates = dataclasses.replace(job.gates, junit=None) != type(job.gates)()
    further = (job.judge.name, job.combination.language, run.temperature)
    if len(job.names) > 1 or gates or any(value is not None for value in further):
        raise InputError(
            "a sweep file itself names the models, judge, gates, temperatures and language",
            where=job.names[0],
            remedy="Write them in the file, and give the file alone.",
        )
    sweep = read_sweep(Path(job.names[0]))
    combinations = sweep.combinations()
    asked: list[tuple[Model, Sequence[Combination], RunOptions]] = []
    for entry in sweep.models:
        options = entry.options(run)
        asked.append((options.open_models([entry.name])[0], combinations, options))
    return asked, sweep.judge_options(job.judge.planted), sweep.gate_options(job.gates.junit)


def show(found: Evaluated, gates: GateOptions, *, as_json: bool, summary: str) -> None:
    """Prints the results and writes the JUnit file."""
    from empathylab.cli.evaluate.output import (
        json_content,
        print_markdown,
        print_text,
        write_junit,
    )
    from empathylab.cli.summary import print_json

    if gates.junit is not None:
        write_junit(gates.junit, found.gates)
    if as_json:
        tallies = [*found.tallies, *found.judging]
        print_json(found.data, tallies, found.report, json_content(found))
    elif summary == "md":
        print_markdown(found)
    else:
        print_text(found)
