"""`empathylab evaluate`: the main job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from empathylab.cli.options import JsonOption, ModeOption, RunOptions, with_run_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from empathylab.models import Model
    from empathylab.runs import Plan
    from empathylab.store import Lab

    Mode = Literal["structured", "free", "logprob"]

EXAMPLE = (
    "Example: `empathylab evaluate openai/gpt-4o-mini --max-cost 1` · "
    "`empathylab evaluate openai/gpt-4o-mini --against welivita-2024 --judge style`"
)

_AGAINST = "Against a study that people rated"


@with_run_options
def evaluate(
    model: Annotated[
        list[str] | None,
        typer.Argument(help="provider/name, one or several; the embedded model, if not given."),
    ] = None,
    situations: Annotated[
        int, typer.Option(help="Situations for each of the 8 emotions.", min=1)
    ] = 3,
    mode: ModeOption = "structured",
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
            help="The judge that predicts human ratings: provider/name, or style, which is free. "
            "Repeatable; several are also taken together.",
            rich_help_panel=_AGAINST,
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
            rich_help_panel=_AGAINST,
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
    json: JsonOption = False,
    open_report: Annotated[
        bool, typer.Option("--open", help="Open the report in the browser.")
    ] = False,
    *,
    run: RunOptions,
) -> None:
    """Measures a model: a scale before and after situations, replies to people, and a report.

    With --against, it is compared with the human ratings of a study: a judge that is calibrated on
    these ratings predicts how people would rate the model's replies.
    """
    from empathylab.models import DEFAULT_MODEL

    if against is None:
        _refuse_alone(
            {"--judge": judge, "--human-sample": human_sample, "--dimension": dimension}
            | {"--sample": sample, "--judge-base-url": judge_base_url, "--peek": peek}
        )
        _evaluate(
            model or [DEFAULT_MODEL],
            situations,
            mode,
            run,
            as_json=json,
            open_report=open_report,
        )
        return
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


def _refuse_alone(given: Mapping[str, object]) -> None:
    from empathylab.errors import InputError

    for option, value in given.items():
        if value:
            raise InputError(
                "this belongs to a measurement against a study",
                where=option,
                remedy="Name the study with --against; to let models judge: `empathylab judge`.",
            )


def _evaluate(
    names: list[str],
    situations: int,
    mode: Mode,
    run: RunOptions,
    *,
    as_json: bool,
    open_report: bool,
) -> None:
    from empathylab.cli.model_runs import ask, conclude
    from empathylab.cli.summary import print_json, print_summary
    from empathylab.protocols import Appraisal, Responding, plan_appraisal, plan_responding
    from empathylab.scales import builtin_scale
    from empathylab.store import lab_situation_set

    def plans(lab: Lab, asked: Model) -> Sequence[Plan]:
        imagined, dialogues = (lab_situation_set(lab, name) for name in ("appraisal", "dialogues"))
        appraisal = Appraisal(
            builtin_scale("panas"),
            imagined,
            imagined.first_per_group(situations),
            mode=mode,
            temperature=0.0 if run.temperature is None else run.temperature,
            seed=run.seed,
        )
        responding = Responding(
            dialogues,
            dialogues.first_per_group(1),
            temperature=0.7 if run.temperature is None else run.temperature,
            seed=run.seed,
        )
        return [
            plan_appraisal(lab, asked.name, appraisal),
            plan_responding(lab, asked.name, responding),
        ]

    tallies, data, path = ask(names, plans, run)
    (print_json if as_json else print_summary)(data, tallies, path)
    if open_report:
        typer.launch(path.resolve().as_uri())
    conclude(tallies, run)
