"""Who rated the arms: what is known about them, and whether the arms' raters are comparable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import polars as pl

from empathylab.analysis.text.apa import bounded, contingency_text, counted, listed, p_text
from empathylab.analysis.text.names import name_of
from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import number
from empathylab.errors import UnknownName
from empathylab.scales import Scale
from empathylab.stats.questionnaires.inconsistency import Inconsistencies, inconsistencies
from empathylab.stats.raters.comparability import (
    CategoricalComparison,
    NumericComparison,
    RaterComparison,
    compare_raters,
)
from empathylab.store import Lab
from empathylab.store.ratings import NOT_STATED, rater_answers_frame, raters_frame
from empathylab.store.scales import lab_scales

INCONSISTENCIES = "inconsistencies"
_NUMBERS = ("age", "seconds")
_PROPERTIES = (
    "sex",
    "gender",
    "country_of_residence",
    "country",
    "ethnicity_simplified",
    "ethnicity",
)
_SIMPLER = {"ethnicity": "ethnicity_simplified", "country": "country_of_residence"}
"""Columns that are not compared where a simpler one is there."""
_LABELS = {
    "teq": "TEQ score",
    "seconds": "time (s)",
    INCONSISTENCIES: "number of inconsistent answers",
    "ethnicity_simplified": "ethnicity",
}
_ADMINISTRATIVE = ("rater", "kind", "arm", "ratings")


def study_raters(lab: Lab, study: str) -> tuple[pl.DataFrame, Inconsistencies | None]:
    """The study's raters with their contradictions, and the contradictions in full."""
    answers = rater_answers_frame(lab, study)
    return with_contradictions(raters_frame(lab, study), answers, lab_scales(lab).values())


def with_contradictions(
    raters: pl.DataFrame, answers: pl.DataFrame | None, scales: Iterable[Scale]
) -> tuple[pl.DataFrame, Inconsistencies | None]:
    """The people among the raters, with how often their answers contradict each other.

    Counted in the questionnaire with reversed items that was answered, the first by name of
    several; None without one.
    """
    people = known_values(raters.filter(kind="person") if "kind" in raters.columns else raters)
    known = {scale.id: scale for scale in scales}
    if answers is None:
        return people, None
    for name in answers["scale"].unique().sort():
        scale = known.get(name)
        if scale is None or not scale.reversed:
            continue
        wide = (
            answers.filter(scale=name)
            .unique(["rater", "item"], keep="last", maintain_order=True)
            .pivot("item", index="rater", values="value", maintain_order=True)
        )
        items = [str(item) for item in range(1, scale.items + 1)]
        if not set(items) <= set(wide.columns):
            continue
        contradictions = inconsistencies(
            wide.select(items),
            reversed_items=sorted(scale.reversed),
            lowest=scale.minimum,
            highest=scale.maximum,
        )
        counts = wide.select("rater", pl.Series(INCONSISTENCIES, contradictions.counts))
        return people.join(counts, on="rater", how="left", maintain_order="left"), contradictions
    return people, None


def known_values(raters: pl.DataFrame) -> pl.DataFrame:
    """The raters with "prefer not to say" and the like as missing, and numbers as numbers.

    A column of numbers and refusals is text in an exported file and mixed in a lab; here it is the
    same in both.
    """
    columns = []
    for column in raters.get_columns():
        if column.dtype != pl.String or column.name in _ADMINISTRATIVE:
            continue
        refused = column.str.strip_chars().str.to_lowercase().is_in(list(NOT_STATED))
        given = raters.select(pl.when(~refused).then(pl.col(column.name))).to_series()
        values = given.cast(pl.Float64, strict=False)
        is_number = given.null_count() < len(given) and values.null_count() == given.null_count()
        columns.append(values if is_number else given)
    return raters.with_columns(columns)


def known_columns(raters: pl.DataFrame) -> list[str]:
    """The columns that hold what is known about the raters."""
    return [name for name in raters.columns if name not in _ADMINISTRATIVE]


def of_one_arm(raters: pl.DataFrame, ratings: pl.DataFrame) -> pl.DataFrame:
    """The raters who gave these ratings; `arm` is the arm they rated, null where several."""
    seen = ratings.group_by("rater").agg(arm=pl.col("arm").unique())
    alone = pl.when(pl.col("arm").list.len() == 1).then(pl.col("arm").list.first())
    joined = raters.drop("arm", strict=False).join(
        seen.with_columns(arm=alone), on="rater", how="inner", maintain_order="left"
    )
    return joined.select("rater", "arm", pl.exclude("rater", "arm"))


def compared_raters(
    raters: pl.DataFrame, reference: str, scales: Iterable[str], extra: Sequence[str] = ()
) -> RaterComparison | None:
    """Each arm's raters against the reference's; None where a rater saw several arms.

    Compared are the totals of the scales, age, time, contradictions, sex, country and ethnicity,
    as far as they are known and vary, and the extra columns.
    """
    if raters["arm"].null_count() or raters["arm"].n_unique() < 2:
        return None
    columns = known_columns(raters)
    for name in extra:
        if name not in columns:
            raise UnknownName("column about raters", name, columns)
    # By name, so that the order is the same in a lab and in its export.
    answered = sorted(set(scales) & set(columns))
    totals = [name for name in answered if raters[name].dtype.is_numeric()]
    properties = [name for name in _PROPERTIES if _SIMPLER.get(name) not in columns]
    usual = [
        name
        for name in (*totals, *_NUMBERS, INCONSISTENCIES, *properties)
        if name in columns and raters[name].drop_nulls().n_unique() > 1
    ]
    names = list(dict.fromkeys([*usual, *extra]))
    if not names:
        return None
    numeric = [name for name in names if raters[name].dtype.is_numeric()]
    categorical = [name for name in names if name not in numeric]
    return compare_raters(raters, numeric=numeric, categorical=categorical, reference=reference)


def study_rater_comparison(lab: Lab, study: str, arms: Sequence[str]) -> RaterComparison | None:
    """The raters of these arms, each arm's against the first's; None where too little is known."""
    raters, _ = study_raters(lab, study)
    # A rater of several arms has none here, and then the arms' raters cannot be compared.
    chosen = pl.col("arm").is_in(list(arms)) | pl.col("arm").is_null()
    rated = raters.filter(chosen, pl.col("ratings") > 0)
    return compared_raters(rated, arms[0], lab_scales(lab))


def raters_paragraph(comparison: RaterComparison) -> str:
    """Whether the arms' raters are comparable, and how far that can be said."""
    groups = [
        f"{number(n, 0)} of {name_of(arm)}"
        for arm, n in zip(comparison.arms, comparison.raters, strict=True)
    ]
    sentences = [f"The raters of the arms were compared ({listed(groups)})."]
    sentences += [_numeric_sentence(item, comparison.alpha) for item in comparison.numeric]
    sentences += [_categorical_sentence(item, comparison.alpha) for item in comparison.categorical]
    tests = len(comparison.numeric) + len(comparison.categorical)
    if tests > 1:
        sentences.append(f"p Holm is corrected over these {tests} tests.")
    return " ".join(sentences)


def _numeric_sentence(comparison: NumericComparison, alpha: float) -> str:
    means = [
        f"{number(arm.mean)} (SD {number(arm.sd)}) in the arm {name_of(arm.arm)}"
        for arm in comparison.arms
        if arm.n
    ]
    text = f"Mean {_label(comparison.variable)} was {listed(means)}"
    if math.isnan(comparison.p):
        return f"{text}; it cannot be tested."
    text += (
        f", Welch's F({comparison.welch.df}, {number(comparison.welch.df_denominator)}) = "
        f"{number(comparison.welch.f, 2)}, {p_text(comparison.p)}, "
        f"{p_text(comparison.p_holm, 'p Holm')}"
    )
    pairs = [pair for pair in comparison.differences if math.isfinite(pair.equivalence.p)]
    if not pairs:
        return f"{text}."
    bound = number(pairs[0].equivalence.bound, 2)
    equivalent_arms = [pair.arm for pair in pairs if pair.equivalence.equivalent]
    if len(equivalent_arms) == len(pairs):
        worst = max(pair.equivalence.p for pair in pairs)
        return f"{text}; equivalent within ±{bound} SD ({p_text(worst, 'TOST p')})."
    open_arms = [name_of(pair.arm) for pair in pairs if not pair.equivalence.equivalent]
    verb = "is" if len(open_arms) == 1 else "are"
    return (
        f"{text}; {listed(open_arms)} {verb} not shown to be equivalent to "
        f"{name_of(pairs[0].reference)} within ±{bound} SD at α = {bounded(alpha)}."
    )


def _label(variable: str) -> str:
    """A column about raters as a paper names it: `time (s)` for `seconds`."""
    return _LABELS.get(variable, variable.replace("_", " "))


def _categorical_sentence(comparison: CategoricalComparison, alpha: float) -> str:
    label = _label(comparison.variable)
    name = f"{label[:1].upper()}{label[1:]}"
    if comparison.test.method == "none":
        note = comparison.test.note
        same = note is not None and note.code in ("one_column", "fewer_than_two_columns")
        why = "it is the same for all raters" if same else note_text(note)
        return f"{name} cannot be compared: {why}."
    verdict = "differed" if comparison.p_holm < alpha else "did not differ detectably"
    text = (
        f"{name} {verdict} between arms, {contingency_text(comparison.test)}, "
        f"{p_text(comparison.p_holm, 'p Holm')}, Cramér's V = "
        f"{bounded(comparison.test.cramers_v.estimate)}"
    )
    if comparison.pooled:
        text += f" ({counted(len(comparison.pooled), 'rare level')} pooled)"
    return f"{text}."
