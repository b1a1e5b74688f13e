"""`empathylab stats power`: how large a study must be, and what one of a given size shows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.cli.options import EngineOption, JsonOption, WorkersOption, option, panel
from empathylab.cli.tables import print_json
from empathylab.errors import InputError

if TYPE_CHECKING:
    from empathylab.stats.power.simulation import PlannedStudy, SimulatedPower

_chi_square_option = panel("Chi-square test")
_shares_option = panel("Proportions of good ratings")
_raters_option = panel("Raters with several ratings")
_simulation_option = panel("Simulation with the ordinal mixed model")

EXAMPLE = (
    "Examples: `empathylab stats power --effect-w 0.3 --df 8` · "
    "`empathylab stats power --share 0.65 --share-reference 0.5 --icc 0.1` · "
    "`empathylab stats power --odds-ratio 1.5 --raters 50 --rater-sd 0.5`"
)


def power(
    power: Annotated[float, option("The target power.", min=0.0, max=1.0)] = 0.95,
    alpha: Annotated[float, option("The significance level.", min=0.0, max=1.0)] = 0.05,
    n: Annotated[
        int | None,
        option(
            "Independent observations: in total (chi-square) or per arm (proportions). Computes "
            "the power or, without an effect or proportions, the smallest effect it detects.",
            "--n",
            min=1,
        ),
    ] = None,
    effect_w: Annotated[
        float | None, _chi_square_option("Cohen's w: .1 small, .3 medium, .5 large.")
    ] = None,
    df: Annotated[int, _chi_square_option("(rows − 1) × (columns − 1) of the table.", min=1)] = 1,
    share: Annotated[
        float | None, _shares_option("Proportion of good ratings in the new arm.")
    ] = None,
    share_reference: Annotated[
        float | None, _shares_option("Proportion of good ratings in the reference arm.")
    ] = None,
    margin: Annotated[
        float | None,
        _shares_option("Target half-width of the interval. Computes the number of raters."),
    ] = None,
    ratings_per_rater: Annotated[
        int, _raters_option("Number of ratings per rater, in all arms.", min=1)
    ] = 10,
    icc: Annotated[
        float,
        _raters_option(
            "Intraclass correlation of one rater's ratings, 0 to 1; about .1 in published studies."
        ),
    ] = 0.1,
    odds_ratio: Annotated[
        float | None,
        _simulation_option(
            "Odds ratio of higher ratings in the arm; 1 gives the false-positive rate."
        ),
    ] = None,
    raters: Annotated[
        int | None,
        _simulation_option("Number of raters: per arm between subjects, in total within subjects."),
    ] = None,
    rater_sd: Annotated[float, _simulation_option("Standard deviation of raters (logits).")] = 0.5,
    situation_sd: Annotated[
        float, _simulation_option("Standard deviation of situations (logits).")
    ] = 0.0,
    situations: Annotated[
        int | None, _simulation_option("Number of situations. Default: as many as ratings per arm.")
    ] = None,
    shares: Annotated[
        str,
        _simulation_option(
            "Proportions of the reference's ratings, worst to best, separated by commas."
        ),
    ] = "0.17,0.34,0.49",
    design: Annotated[
        Literal["between", "within"], _simulation_option("Whether a rater sees one arm or both.")
    ] = "between",
    simulations: Annotated[int, _simulation_option("Number of simulated studies.", min=1)] = 200,
    seed: Annotated[int, _simulation_option("Seed of the simulation.")] = 1,
    engine: EngineOption = None,
    workers: WorkersOption = None,
    json: JsonOption = False,
) -> None:
    """Computes how many observations or raters a study needs, or what a given size detects.

    Give an effect size (--effect-w), two proportions, a margin, or an odds ratio with the number of
    raters (a simulation with the ordinal mixed model).
    """
    from empathylab.compute import choose

    choose(engine, workers)
    if odds_ratio is not None:
        from empathylab.stats.power.simulation import PlannedStudy

        if raters is None:
            raise InputError(
                "a simulation needs the number of raters", remedy="Add --raters, such as 50."
            )
        plan = PlannedStudy(
            raters,
            ratings_per_rater,
            odds_ratio,
            rater_sd,
            situation_sd,
            _shares(shares),
            situations,
            design,
        )
        _answer(*_simulated(plan, simulations, alpha, seed), json)
    elif margin is not None:
        _answer(*_precision(margin, share, share_reference, ratings_per_rater, icc), json)
    elif share is not None or share_reference is not None:
        if share is None or share_reference is None:
            raise InputError(
                "a comparison needs two proportions", remedy="Give --share and --share-reference."
            )
        _answer(
            *_two_shares((share, share_reference), n, power, alpha, ratings_per_rater, icc), json
        )
    elif effect_w is not None or n is not None:
        _answer(*_chi_square(effect_w, n, power, alpha, df), json)
    else:
        raise InputError(
            "there is no effect to compute the power for",
            remedy="Give --effect-w, --share and --share-reference, --margin, --n, or "
            "--odds-ratio with --raters.",
        )


def _chi_square(
    w: float | None, n: int | None, power: float, alpha: float, df: int
) -> tuple[dict[str, Any], str]:
    from empathylab.analysis.json_values import json_value
    from empathylab.analysis.text.power import chi_square_sentence
    from empathylab.stats.power.analytic import (
        chi_square_power,
        chi_square_sample_size,
        detectable_effect,
    )

    if w is None:
        result = detectable_effect(n or 1, power=power, df=df, alpha=alpha)
    elif n is None:
        result = chi_square_sample_size(w, power=power, df=df, alpha=alpha)
    else:
        result = chi_square_power(w, n, df=df, alpha=alpha)
    return {"chi_square": json_value(result)}, chi_square_sentence(result)


def _two_shares(
    shares: tuple[float, float],
    n: int | None,
    power: float,
    alpha: float,
    ratings_per_rater: int,
    icc: float,
) -> tuple[dict[str, Any], str]:
    from empathylab.analysis.json_values import json_value
    from empathylab.analysis.text.power import raters_sentence, two_shares_sentence
    from empathylab.stats.power.analytic import (
        raters_for_power,
        two_shares_power,
        two_shares_sample_size,
    )

    if n is not None:
        given = two_shares_power(*shares, n, alpha=alpha)
        return {"two_shares": json_value(given)}, two_shares_sentence(given)
    sample = two_shares_sample_size(*shares, power=power, alpha=alpha)
    raters = raters_for_power(
        *shares, power=power, alpha=alpha, ratings_per_rater=ratings_per_rater, icc=icc
    )
    words = f"{two_shares_sentence(sample)} {raters_sentence(raters)}"
    return {"two_shares": json_value(sample), "raters": json_value(raters)}, words


def _precision(
    margin: float,
    share: float | None,
    share_reference: float | None,
    ratings_per_rater: int,
    icc: float,
) -> tuple[dict[str, Any], str]:
    from empathylab.analysis.json_values import json_value
    from empathylab.analysis.text.numbers import number
    from empathylab.analysis.text.power import raters_sentence
    from empathylab.stats.power.analytic import raters_for_precision

    raters = raters_for_precision(
        margin,
        share=0.5 if share is None else share,
        share_reference=share_reference,
        ratings_per_rater=ratings_per_rater,
        icc=icc,
    )
    of_what = (
        "an arm's proportion of good ratings"
        if share_reference is None
        else "the difference between two arms' proportions of good ratings"
    )
    first = (
        f"The target is a 95% interval of {of_what} of ±{number(100 * margin)} percentage points."
    )
    return {"raters": json_value(raters)}, f"{first} {raters_sentence(raters)}"


def _simulated(
    plan: PlannedStudy, simulations: int, alpha: float, seed: int
) -> tuple[dict[str, Any], str]:
    from empathylab.analysis.json_values import json_value
    from empathylab.analysis.text.power import simulation_sentences

    simulation = _with_progress(plan, simulations, alpha, seed)
    return {"simulation": json_value(simulation)}, simulation_sentences(simulation)


def _with_progress(plan: PlannedStudy, simulations: int, alpha: float, seed: int) -> SimulatedPower:
    from rich.console import Console
    from rich.progress import Progress

    from empathylab.stats.power.simulation import simulated_power

    with Progress(
        console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
    ) as progress:
        task = progress.add_task("simulating studies", total=simulations)
        return simulated_power(
            plan,
            simulations=simulations,
            alpha=alpha,
            seed=seed,
            tick=lambda: progress.advance(task),
        )


def _shares(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(
            "--shares must be numbers separated by commas",
            got=text,
            remedy="For example: 0.17,0.34,0.49.",
        ) from error


def _answer(content: dict[str, Any], words: str, json: bool) -> None:
    if json:
        print_json({**content, "words": words})
    else:
        typer.echo(words)
