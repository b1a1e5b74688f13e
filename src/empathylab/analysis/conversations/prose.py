"""What conversations show, in sentences; each names the simulator it holds for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from empathylab.analysis.conversations.estimates import Comparison, RespondentResult
from empathylab.analysis.conversations.frames import PEOPLE
from empathylab.analysis.conversations.people import PeopleCard
from empathylab.analysis.conversations.simulators import ConversationModel, SimulatorSensitivity
from empathylab.analysis.json_values import picked
from empathylab.analysis.results import ALPHA, Conclusion, Kind
from empathylab.analysis.text.apa import bounded, counted, listed, p_text
from empathylab.analysis.text.numbers import number, percent, signed
from empathylab.protocols.converse.outcomes import (
    COMPLETED,
    RESPONDENT_FAULTS,
    SIMULATOR_FAULTS,
)

_MOST_FAULTS = 0.2
"""Of a simulator's conversations: above it the simulator's results are in doubt."""


def score_conclusions(results: Sequence[RespondentResult]) -> list[Conclusion]:
    """Each respondent's mean, under the simulator it was measured with."""
    return [_score(result) for result in results if result.n]


def _score(result: RespondentResult) -> Conclusion:
    ends = ""
    if result.low <= 0 and result.high >= 100:
        ends = " (the 95% interval covers the whole scale)"
    elif math.isfinite(result.low):
        ends = f" (95% CI [{number(result.low)}, {number(result.high)}])"
    counts = ""
    at = "" if result.success_at is None else f" ({result.success_at:g} or more)"
    below = "" if result.failure_below is None else f" (below {result.failure_below:g})"
    if result.success is not None and result.failure is not None:
        counts = f"; {result.success} succeeded{at} and {result.failure} failed{below}"
    who = _simulated_by(result.simulator)
    return Conclusion(
        kind="descriptive",
        sentence=f"{who}, {counted(result.n, 'conversation')} with {result.respondent} ended at "
        f"a mean "
        f"feeling of {number(result.mean_final, 2)}{ends}{counts}.",
        subject=result.respondent,
        subset=result.simulator,
        estimate=result.mean_final,
        low=result.low,
        high=result.high,
        unit="points",
        n=result.n,
        model="mean with a t interval over personas",
        basis=f"{counted(result.n, 'conversation')} with {counted(result.personas, 'persona')}",
    )


def _simulated_by(simulator: str) -> str:
    return "With real people" if simulator == PEOPLE else f"With {simulator} as simulator"


def title_with_simulator(title: str, results: Sequence[RespondentResult]) -> str:
    """The title of scores, with their simulator where it is the same for all.

    Several simulators are named beside the scores.
    """
    names = {result.simulator for result in results if result.n}
    if len(names) != 1:
        return title
    [name] = names
    return f"{title}, {'real people' if name == PEOPLE else f'simulator {name}'}"


def comparison_conclusions(comparisons: Sequence[Comparison]) -> list[Conclusion]:
    """Each pair, with its corrected p."""
    return [_compared(item) for item in comparisons]


def moved_by_simulators(comparisons: Sequence[Comparison]) -> list[Conclusion]:
    """The respondent that differs most between two simulators."""
    across = [item for item in comparisons if item.kind == "simulators"]
    return (
        [_compared(max(across, key=lambda item: abs(item.difference.estimate)))] if across else []
    )


def _compared(comparison: Comparison) -> Conclusion:
    test = comparison.difference
    points = number(abs(test.estimate))
    how = "paired by persona" if test.paired else "with different personas"
    across = comparison.kind == "simulators"
    kind: Kind = "inconclusive"
    personas = counted(test.n, "persona")
    tested = f", which cannot be tested ({personas}; too few, or all differ by the same amount)"
    if math.isfinite(test.p):
        if comparison.p_holm < ALPHA:
            kind = "different" if across else "better" if test.estimate > 0 else "worse"
        tested = "" if comparison.p_holm < ALPHA else ", which could be chance"
        tested += (
            f" (95% CI [{signed(test.low)}, {signed(test.high)}], "
            f"{p_text(comparison.p_holm, 'p (Holm)')}, {how}, {personas})"
        )
    other = f"with {comparison.reference_simulator}" if across else f"with {comparison.reference}"
    apart = f"{points} points {'higher' if test.estimate > 0 else 'lower'} than"
    if test.estimate == 0:
        apart = "on average the same as"
    sentence = (
        f"{_simulated_by(comparison.simulator)}, conversations with {comparison.respondent} ended "
        f"{apart} {other}{tested}."
    )
    return Conclusion(
        kind=kind,
        sentence=sentence,
        subject=comparison.respondent,
        reference=comparison.reference_simulator if across else comparison.reference,
        subset=comparison.simulator,
        **picked(test, "estimate low high"),
        unit="points",
        p=test.p,
        p_adjusted=comparison.p_holm,
        n=test.n,
        model="paired t test over personas" if test.paired else "Welch's t test over personas",
        basis=counted(test.n, "persona"),
    )


def model_conclusions(
    model: ConversationModel | None, simulators: Sequence[str]
) -> list[Conclusion]:
    """The mixed model's contrasts, over all simulators named."""
    if model is None:
        return []
    used = listed(list(simulators))
    conclusions = []
    for contrast in model.contrasts:
        clear = contrast.p_corrected < ALPHA
        direction = "higher" if contrast.estimate > 0 else "lower"
        result = (
            f"ended {number(abs(contrast.estimate))} points {direction} than"
            if clear
            else f"differed by {signed(contrast.estimate)} points, which could be chance, from"
        )
        conclusions.append(
            Conclusion(
                kind=("better" if contrast.estimate > 0 else "worse") if clear else "inconclusive",
                sentence=f"Over personas and the simulators {used}, conversations with "
                f"{contrast.level} {result} those with {contrast.other} (95% CI "
                f"[{signed(contrast.low)}, "
                f"{signed(contrast.high)}], {p_text(contrast.p_corrected, 'p (Holm)')}, mixed "
                f"model).",
                subject=contrast.level,
                reference=contrast.other,
                subset=used,
                **picked(contrast, "estimate low high"),
                unit="points",
                p=contrast.p,
                p_adjusted=contrast.p_corrected,
                n=model.n,
                model=model.formula,
                basis=counted(model.n, "conversation"),
            )
        )
    return conclusions


def simulator_conclusions(sensitivity: SimulatorSensitivity) -> list[Conclusion]:
    """How much depends on the simulator."""
    conclusions = []
    used = listed(list(sensitivity.names))
    ranks = sensitivity.ranks
    if math.isfinite(ranks.correlation):
        conclusions.append(
            Conclusion(
                kind="descriptive",
                sentence=f"The rankings under {used} correlate at {bounded(ranks.correlation)} "
                f"(Spearman, 95% CI [{bounded(ranks.low)}, {bounded(ranks.high)}], up to "
                f"{counted(ranks.respondents, 'shared respondent')}).",
                subject="simulators",
                estimate=ranks.correlation,
                low=ranks.low,
                high=ranks.high,
                unit="correlation",
                n=ranks.respondents,
                model="Spearman's rank correlation, bootstrap over personas",
            )
        )
    if math.isfinite(sensitivity.variance_share):
        conclusions.append(
            Conclusion(
                kind="descriptive",
                sentence=f"The simulator ({used}) accounts for "
                f"{percent(sensitivity.variance_share)} of the variance of final feelings that "
                "respondents do not explain.",
                subject="simulators",
                estimate=sensitivity.variance_share,
                unit="proportion",
                n=len(sensitivity.names),
                model="linear mixed model, random intercepts of simulator and persona",
            )
        )
    return conclusions


def people_conclusions(cards: Sequence[PeopleCard]) -> list[Conclusion]:
    """Each simulator beside people."""
    return [
        Conclusion(
            kind="descriptive",
            sentence=card.sentence,
            subject=card.simulator,
            reference="people",
            estimate=card.correlation,
            low=card.low,
            high=card.high,
            unit="correlation",
            n=card.units,
            model="Pearson's correlation, bootstrap over conversations",
            basis=counted(card.ratings, "rating"),
        )
        for card in cards
    ]


def caveats(
    results: Sequence[RespondentResult],
    sensitivity: SimulatorSensitivity,
    model: ConversationModel | None,
    *,
    unvalidated: bool,
    compared: bool = False,
) -> list[str]:
    """What limits all conclusions, the most important first."""
    sentences = []
    simulated = [name for name in sensitivity.names if name != PEOPLE]
    if simulated and not compared:
        sentences.append(
            "Feelings are what a simulator says a person would feel. They do not measure real "
            "people until the simulator has been compared with people's ratings."
        )
    if len(simulated) == 1:
        sentences.append(
            f"All results rest on one simulator, {simulated[0]}. With another simulator, the "
            "mean of a respondent can differ by 20 points: repeat with a second simulator "
            "before you draw a conclusion."
        )
    elif len(simulated) > 1 and not sensitivity.shared:
        sentences.append(
            "No respondent talked with two simulators, so respondents and simulators cannot be "
            "separated: compare only results of the same simulator. If a file names the same "
            "model differently, rename it at import."
        )
    elif sensitivity.problem and len(simulated) > 1:
        sentences.append(
            f"The simulator's share of the variance is unknown: {sensitivity.problem}."
        )
    elif 1 < len(simulated) < 5:
        sentences.append(
            f"The simulator's share of the variance rests on {len(simulated)} simulators, so it "
            "is a rough figure."
        )
    if len(simulated) > 1 and sensitivity.shared and not sensitivity.ranks.pairs:
        sentences.append(
            "A correlation between the rankings of two simulators needs three shared respondents; "
            f"here they share {sensitivity.ranks.respondents}."
        )
    sentences += _fault_caveats(results)
    if unvalidated:
        sentences.append("The personas are written, not sampled from people, and not validated.")
    if model is not None and model.problems:
        sentences.append(f"Mixed model: {' '.join(model.problems)}")
    return sentences


def _fault_caveats(results: Sequence[RespondentResult]) -> list[str]:
    sentences = []
    for result in results:
        total = sum(result.outcomes.get(name, 0) for name in result.outcomes) - result.flagged
        broken = {
            name: count for name, count in result.outcomes.items() if name in SIMULATOR_FAULTS
        }
        own = {name: count for name, count in result.outcomes.items() if name in RESPONDENT_FAULTS}
        pair = f"{result.respondent} with {result.simulator}"
        if result.flagged:
            kinds = _kinds({name: n for name, n in result.outcomes.items() if name != COMPLETED})
            sentences.append(
                f"{pair}: {result.flagged} of {result.n} scored conversations show a fault "
                f"({kinds}); "
                f"the published scores include them; without them the mean is "
                f"{number(result.mean_unflagged)}."
            )
            continue
        if broken and sum(broken.values()) > _MOST_FAULTS * total:
            sentences.append(
                f"{pair}: the simulator failed in {sum(broken.values())} of {total} conversations "
                f"({_kinds(broken)}), which are not scored."
                + " The remaining ones are a selection."
                * (result.n > 0)
            )
        if own:
            sentences.append(
                f"{pair}: the respondent broke off {sum(own.values())} of {total} conversations "
                f"({_kinds(own)}), which are not scored. If they counted as 0, the mean would be "
                f"{number(result.mean_with_faults)}."
            )
    return sentences


def _kinds(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} × {name.replace('_', ' ')}" for name, count in counts.items())
