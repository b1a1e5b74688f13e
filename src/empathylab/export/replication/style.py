"""The tables of style, made from exported files: features, and how well authors are identified."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from empathylab.analysis.style.analysis import from_table, report_depth, report_respondents
from empathylab.analysis.style.estimates import StyleEstimates
from empathylab.analysis.style.tables import (
    ACCURACY,
    CORRECTED,
    classification_rows,
    confusion_rows,
    corrected_tactic_rows,
    difference_rows,
    emoji_rows,
    feature_rows,
    feature_values,
    overview_rows,
    recurring_rows,
    relation_rows,
    reuse_rows,
    tactic_accuracy_rows,
    tactic_rows,
    template_rows,
    term_rows,
)
from empathylab.analysis.style.terms import shown_terms
from empathylab.errors import UserError
from empathylab.export.replication.tables import Read, ResultTable, file_name, flat, plain_table


def style_tables(read: Read) -> Iterator[ResultTable]:
    """Every table of style that the report shows; none where nobody wrote anything."""
    responses = read("responses")
    if responses is None:
        return
    counted = responses.filter("counted").sort(pl.col("kind") != "human", maintain_order=True)
    frame = counted.with_columns(situation=pl.format("{}/{}", "set", "situation"))
    described = report_respondents(frame)
    frame = frame.filter(pl.col("respondent").is_in(described.names))
    try:
        result = from_table(
            frame, ratings=_ratings(read), against=described.against, depth=report_depth(counted)
        ).estimates
    except UserError:
        return  # no usable text
    yield from _profiles(result)
    yield from _words(result)
    yield from _authorship(result)
    yield from _tactics(result)
    yield from _rated(result)


def _ratings(read: Read) -> pl.DataFrame | None:
    """People's ratings in studies whose results are shown, by response."""
    ratings, raters, studies = read("ratings"), read("raters"), read("studies")
    responses = read("responses")
    if ratings is None or raters is None or studies is None or responses is None:
        return None
    people = raters.filter(kind="person").select("study", "rater")
    open_to_all = studies.filter(~pl.col("results_hidden"))["study"].to_list()
    rated = ratings.filter(pl.col("study").is_in(open_to_all)).join(
        people, on=["study", "rater"], how="semi", maintain_order="left"
    )
    samples = responses.select("response", "sample").unique("response")
    named = rated.join(samples, on="response", how="left", maintain_order="left").with_columns(
        situation=pl.format("{}/{}", "set", "situation")
    )
    columns = ["respondent", "situation", "sample", "rater", "study", "dimension", "rating"]
    return named.select(columns)


def _profiles(estimates: StyleEstimates) -> Iterator[ResultTable]:
    caption = "How they write, in short: means per response"
    yield from plain_table("style-overview", caption, overview_rows(estimates))
    caption = "Features of style, means per response"
    yield ResultTable("style-features", caption, feature_values(estimates), feature_rows(estimates))
    if estimates.differences:
        values = [flat(difference) for difference in estimates.differences]
        yield ResultTable(
            "style-differences", "Differences in style", values, difference_rows(estimates)
        )


def _words(estimates: StyleEstimates) -> Iterator[ResultTable]:
    used: set[str] = set()
    for item in estimates.distinctive:
        if not shown_terms(item.terms, 1):
            continue
        against = item.against or "the others"
        values = [flat(term) for term in item.terms]
        yield ResultTable(
            f"style-words-{file_name(item.respondent, used)}",
            f"Distinctive words and phrases of {item.respondent}, compared with {against}",
            values,
            term_rows(estimates, item.respondent),
        )
    yield from plain_table("style-emoji", "Emoji per response", emoji_rows(estimates))


def _authorship(estimates: StyleEstimates) -> Iterator[ResultTable]:
    predicted = estimates.predictability
    if predicted is None:
        return
    caption = "Authors and predicted authors: responses by author"
    yield from plain_table("style-told-confusion", caption, confusion_rows(estimates))
    values = [flat(ablation) for ablation in (predicted.full, *predicted.ablations)]
    caption = f"How well authors are identified, in {predicted.folds}-fold cross-validation"
    yield ResultTable("style-told", caption, values, classification_rows(estimates))


def _tactics(estimates: StyleEstimates) -> Iterator[ResultTable]:
    caption = "Proportion of responses with each tactic"
    values = [flat(use) for use in estimates.tactics.uses]
    yield ResultTable("style-tactics", caption, values, tactic_rows(estimates))
    corrected = [flat(use) for use in estimates.tactics.corrected]
    yield ResultTable(
        "style-tactics-corrected", CORRECTED, corrected, corrected_tactic_rows(estimates)
    )
    yield from plain_table("style-tactics-accuracy", ACCURACY, tactic_accuracy_rows(estimates))
    yield from plain_table(
        "style-orders", "The most common tactic sequences", template_rows(estimates)
    )
    yield from plain_table(
        "style-reuse", "How much respondents repeat themselves", reuse_rows(estimates)
    )
    caption = "Repeated opening and closing phrases"
    yield from plain_table("style-openings", caption, recurring_rows(estimates))


def _rated(estimates: StyleEstimates) -> Iterator[ResultTable]:
    used: set[str] = set()
    for item in estimates.rated:
        values = [flat(relation) for relation in item.relations]
        yield ResultTable(
            f"style-rated-{file_name(f'{item.study} {item.dimension}', used)}",
            f"Associations with {item.dimension} ratings of {item.study}",
            values,
            relation_rows(item),
        )
