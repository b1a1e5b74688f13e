"""The notes of results in words: each code of `stats` has its sentence here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from empathylab.stats.notes import Note

_UNITS = {"arm": "arm", "rater": "rater", "ratings": "ratings", "rating": "rating"}
_AGREEMENT = {
    "components_unknown": (
        "too few situations with several raters to separate situations, raters and error; let "
        "raters share more situations"
    ),
    "constant_or_few_pairs": "a rater's values do not vary, or fewer than 3 pairs",
    "constant_pair": "both raters always gave the same value",
    "constant_rater": "a rater's values do not vary",
    "constant_situations": "raters differ only in level, and situations do not differ",
    "equal_ratings": "all ratings are the same",
    "few_complete_situations": "{n} situations that every rater rated, 2 needed",
    "few_pairs": "{n} pairs, 3 needed",
    "no_bootstrap": "too many raters for a bootstrap interval",
    "no_raters": "no raters",
    "no_shared_ratings": "no situation was rated by two raters",
    "no_shared_situation": "no situation that both rated",
    "no_variance": "nothing varies",
    "one_rater": "1 rater, 2 needed",
}
_ARMS = {
    "arm_with_one_rater": "an {arm} has a single {rater}",
    "arm_with_one_situation": "an {arm} has a single situation",
    "arm_without_rating": "an {arm} has no {rating}",
    "constant_between_raters": "the {ratings} do not vary between {rater}s",
    "empty_cells": "too many combinations of row and column do not occur",
    "fewer_than_two_columns": "fewer than two columns",
    "fewer_than_two_raters": "fewer than two {rater}s",
    "fewer_than_two_rows": "fewer than two rows",
    "no_counts": "there are no counts",
    "occasion_with_one_value": "an occasion has a single value",
    "one_column": "only one column has counts",
    "one_row": "only one row has counts",
}
_JUDGES = {
    "constant_bias": "it is constant, so the interval has no width",
    "extrapolated": (
        "the judge rates this respondent outside the range of those it was calibrated on: the "
        "line is "
        "extrapolated"
    ),
    "few_clusters": "only {clusters} raters or situations: the interval is rough",
    "few_rows": "too few rows",
    "first_always_preferred": "the reply shown first was always preferred",
    "judge_adds_nothing": "the judge's ratings do not correlate with people's, so they add nothing",
    "judge_unrelated": "the judge's ratings do not rise with people's, so they carry no "
    "information here",
    "no_annotator_tested": (
        "nobody shares {situations} situations with the judge and another person"
    ),
    "no_consistent_level": (
        "no level of the scale is consistent with the judge's ratings on this line"
    ),
    "no_other_responses": "there are no responses by others",
    "no_own_responses": "there are no responses by the judge's own family",
    "nothing_excluded": "the other respondents do not rule out any level for this one",
    "nothing_judged_alone": (
        "no response was rated by the judge alone, so this is people's own mean"
    ),
    "nothing_to_compare": "nothing to compare",
    "one_cluster": "all from one rater or one situation, so there is no interval",
    "one_other_respondent": (
        "people rated a single other respondent: the judge's error on a new one cannot be estimated"
    ),
    "ratings_of_one_cluster": (
        "all ratings come from one rater or one situation: there is no interval"
    ),
    "second_always_preferred": "the reply shown second was always preferred",
    "two_annotators": "with two people, each is compared only with the other; 3 or more are needed",
    "two_other_respondents": "people rated two other respondents only: the interval is very wide",
    "unknown_scale": (
        "not testable: too few replies have two human ratings, or these agree too little, to tell "
        "a bias from a wider scale"
    ),
}
_MIXED = {
    "few_levels": (
        "{group!r} has {levels} levels; a standard deviation from so few is very uncertain, and "
        "intervals are too narrow."
    ),
    "huge_sd": (
        "The standard deviation of {group!r} is {sd:.0f}: its levels almost determine the "
        "ratings, and the approximation fails there."
    ),
    "level_per_rating": (
        "Every rating has its own {group!r}; its standard deviation depends only on the "
        "shape of the latent distribution."
    ),
    "lmm_few_levels": "{group!r} has {levels} levels; a standard deviation from so few is very "
    "uncertain.",
    "lmm_sd_at_boundary": (
        "The standard deviation of {group!r} is estimated at its boundary, 0 (a singular fit): "
        "these ratings show no difference between its levels beyond chance."
    ),
    "lost_levels": "{column!r}: no rows are left for {levels}",
    "means_over_empty_cells": (
        "Some combinations have no rating, so means over them are not determined."
    ),
    "means_over_interaction": (
        "{factors} interacts with {others}: one mean over the other's levels may hide what differs."
    ),
    "no_random_term": (
        "the formula has no random term, so this is ordinary least squares; it treats all "
        "ratings as independent"
    ),
    "no_residual": "The groups explain every rating; nothing is left for the residual.",
    "not_converged": (
        "The search did not converge: the likelihood still rises where it ended (slope "
        "{slope:.2g})."
    ),
    "sd_at_boundary": (
        "The standard deviation of {group!r} is estimated at its boundary, 0: these ratings show "
        "no difference between its levels beyond chance."
    ),
    "sds_not_converged": (
        "The search for the standard deviations did not converge: two groupings may be the same, "
        "or one may have too few ratings per level."
    ),
    "separation": (
        "Perfect separation: {columns} predicts some ratings without error, so the coefficient has "
        "no finite estimate; collect more ratings, merge categories, or remove it from the formula."
    ),
    "singular_curvature": (
        "The curvature of the likelihood is singular: not every parameter is determined by these "
        "ratings, and there are no standard errors."
    ),
    "tested_as_coded": "tested as coded, not averaged over the other factors",
    "tested_at_boundary": "Random effects are tested at the boundary, so p is too large.",
}
_SELF_REPORTS = {
    "constant_items": "{constant} of {items} items do not vary and were left out",
    "constant_sum": "the sum of the items does not vary",
    "content_free": "Answers {answers}: item content explains {content:.0%} of their variance.",
    "equal_answers": "every administration gave all items the same answer",
    "explained": (
        "Item content explains {content:.0%} of the variance of the answers, item position "
        "{position:.0%}."
    ),
    "factor_not_converged": "the one-factor model did not converge",
    "few_administrations": (
        "{administrations} administrations are too few to separate content from position"
    ),
    "few_complete_rows": "{rows} complete rows, {needed} needed",
    "few_items": "{items} items, {needed} needed",
    "few_valid": "Valid administrations: {valid}, fewer than {needed}.",
    "heywood_case": "Heywood case: an item shares all its variance with the factor",
    "low_alpha": (
        "Cronbach's alpha of {scale} is {alpha:.2f} over {n:,} administrations, at most {high:.2f}."
    ),
    "low_retest": (
        "Asked again in the same order, answers correlate at {r:.2f} over {n:,} answers, at most "
        "{high:.2f}."
    ),
    "many_invalid": "{share:.0%} of {administrations} administrations are invalid.",
    "many_patterns": "{share:.0%} of {valid} valid administrations follow a pattern on the page.",
    "one_item_order": "only one item order was used",
    "orders_differ": (
        "Answers to the same item differ between item orders by {difference:.0%} of the range, "
        "{sensitivity:.0%} of the difference expected by chance."
    ),
    "partly_explained": (
        "Item content explains {content:.0%} of the variance of the answers, item position "
        "{position:.0%}; with {orders} item orders, {unassigned:.0%} cannot be assigned to either."
    ),
    "scores_unmoved": "Scores do not differ between situations, which is a valid result.",
    "unknown_positions": "no complete administration has known positions",
}
_ANSWERS = {
    "agree": "agree with all items",
    "middle": "stay near the middle",
    "random": "vary at random",
    "reject": "reject all items",
}
OCCASIONS = {"arm": "occasion", "rater": "situation"}
"""What arms and raters are where two occasions are compared situation by situation."""
TEXTS = {**_AGREEMENT, **_ARMS, **_JUDGES, **_MIXED, **_SELF_REPORTS}


def note_text(note: Note | None, **units: str) -> str:
    """The note in words; empty without one. `units` renames arm, rater and rating."""
    if note is None:
        return ""
    values: dict[str, Any] = dict(note.values)
    if note.code == "content_unknown":
        because = note_text(Note(str(values["because"]), values))
        return f"Item content and item position cannot be separated: {because}."
    if note.code == "empty_left_out":
        sides = [(values["rows"], "row"), (values["columns"], "column")]
        return "; ".join(f"{n} empty {side}{'s'[: n > 1]} left out" for n, side in sides if n)
    if note.code == "aliased_columns":
        names = values["columns"]
        was, it, them = ("was", "it is", "it") if len(names) == 1 else ("were", "they are", "them")
        return (
            f"{_joined(names)} {was} left out, because {it} constant or determined by other "
            f"columns; remove {them} from the formula."
        )
    if note.code == "unused_categories":
        unused = " or ".join(values["categories"])
        return f"{values['column']!r}: no rating is {unused}; the model has no such category"
    if note.code == "means_over_interaction":
        values["factors"] = " and ".join(values["factors"])
    if note.code == "content_free":
        values["answers"] = _ANSWERS[values["answers"]]
    shown = {name: _joined(value) for name, value in values.items()}
    return TEXTS[note.code].format(**{**_UNITS, **units, **shown})


def notes_text(notes: Iterable[Note]) -> str:
    """Several notes in words, joined by semicolons."""
    return "; ".join(map(note_text, notes))


def _joined(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, tuple) else value
