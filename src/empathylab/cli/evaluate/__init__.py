"""`empathylab evaluate`: the main job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from empathylab.api.run_options import RunKeywords
from empathylab.cli.evaluate.junit import CommandWithJunit, JunitFile
from empathylab.cli.evaluate.output_options import OutputOptions
from empathylab.cli.examples import examples
from empathylab.cli.options import (
    JsonOption,
    LanguageOption,
    ModeOption,
    OpenOption,
    TrackOption,
    argument,
    command_lab,
    option,
    panel,
    with_run_options,
)
from empathylab.errors import InputError

if TYPE_CHECKING:
    from empathylab.api.evaluation.gates import GateOptions

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
        "scores the replies, and fails if the mean is too low.",
    ),
    (
        "empathylab evaluate openai/gpt-4o-mini --against welivita-2024 --judge style",
        "predicts how a study's raters would have rated the replies.",
    ),
    (
        "empathylab evaluate sweep.yaml --dry-run",
        "shows what a sweep would cost.",
    ),
)

COMMAND = CommandWithJunit

_scores_option = panel("Scores of the replies")
_gate_option = panel("Release gate")
_against_option = panel("Against a study that people rated")


PeekOption = Annotated[
    str | None,
    _against_option(
        "Use a study of this lab before it is closed. The audit log records the reason.",
        metavar="REASON",
    ),
]


@with_run_options
def evaluate(
    model: Annotated[
        list[str] | None,
        argument(
            "provider/name, one or more, or a sweep file (YAML). Default: the embedded model."
        ),
    ] = None,
    situations: Annotated[
        int,
        option("Situations to imagine before a scale, for each of the 8 emotions.", min=1),
    ] = 3,
    replies: Annotated[
        int,
        option("Situations to reply to, for each of the 32 emotions (16 in de and zh).", min=1),
    ] = 1,
    mode: ModeOption = "structured",
    language: LanguageOption = None,
    against: Annotated[
        str | None,
        _against_option(
            "Reply to this study's situations, and estimate how its raters would have rated the "
            "replies.",
            metavar="STUDY",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        _scores_option(
            "The model that scores the replies by the rubric: provider/name, or self. With "
            "--against, the judge that predicts human ratings: provider/name, or style, which is "
            "free; repeatable there.",
            metavar="MODEL",
        ),
    ] = None,
    human_sample: Annotated[
        int | None,
        _against_option(
            "Choose N replies at random for people to rate, and show how to collect the ratings.",
            metavar="N",
            min=1,
        ),
    ] = None,
    dimension: Annotated[
        str | None, _against_option("The rated dimension. Default: the study's first.")
    ] = None,
    sample: Annotated[
        int | None,
        _against_option("Use this many of the study's situations, sampled with the seed.", min=1),
    ] = None,
    judge_base_url: Annotated[
        str | None,
        _scores_option(
            "The judges' endpoint. Default: the judge's provider, or --base-url if the model "
            "has the same provider or the judge's provider is not built in.",
            metavar="URL",
        ),
    ] = None,
    judge_api_key_env: Annotated[
        str | None,
        _scores_option(
            "The environment variable with the judges' key. Default: their provider's "
            "variable, or --api-key-env if they share the model's endpoint.",
            metavar="NAME",
        ),
    ] = None,
    peek: PeekOption = None,
    planted: Annotated[
        int | None,
        _scores_option(
            "Test the judge on replies with planted faults to N situations, at least 2. Default: "
            "all 12.",
            metavar="N",
            min=2,
        ),
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        _gate_option(
            "Exit 1 if a mean score is below this, such as replies.empathy=3.5; repeatable.",
            metavar="METRIC=NUMBER",
        ),
    ] = None,
    max_unusable: Annotated[
        str | None,
        _gate_option(
            "Exit 1 if a larger proportion of requests gets no usable answer, such as 10%.",
            metavar="PERCENT",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        _gate_option(
            "Compare with the replies of this run: its number or name (empathylab runs list).",
            metavar="RUN",
        ),
    ] = None,
    no_worse_than: Annotated[
        float | None,
        _gate_option(
            "Exit 1 unless a paired test shows that empathy is less than this far below the "
            "baseline.",
            metavar="POINTS",
        ),
    ] = None,
    allow_missing_baseline: Annotated[
        bool,
        _gate_option(
            "Pass the comparison if the lab has no such run yet, as in a first build.",
            "--allow-missing-baseline",
        ),
    ] = False,
    name: Annotated[
        str | None,
        _gate_option(
            "Name the run of replies if no answer is missing and no gate fails. An older run "
            "loses the name.",
            metavar="NAME",
        ),
    ] = None,
    junit: Annotated[
        Path | None,
        _gate_option(
            "Write the results of the gates, or the error that stopped the command, to a JUnit "
            "file.",
            metavar="FILE",
        ),
    ] = None,
    track: TrackOption = None,
    dry_run: Annotated[
        bool,
        option(
            "Print requests, tokens and the maximum cost, without asking any model. Needs no API "
            "key.",
            "--dry-run",
        ),
    ] = False,
    summary: Annotated[
        Literal["text", "md"], option("Format of the printed results: text or Markdown.")
    ] = "text",
    json: JsonOption = False,
    open_report: OpenOption = False,
    *,
    lab: Path,
    run: RunKeywords,
) -> None:
    """Measures a model: a scale before and after situations, replies to people, and a report.

    With --judge, a model scores the replies by the rubric, and replies with planted faults test
    the judge. With --against, the model is compared with the human ratings of a study: a
    judge that is calibrated on these ratings predicts how people would rate the model's replies.
    """
    from empathylab.cli.evaluate.gate_options import read_gates
    from empathylab.models import DEFAULT_MODEL

    with JunitFile(junit, markdown=summary == "md" and not json) as file:
        names = model or [DEFAULT_MODEL]
        gates = read_gates(
            fail_under or (),
            max_unusable,
            baseline,
            no_worse_than,
            allow_missing_baseline=allow_missing_baseline,
        )
        output = OutputOptions(json, summary, file, open_report, track)
        if against is not None:
            _refuse_against(gates, junit, language, track, name, dry_run=dry_run)
            from empathylab.cli.evaluate.against import show_against

            with command_lab(lab) as opened:
                comparison = opened.evaluate_against(
                    against,
                    *names,
                    judge=judge or (),
                    dimension=dimension,
                    sample=sample,
                    human_sample=human_sample,
                    mode=mode,
                    peek=peek,
                    judge_base_url=judge_base_url,
                    judge_api_key_env=judge_api_key_env,
                    **run,
                )
            show_against(comparison, output)
            return
        _refuse_alone(
            {"--human-sample": human_sample, "--dimension": dimension}
            | {"--sample": sample, "--peek": peek}
        )
        from empathylab.api.evaluation.measurement import Combination, JudgeOptions
        from empathylab.api.run_options import RunOptions
        from empathylab.cli.evaluate.jobs import Job

        options = RunOptions.of(run)
        way = Combination(
            situations,
            mode,
            temperature=options.temperature,
            seed=options.seed,
            language=language,
            replies=replies,
        )
        scored_by = JudgeOptions(
            _one_judge(judge or []), judge_base_url, planted, judge_api_key_env
        )
        Job(names, way, scored_by, gates, options, name).carry_out(lab, output, dry_run=dry_run)


def _one_judge(judges: list[str]) -> str | None:
    if len(judges) > 1 or "style" in judges:
        raise InputError(
            "only one model can score the replies",
            where="--judge",
            got=", ".join(judges),
            remedy="Name one model. Several judges, and style, need --against.",
        )
    return judges[0] if judges else None


def _refuse_against(
    gates: GateOptions,
    junit: Path | None,
    language: str | None,
    track: str | None,
    name: str | None,
    *,
    dry_run: bool,
) -> None:
    """Refuses what has no meaning in a comparison with a study."""

    if dry_run:
        raise InputError(
            "a comparison with a study has no dry run",
            where="--dry-run",
            remedy="Leave out --dry-run; --max-cost limits the cost.",
        )
    if track is not None:
        raise InputError(
            "a comparison with a study cannot be tracked",
            where="--track",
            got=track,
            remedy="Leave out --track, or --against.",
        )

    if language is not None:
        raise InputError(
            "the study sets the language",
            where="--language",
            got=language,
            remedy="Leave out --language, or --against.",
        )
    if name is not None:
        raise InputError(
            "a comparison with a study has no run of replies for later baselines",
            where="--name",
            got=name,
            remedy="Leave out --name, or --against.",
        )
    if junit is not None or gates != type(gates)():
        raise InputError(
            "gates need rubric scores, which --against does not produce",
            where="--against",
            remedy="Leave out --against, or the gates.",
        )


def _refuse_alone(given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if value:
            raise InputError(
                "this option needs --against",
                where=name,
                remedy="Name the study with --against. To let models rate replies, use "
                "`empathylab judge`.",
            )
