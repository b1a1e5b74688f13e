"""The estimates of style as tables that people read: rounded, a row per thing."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from empathylab.analysis.style.estimates import RatedStyle, StyleEstimates
from empathylab.analysis.style.feature_titles import OVERVIEW, main_features, meaning
from empathylab.analysis.style.terms import shown_terms, spelled
from empathylab.analysis.text.emoji_names import emoji_name
from empathylab.analysis.text.numbers import number, p_value, signed, with_ends
from empathylab.stats.intervals import Interval, wilson
from empathylab.style.clustered import Slope
from empathylab.style.differences import FeatureDifference, FeatureStanding, feature_profile
from empathylab.style.tactics.accuracy import TacticAccuracy
from empathylab.style.tactics.correction import CorrectedUse
from empathylab.style.tactics.tagging import TacticUse

Rows = list[dict[str, str]]

TOO_RARE = "too rare to test"
_MOST_TERMS, _MOST_EMOJI, _MOST_REPEATED = 20, 30, 5

CORRECTED = "Responses that use a tactic, corrected for tagging errors, with 95% intervals"
ACCURACY = "Precision and recall of the tags, with 95% intervals"
"""Captions of the tables of tactics."""


def percentage(value: float | None, digits: int = 1) -> str:
    """A proportion in percent."""
    return "–" if value is None or math.isnan(value) else f"{number(100 * value, digits)}%"


def overview_rows(estimates: StyleEstimates) -> Rows:
    """How each respondent writes, in a line: means per response."""
    return [
        {"respondent": profile.respondent, "responses": number(profile.responses, 0)}
        | {
            title: number(profile.features[name].mean, 2)
            for name, title in OVERVIEW.items()
            if name in profile.features
        }
        for profile in estimates.profiles
    ]


def feature_rows(estimates: StyleEstimates) -> Rows:
    """Each feature that varies: every respondent's mean with its interval."""
    tested = dict.fromkeys(difference.feature for difference in estimates.differences)
    names = list(tested) if estimates.differences else list(estimates.profiles[0].features)
    rows = []
    for name in names:
        figures = {profile.respondent: profile.features[name] for profile in estimates.profiles}
        if any(figure.mean != 0 for figure in figures.values()):
            cells = {
                # Two digits say nothing about a mark that one response in two hundred has.
                who: with_ends(f.mean, f.low, f.high, digits=2 if abs(f.mean) >= 0.1 else 3)
                for who, f in figures.items()
            }
            rows.append({"feature": meaning(name)} | cells)
    return rows


def feature_values(estimates: StyleEstimates) -> list[dict[str, Any]]:
    """Every respondent's figures for each feature, unrounded, one row each."""
    return [
        {"respondent": profile.respondent, "feature": name} | dataclasses.asdict(figure)
        for profile in estimates.profiles
        for name, figure in profile.features.items()
    ]


def difference_rows(estimates: StyleEstimates, most: int | None = None) -> Rows:
    """The differences between respondents, the largest effect first within each pair.

    `most` of each pair keeps to those whose effect can be estimated.
    """
    return [
        {
            "respondent": item.respondent,
            "against": item.against,
            "feature": meaning(item.feature),
            "mean": number(item.mean, 2),
            "against mean": number(item.against_mean, 2),
            "difference": with_ends(item.difference, item.low, item.high, digits=2, written=signed),
            "d": signed(item.effect, 2),
            "p Holm": p_value(item.p_holm),
        }
        for mine in by_pair(estimates.differences).values()
        for item in (mine if most is None else [o for o in mine if o.effect == o.effect][:most])
    ]


def by_pair(
    differences: Sequence[FeatureDifference],
) -> dict[tuple[str, str], list[FeatureDifference]]:
    """The differences between each two respondents, the largest effect first."""
    pairs: dict[tuple[str, str], list[FeatureDifference]] = {}
    ranked = sorted(
        differences, key=lambda item: -abs(item.effect) if item.effect == item.effect else 0
    )
    for difference in differences:
        pairs[difference.respondent, difference.against] = []
    for item in ranked:
        pairs[item.respondent, item.against].append(item)
    return pairs


def term_rows(estimates: StyleEstimates, respondent: str) -> Rows:
    """A respondent's distinctive words and phrases, as a reader is shown them."""
    [one] = [each for each in estimates.distinctive if each.respondent == respondent]
    return [
        {
            "word or phrase": spelled(term.term),
            "z": number(term.z, 1),
            "uses": number(term.count, 0),
            "per 1,000": number(term.per_thousand, 2),
            "others, per 1,000": number(term.against_per_thousand, 2),
            "situations": number(term.situations, 0),
        }
        for term in shown_terms(one.terms, _MOST_TERMS)
    ]


def confusion_rows(estimates: StyleEstimates) -> Rows:
    """The author of each response, and the author that the classifier predicted."""
    predictability = estimates.predictability
    if predictability is None:
        return []
    return [
        {"written by": writer}
        | {
            f"predicted as {name}": number(count, 0)
            for name, count in zip(predictability.respondents, row, strict=True)
        }
        for writer, row in zip(
            predictability.respondents, predictability.full.confusion, strict=True
        )
    ]


def classification_rows(estimates: StyleEstimates) -> Rows:
    """How well authors are identified, from all of the text and from parts of it."""
    predictability = estimates.predictability
    if predictability is None:
        return []
    return [
        {
            "identified from": "the full text" if part.name == "full" else part.name,
            "accuracy": percentage(part.accuracy),
            "95% interval": f"{percentage(part.low)} to {percentage(part.high)}",
            "macro F1": number(part.macro_f1, 3),
            "chance": percentage(part.chance),
            "p": p_value(part.p),
            "note": part.note,
        }
        for part in (predictability.full, *predictability.ablations)
    ]


def emoji_rows(estimates: StyleEstimates) -> Rows:
    """The most common emoji, with how often each respondent uses them."""
    order = (
        estimates.emoji.group_by("emoji")
        .agg(pl.col("count").sum())
        .sort("count", "emoji", descending=[True, False])["emoji"]
        .head(_MOST_EMOJI)
    )
    rates = {
        (row["respondent"], row["emoji"]): row["per_response"]
        for row in estimates.emoji.iter_rows(named=True)
    }
    return [
        {"emoji": emoji, "name": emoji_name(emoji)}
        | {name: number(rates.get((name, emoji), 0.0), 3) for name in estimates.respondents}
        for emoji in order
    ]


def tactic_rows(estimates: StyleEstimates) -> Rows:
    """The proportion of each respondent's responses that use each tactic, as tagged."""
    tactics = estimates.tactics
    comparable: dict[str, bool] = {}
    for use in tactics.corrected:
        comparable[use.tactic] = comparable.get(use.tactic, True) and use.comparable
    rows = _by_tactic(estimates, tactics.uses)
    for row in rows:
        row["reliable enough to compare"] = "yes" if comparable[row["tactic"]] else "no"
    return rows


def corrected_tactic_rows(estimates: StyleEstimates) -> Rows:
    """The same, corrected for tagging errors; empty where no error rates are known."""
    known = [use for use in estimates.tactics.corrected if use.basis]
    return _by_tactic(estimates, known)


def _by_tactic(estimates: StyleEstimates, uses: Sequence[TacticUse | CorrectedUse]) -> Rows:
    tagged = {use.respondent for use in uses}
    unread = [name for name in estimates.tactics.not_english if name not in tagged]
    rows: dict[str, dict[str, str]] = {}
    for use in uses:
        row = rows.setdefault(
            use.tactic, {"tactic": use.tactic} | dict.fromkeys(unread, "English only")
        )
        row[use.respondent] = with_ends(use.share, use.low, use.high, written=percentage)
    return list(rows.values())


def tactic_accuracy_rows(estimates: StyleEstimates) -> Rows:
    """How often tags are right: on the test set, and on the user's labelled responses."""
    groups = (
        ("test set, sentences of {}", estimates.tactics.accuracy),
        ("labelled responses of {}", estimates.tactics.labelled),
    )
    rows: dict[str, dict[str, str]] = {}
    for source, accuracies in groups:
        for accuracy in accuracies:
            row = rows.setdefault(accuracy.tactic, {"tactic": accuracy.tactic})
            precision, recall = accuracy_intervals(accuracy)
            where = source.format(accuracy.writer)
            row[f"precision, {where}"] = with_ends(
                accuracy.precision, *precision, digits=0, written=percentage
            )
            row[f"recall, {where}"] = with_ends(
                accuracy.recall, *recall, digits=0, written=percentage
            )
    return list(rows.values())


def accuracy_intervals(row: TacticAccuracy) -> tuple[Interval, Interval]:
    """Wilson's 95% intervals of precision and recall."""
    precision = wilson(row.precision, row.tagged)
    recall = wilson(row.recall, row.labelled)
    return Interval(*map(float, precision)), Interval(*map(float, recall))


def template_rows(estimates: StyleEstimates) -> Rows:
    """Each respondent's most common tactic sequences."""
    return [
        {
            "respondent": item.respondent,
            "tactic sequence": " → ".join(template.tactics),
            "responses": number(template.count, 0),
            "percent": percentage(template.share),
        }
        for item in estimates.tactics.templates
        for template in item.commonest[:_MOST_REPEATED]
    ]


def reuse_rows(estimates: StyleEstimates) -> Rows:
    """How much each respondent repeats itself, a row per measure."""
    reuse = estimates.reuse
    rows: dict[str, dict[str, str]] = {}
    # A respondent without a sentence has no tactics.
    recurring = {
        template.respondent: template.recurrence for template in estimates.tactics.templates
    }
    for name, repetition, similarity, opening, closing in zip(
        estimates.respondents, reuse.repetition, reuse.similarity, reuse.openings, reuse.closings,
        strict=True,
    ):  # fmt: skip
        cells = {
            "repeated opening phrases": percentage(opening.near_repeated),
            "repeated closing phrases": percentage(closing.near_repeated),
            f"repeated {repetition.size}-word phrases": percentage(repetition.phrase_repetition),
            "pairs of responses with the same tactic sequence": percentage(
                recurring.get(name, math.nan)
            ),
            "compression (bytes before / after)": number(repetition.compression, 2),
            "mean similarity of two responses (cosine)": number(similarity.estimate, 3),
            "mean similarity to others' responses": number(similarity.to_others, 3),
        }
        for measure, cell in cells.items():
            rows.setdefault(measure, {"measure": measure})[name] = cell
    return list(rows.values())


def recurring_rows(estimates: StyleEstimates) -> Rows:
    """Each respondent's most common opening and closing phrases, near-duplicates together."""
    return [
        {
            "respondent": opening.respondent,
            "where": opening.where,
            "words": spelled(recurring.words),
            "responses": number(recurring.count, 0),
            "word for word": number(recurring.exact, 0),
            "percent": percentage(recurring.share),
        }
        for opening in (*estimates.reuse.openings, *estimates.reuse.closings)
        for recurring in opening.commonest[:_MOST_REPEATED]
    ]


def relation_rows(rated: RatedStyle) -> Rows:
    """The association of features with the rating, by p; features without an interval come last."""
    ranked = sorted(
        rated.relations, key=lambda item: item.within.p if item.within.p == item.within.p else 2.0
    )
    return [
        {
            "feature": meaning(item.feature),
            "alone": _slope(item.alone),
            "same length": _slope(item.length_adjusted),
            "same length and author": _slope(item.within),
            "p corrected": TOO_RARE if item.too_rare else p_value(item.p_joint),
            "ratings": number(item.n, 0),
        }
        for item in ranked
    ]


def feature_standings(estimates: StyleEstimates) -> list[FeatureStanding]:
    """Each respondent's distance from the mean of all, for the main features, in SDs."""
    return feature_profile(estimates.features, columns=list(main_features(estimates)))


def _slope(slope: Slope) -> str:
    return with_ends(slope.estimate, slope.low, slope.high, digits=2, written=signed)
