"""The analysis of a rated study as one document: for JSON, for a paper, and for tables."""

from __future__ import annotations

from typing import Any

from empathylab.report.mixed_rows import mixed_model_row
from empathylab.report.mixed_words import model_methods, model_results
from empathylab.report.ratings_analysis import DimensionModel, RatingsAnalysis
from empathylab.report.ratings_rows import (
    arm_rows,
    comparison_rows,
    overall_rows,
    plain,
    subset_rows,
)
from empathylab.report.ratings_words import (
    exclusions_paragraph,
    methods_paragraph,
    paired_paragraph,
    raters_paragraph,
    results_paragraph,
    robustness_paragraph,
)
from empathylab.stats.exclusions import declared


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
        "arms": arm_rows(analysis.comparison),
        "subsets": subset_rows(analysis.comparison),
        "tests": comparison_rows(analysis.comparison),
        "overall": overall_rows(analysis.comparison),
        "paired": plain(analysis.paired),
        "mixed_model": models[0] if models else None,
        "mixed_models": models,
        "raters": _raters(analysis),
        "exclusions": _exclusions(analysis),
        "paragraphs": paragraphs(analysis),
    }
    return found


def _model_row(one: DimensionModel) -> dict[str, Any]:
    row = {"dimension": one.dimension, "by_valence": one.by_valence, "problem": one.problem}
    if one.model is None:
        return row
    return row | mixed_model_row(one.model, means=["arm"])


def _raters(analysis: RatingsAnalysis) -> dict[str, Any]:
    counts = analysis.inconsistencies
    found: dict[str, Any] = {
        "n": analysis.raters.height,
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
        "arms": arm_rows(found.kept),
    }


def paragraphs(analysis: RatingsAnalysis) -> list[str]:
    """Methods first, then results, ready for a paper."""
    models = [one.model for one in analysis.models if one.model is not None]
    said = [methods_paragraph(analysis.comparison), *(model_methods(one) for one in models[:1])]
    said.append(results_paragraph(analysis.comparison))
    if analysis.paired is not None:
        said.append(paired_paragraph(analysis.paired))
    said += [f"In the model {one.formula}: {model_results(one)}" for one in models]
    if analysis.rater_comparison is not None:
        said.append(raters_paragraph(analysis.rater_comparison))
    if analysis.exclusions is not None:
        said.append(exclusions_paragraph(analysis.exclusions.exclusions))
        said.append(robustness_paragraph(analysis.exclusions))
    return [one for one in said if one]
