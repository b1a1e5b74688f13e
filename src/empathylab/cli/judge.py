"""`empathylab judge`: models rate responses as blinded raters, or choose between two."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.cli.examples import examples
from empathylab.cli.options import JsonOption, RunOptions, with_run_options
from empathylab.cli.tables import print_json, print_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from empathylab.judging.asking import Asking
    from empathylab.runs import Plan, Tally
    from empathylab.store import Lab
    from empathylab.store.judged_responses import JudgedResponse

EXAMPLE = examples(
    (
        "empathylab judge openai/gpt-4o-mini --study welivita-2024 --mode logprob",
        "rates a study's replies on its own scale.",
    ),
    (
        "empathylab judge local/smollm2 --set dialogues --sample 10",
        "rates the replies to ten situations by the lab's instructions.",
    ),
    (
        "empathylab judge openai/gpt-4o-mini --study welivita-2024 --pairs",
        "chooses the better of two replies, in both orders.",
    ),
)

_WHAT = "What is judged"
_HOW = "How it is asked"


@with_run_options
def judge(
    model: Annotated[
        list[str], typer.Argument(help="provider/name, or a plugin's judge; several are a panel.")
    ],
    study: Annotated[
        str | None,
        typer.Option(
            help="The responses of this study, by its own instructions and scale.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    situation_set: Annotated[
        str | None,
        typer.Option(
            "--set",
            help="The replies to this set, or to a draw from one, by the lab's instructions.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    respondent: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this respondent, also one who is no arm of the study; repeatable.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    dimension: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this dimension of the study; for a set empathy, understanding, feeling, "
            "caring or helpfulness. Repeatable.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            help="Only so many situations, drawn by the seed, with all replies to each.",
            min=1,
            rich_help_panel=_WHAT,
        ),
    ] = None,
    pairs: Annotated[
        bool,
        typer.Option(
            "--pairs",
            help="Ask which of two replies to a situation is better, in both orders.",
            rich_help_panel=_HOW,
        ),
    ] = False,
    mode: Annotated[
        Literal["structured", "free", "logprob"],
        typer.Option(
            help="Answers as a JSON object; as JSON that is only asked for in words; or as a JSON "
            "object with the probabilities of its points, where the endpoint tells them.",
            rich_help_panel=_HOW,
        ),
    ] = "structured",
    reason: Annotated[
        bool,
        typer.Option("--reason", help="Ask for a reason before the rating.", rich_help_panel=_HOW),
    ] = False,
    repeats: Annotated[
        int, typer.Option(help="How often each is asked.", min=1, rich_help_panel=_HOW)
    ] = 1,
    orders: Annotated[
        int,
        typer.Option(
            help="In how many orders of dimensions and points each reply is rated.",
            min=1,
            rich_help_panel=_HOW,
        ),
    ] = 1,
    retries: Annotated[
        int,
        typer.Option(
            help="How often an unusable answer is asked for again, above temperature 0.",
            min=0,
            rich_help_panel=_HOW,
        ),
    ] = 1,
    json: JsonOption = False,
    *,
    run: RunOptions,
) -> None:
    """Lets models rate responses as raters do, blinded, on the study's own scale.

    Judgements are kept apart from people's ratings. How far they agree with people:
    `empathylab analyze judges`.
    """
    from empathylab.judging.asking import Asking

    asking = Asking(
        mode=mode,
        repeats=repeats,
        temperature=0.0 if run.temperature is None else run.temperature,
        seed=run.seed,
        reason=reason,
        retries=retries,
        max_tokens=run.max_tokens,
    )
    if repeats > 1 and asking.temperature == 0:
        typer.echo(
            "At temperature 0, repeats only show how steady the endpoint is; give --temperature "
            "to see how steady the judge is.",
            err=True,
        )
    chosen = _Chosen(study, situation_set, tuple(respondent or ()), tuple(dimension or ()), sample)
    _judge(model, chosen, asking, run, pairs=pairs, orders=orders, as_json=json)


@dataclasses.dataclass(frozen=True, slots=True)
class _Chosen:
    """What is to be judged, as the options say."""

    study: str | None
    situation_set: str | None
    respondents: tuple[str, ...]
    dimensions: tuple[str, ...]
    sample: int | None

    def source(self) -> str:
        """`study NAME` or `set NAME`."""
        from empathylab.errors import InputError

        if (self.study is None) == (self.situation_set is None):
            raise InputError(
                "one of --study and --set must say what is judged",
                got="both" if self.study else "neither",
                remedy="Give --study NAME, or --set NAME.",
            )
        return f"set {self.situation_set}" if self.study is None else f"study {self.study}"


def _judge(
    names: list[str],
    chosen: _Chosen,
    asking: Asking,
    options: RunOptions,
    *,
    pairs: bool,
    orders: int,
    as_json: bool,
) -> None:
    """Carries out the runs, prints what came of them, and ends with the exit code that fits."""
    from empathylab.cli.model_runs import conclude
    from empathylab.cli.progress import progress
    from empathylab.judging.function_judges import open_judges
    from empathylab.runs import Job
    from empathylab.runs import run as carry_out
    from empathylab.store import Lab

    source = chosen.source()
    prices = options.price_table()
    with Lab.open(options.lab, create=False) as lab:
        plan, replies = _plan(lab, chosen, source, asking, pairs=pairs, orders=orders)
        models = open_judges(names, plan, options.open_models)
        jobs = [
            Job(
                one,
                [plan],
                limits=options.limits(),
                fresh=options.fresh,
                batching=options.batching(),
            )
            for one in models
        ]
        with progress() as observe:
            tallies = carry_out(lab, jobs, prices=prices, observe=observe)
        found = _summary(lab, chosen, [one.name for one in models], replies, pairs=pairs)
    (_print_json if as_json else _print_summary)(found, tallies)
    conclude(tallies, options)


def _plan(
    lab: Lab, chosen: _Chosen, source: str, asking: Asking, *, pairs: bool, orders: int
) -> tuple[Plan, Sequence[JudgedResponse]]:
    from empathylab.judging.instruments import default_instrument, study_instrument
    from empathylab.judging.pairs import Comparing, plan_comparing
    from empathylab.judging.sampling import sampled
    from empathylab.judging.single import Judging, plan_judging
    from empathylab.store.judged_responses import (
        judged_study,
        responses_to_judge,
        select_responses,
        set_responses,
    )

    number = None
    if chosen.study is not None:
        found = judged_study(lab, chosen.study)
        # With the version: a newer one of the same responses is judged for itself.
        named = found.name.removesuffix(f"@{found.version}")
        number, source = found.row, f"study {named} (version {found.version})"
        instrument = study_instrument(found, chosen.dimensions)
        replies = responses_to_judge(lab, found, chosen.respondents)
    else:
        instrument = default_instrument(chosen.dimensions)
        whole = set_responses(lab, chosen.situation_set or "")
        replies = select_responses(whole, chosen.respondents, where=source)
    replies = sampled(replies, chosen.sample, seed=asking.seed)
    if pairs:
        comparing = Comparing(instrument, replies, source, number, asking)
        return plan_comparing(comparing), replies
    return plan_judging(Judging(instrument, replies, source, number, asking, orders)), replies


def _summary(
    lab: Lab, chosen: _Chosen, judges: list[str], replies: Sequence[JudgedResponse], *, pairs: bool
) -> dict[str, Any]:
    """The judges' answers to these replies; by respondent only where no study is under way."""
    import polars as pl

    from empathylab.judging.summaries import preference_summary, rating_summary, win_summary
    from empathylab.store.judged_responses import shown_in_open_study
    from empathylab.store.judgements import lab_judgements, lab_preferences

    mine = [one.response for one in replies]
    hidden = shown_in_open_study(lab, mine)
    read = lab_preferences if pairs else lab_judgements
    frame = read(lab, chosen.study).filter(
        pl.col("judge").is_in(judges),
        pl.col("first_response" if pairs else "response").is_in(mine),
    )
    if chosen.study is None:
        frame = frame.filter(pl.col("study").is_null())
    found: dict[str, Any] = {"source": chosen.source(), "responses": len(mine)}
    if pairs:
        found["judges"] = preference_summary(frame)
        found["respondents"] = [] if hidden else win_summary(frame)
    else:
        # Over the responses of one arm alone, the mean would be that arm's.
        one_arm = bool(chosen.respondents) or len({one.respondent for one in replies}) == 1
        told = not (hidden and one_arm)
        found["judges"] = rating_summary(frame, by_respondent=False, spread=told)
        found["respondents"] = [] if hidden else rating_summary(frame, by_respondent=True)
    found["hidden"] = hidden
    return found


def _print_json(found: dict[str, Any], tallies: list[Tally]) -> None:
    # Not asdict(), which cannot copy a Counter.
    sessions = [
        {field.name: getattr(one, field.name) for field in dataclasses.fields(one)}
        | {"done": one.done, "missing": one.missing}
        for one in tallies
    ]
    print_json(found | {"sessions": sessions})


def _print_summary(found: dict[str, Any], _tallies: list[Tally]) -> None:

    typer.echo(f"{found['source']}: {found['responses']:,} responses\n")
    for part in ("judges", "respondents"):
        if found[part]:
            print_rows([_shown(row) for row in found[part]], part, as_json=False)
            typer.echo("")
    if found["hidden"]:
        typer.echo(
            "A study that shows these responses is still open, so nothing is told by respondent.",
            err=True,
        )
    typer.echo("How far the judges agree with people: empathylab analyze judges", err=True)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """The row with figures as they are read."""
    shown: dict[str, Any] = {}
    for name, value in row.items():
        if name == "shares":
            shown[name] = ", ".join(f"{label} {share:.0%}" for label, share in value.items())
        elif name == "invalid":
            told = ", ".join(f"{count} {what.replace('_', ' ')}" for what, count in value.items())
            shown[name] = told or "none"
        elif name == "steady":
            shown[name] = None if value is None else f"{value:.0%}"
        elif name == "entropy" and value is None:
            continue
        else:
            shown[name] = f"{value:.2f}" if isinstance(value, float) else value
    return shown
