"""The analysis of a rated study as one document: for JSON, for a paper, and for tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from empathylab.analysis.ratings.analysis import RatingsAnalysis
from empathylab.analysis.ratings.collection_periods import collection_rows, collection_sentences
from empathylab.analysis.ratings.mixed_prose import model_methods, model_results
from empathylab.analysis.ratings.mixed_rows import mixed_model_row
from empathylab.analysis.ratings.models import DimensionModel
from empathylab.analysis.ratings.prose import (
    means_paragraph,
    methods_paragraph,
    notes_sentences,
    paired_paragraph,
    results_paragraph,
)
from empathylab.analysis.ratings.rater_prose import (
    exclusions_paragraph,
    mean_robustness,
    model_robustness,
    raters_paragraph,
    robustness_paragraph,
)
from empathylab.analysis.ratings.rows import (
    arm_rows,
    comparison_rows,
    mean_arm_rows,
    mean_rows,
    overall_rows,
    plain,
    subset_rows,
)
from empathylab.stats.arms import ArmComparison
from empathylab.stats.arms.means import MeanComparison
from empathylab.stats.raters.exclusions import declared


def ratings_document(analysis: RatingsAnalysis) -> dict[str, Any]:
    """What `analyze ratings --json` prints."""
    models = [_model_row(one) for one in analysis.models]
    found: dict[str, Any] = {
        "study": analysis.study.name,
        "title": analysis.study.title,
        "design": analysis.study.design,
        "reference": analysis.reference,
        "dimensions": plain(analysis.study.dimensions),
        "n": analysis.ratings.height,
        "collected": {
            "together": not analysis.apart if _dated(analysis) else None,
            "arms": collection_rows(analysis.collected),
        },
        "arms": _arms(analysis.comparison, analysis.means),
        "subsets": subset_rows(analysis.comparison),
        "tests": comparison_rows(analysis.comparison),
        "overall": overall_rows(analysis.comparison),
        "means": mean_rows(analysis.means),
        "paired": plain(analysis.paired),
        "mixed_model": models[0] if models else None,
        "mixed_models": models,
        "raters": _raters(analysis),
        "exclusions": _exclusions(analysis),
        "notes": notes(analysis),
        "paragraphs": paragraphs(analysis),
    }
    return found


def _arms(comparison: ArmComparison, means: Sequence[MeanComparison]) -> list[dict[str, Any]]:
    """Every arm and dimension once: counted where its good ratings are, else with its mean."""
    others = [one for one in means if one.dimension not in comparison.scales]
    return arm_rows(comparison) + mean_arm_rows(others)


def _model_row(one: DimensionModel) -> dict[str, Any]:
    row = {"dimension": one.dimension, "by_valence": one.by_valence, "problem": one.problem}
    if one.model is None:
        return row
    return row | mixed_model_row(one.model, means=["arm"])


def _raters(analysis: RatingsAnalysis) -> dict[str, Any]:
    counts = analysis.inconsistencies
    found: dict[str, Any] = {
        "n": analysis.raters.height,
        "without_ratings": analysis.raters_without_ratings,
        "comparison": plain(analysis.rater_comparison),
        "inconsistencies": None,
    }
    if counts is not None:
        found["inconsistencies"] = {
            "n": counts.n,
            "most_possible": counts.most_possible,
            "counts": dict(_distribution([int(one) for one in counts.counts if one >= 0])),
            "share_without": plain(counts.share_without),
            "share_over_half": plain(counts.share_over_half),
        }
    return found


def _distribution(values: list[int]) -> list[tuple[str, int]]:
    return [(str(value), values.count(value)) for value in sorted(set(values))]


def _exclusions(analysis: RatingsAnalysis) -> dict[str, Any] | None:
    found = analysis.exclusions
    if found is None:
        return None
    return {
        "rules": declared(found.exclusions.rules),
        "counts": plain(found.exclusions.counts),
        "raters": dict(found.exclusions.raters),
        "kept": dict(found.exclusions.kept),
        "alike": plain(found.exclusions.alike),
        "tests": comparison_rows(found.kept),
        "arms": _arms(found.kept, analysis.kept_means),
        "means": mean_rows(analysis.kept_means),
        "mixed_models": [_model_row(one) for one in analysis.kept_models],
    }


def notes(analysis: RatingsAnalysis) -> list[str]:
    """What a reader must know before the numbers, a sentence each."""
    said = notes_sentences(
        analysis.reference,
        assumed=analysis.reference_assumed,
        unrated=analysis.unrated,
        raters_without_ratings=analysis.raters_without_ratings,
        arms=analysis.arms,
    )
    said += [
        f"The study's rule to leave out who {rule} could not be applied, for lack of data."
        for rule in analysis.unmet_rules
    ]
    return [*said, *_collection(analysis)] if analysis.apart else said


def _collection(analysis: RatingsAnalysis) -> list[str]:
    comparable = analysis.rater_comparison is not None
    return collection_sentences(analysis.collected, comparable=comparable)


def _dated(analysis: RatingsAnalysis) -> bool:
    return any(one.first is not None for one in analysis.collected)


def paragraphs(analysis: RatingsAnalysis) -> list[str]:
    """Methods first, then results, ready for a paper."""
    several = len(analysis.dimensions) > 1
    comparison = analysis.comparison
    when = [] if analysis.apart else _collection(analysis)
    said = [" ".join([*notes(analysis), *when])]
    alike = analysis.rater_comparison
    if alike is not None and analysis.apart:
        said.append(raters_paragraph(alike))
    said.append(methods_paragraph(comparison, named=several))
    said += [
        model_methods(one.model, of=one.dimension if several else "")
        for one in analysis.models
        if one.model is not None and not one.by_valence
    ]
    said.append(results_paragraph(comparison, named=several))
    said += [means_paragraph(one) for one in analysis.means]
    if analysis.paired is not None:
        said.append(paired_paragraph(analysis.paired))
    said += [_model_sentence(one, several=several) for one in analysis.models]
    if alike is not None and not analysis.apart:
        said.append(raters_paragraph(alike))
    said += exclusion_paragraphs(analysis)
    return [one for one in said if one]


def exclusion_paragraphs(analysis: RatingsAnalysis) -> list[str]:
    """Who was left out, and whether the results stand without them."""
    if analysis.exclusions is None:
        return []
    exclusions = analysis.exclusions.exclusions
    if not exclusions.excluded:
        return [exclusions_paragraph(exclusions)]
    found = [
        exclusions_paragraph(exclusions),
        robustness_paragraph(analysis.exclusions),
        mean_robustness(analysis.means, analysis.kept_means),
        model_robustness(analysis.models, analysis.kept_models),
    ]
    return [one for one in found if one]


def _model_sentence(one: DimensionModel, *, several: bool) -> str:
    of = f" of {one.dimension}" if several else ""
    if one.model is None:
        return f"No mixed model{of} could be fitted: {one.problem}"
    return f"In the model{of} {one.model.formula}: {model_results(one.model)}"
