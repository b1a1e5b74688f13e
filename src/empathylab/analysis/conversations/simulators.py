"""How much the simulator decides: rankings under each, and its share of the variance."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import polars as pl

from empathylab.analysis.text.notes import note_text
from empathylab.errors import UserError
from empathylab.stats.conversations import RankAgreement, rank_agreement
from empathylab.stats.mixed import lmm, lmm_contrasts, variance_shares
from empathylab.stats.mixed.linear.means import LmmContrast

_LEAST_PERSONAS = 5


@dataclass(frozen=True, slots=True)
class SimulatorSensitivity:
    """What changes with the simulator."""

    names: tuple[str, ...]
    rankings: dict[str, tuple[str, ...]]
    """Respondents by mean under each simulator, the best first."""
    ranks: RankAgreement
    variance_share: float
    """Of the variance that respondents leave: between simulators; NaN where it is not known."""
    shared: tuple[str, ...]
    """Respondents that talked with two simulators or more."""
    problem: str = ""
    """Why the share is not known."""


@dataclass(frozen=True, slots=True)
class ConversationModel:
    """The mixed model over personas, simulators and repeats."""

    formula: str
    reason: str
    contrasts: tuple[LmmContrast, ...]
    n: int
    dropped: tuple[str, ...] = ()
    problems: tuple[str, ...] = field(default=())


def simulator_sensitivity(
    scored: pl.DataFrame, *, seed: int, confidence: float
) -> SimulatorSensitivity:
    """Rankings, their correlation and the variance share, as far as the data allow."""
    names = tuple(scored["simulator"].unique(maintain_order=True).to_list())
    rankings = {
        name: tuple(
            scored.filter(simulator=name)
            .group_by("respondent", maintain_order=True)
            .agg(pl.col("final").mean())
            .sort("final", descending=True)["respondent"]
        )
        for name in names
    }
    used = scored.group_by("respondent", maintain_order=True).agg(pl.col("simulator").n_unique())
    shared = tuple(used.filter(pl.col("simulator") > 1)["respondent"])
    ranks = rank_agreement(scored, seed=seed, confidence=confidence)
    share, problem = _variance_share(scored.filter(pl.col("respondent").is_in(shared)))
    return SimulatorSensitivity(names, rankings, ranks, share, shared, problem)


def _variance_share(scored: pl.DataFrame) -> tuple[float, str]:
    if not scored.height:
        return math.nan, "no respondent talked with two simulators"
    several = scored["respondent"].n_unique() > 1
    formula = f"final ~ {'respondent' if several else '1'} + (1|simulator) + (1|persona)"
    try:
        fit = lmm(scored.select("final", "respondent", "simulator", "persona"), formula)
    except UserError as error:
        return math.nan, f"the mixed model could not be fitted: {error.what}"
    shares = {variance_share.group: variance_share.share for variance_share in variance_shares(fit)}
    return shares["simulator"], ""


def conversation_model(scored: pl.DataFrame, *, confidence: float) -> ConversationModel | None:
    """The mixed model of final feelings; None where it would add nothing to paired comparisons."""
    personas, simulators = scored["persona"].n_unique(), scored["simulator"].n_unique()
    cells = scored.group_by("respondent", "simulator", "persona").len()
    repeated = bool(cells.height) and int(cells["len"].max() or 0) > 1  # type: ignore[arg-type]
    if scored["respondent"].n_unique() < 2 or personas < _LEAST_PERSONAS:
        return None
    if simulators < 2 and not repeated:
        return None
    used = scored.group_by("respondent").agg(pl.col("simulator").n_unique())
    if simulators > 1 and not used.filter(pl.col("simulator") > 1).height:
        return None  # who replied and who simulated cannot be separated
    parts, dropped = ["(1|persona)"], []
    reason = ["personas differ in how hard they are to help"]
    if simulators > 1:
        parts.append("(1|simulator)")
        reason.append("simulators differ in how easily they are pleased")
    else:
        dropped.append("(1|simulator): there is one simulator")
    if repeated:
        reason.append("repeated conversations with a persona are not independent")
    formula = " + ".join(["final ~ respondent", *parts])
    try:
        columns = scored.select("final", "respondent", "simulator", "persona")
        fit = lmm(columns, formula, confidence=confidence)
        contrasts = lmm_contrasts(fit, "respondent")
    except UserError as error:
        return ConversationModel(
            formula, "; ".join(reason), (), scored.height, tuple(dropped), (error.what,)
        )
    problems = tuple(map(note_text, fit.problems))
    return ConversationModel(
        formula, "; ".join(reason), contrasts, scored.height, tuple(dropped), problems
    )
