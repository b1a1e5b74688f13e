"""Whether a respondent's questionnaires can be believed, per scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from empathylab.analysis.run_selection import chosen_runs
from empathylab.analysis.text.apa import listed
from empathylab.analysis.text.names import listed_some
from empathylab.analysis.text.notes import note_text
from empathylab.scales import Scale, response_pattern
from empathylab.stats.questionnaires.validity import Validity, self_report_validity
from empathylab.store.administrations import Appraisals

_KEY = ["respondent", "scale", "scale_row"]

_MOST_REASONS = 3


@dataclass(frozen=True, slots=True)
class SelfReport:
    """The validity of one respondent's answers to one scale."""

    respondent: str
    scale: str
    validity: Validity
    patterns: Mapping[str, int]
    """Valid administrations that follow the page: straight, counting, long run."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the verdict is what it is, a sentence each."""
        return tuple(map(note_text, self.validity.reasons))


def last_used_runs(administrations: pl.DataFrame) -> pl.DataFrame:
    """Of each respondent's runs of a scale, the one that is shown; and everything imported.

    `run_selection` says which: a pinned one first, then the one over most situations.
    """
    runs = (
        administrations.filter(pl.col("run").is_not_null())
        .group_by("respondent", "scale", "run", maintain_order=True)
        .agg(
            pl.col("run_pinned_at").first().alias("pinned_at"),
            pl.col("situation").drop_nulls().n_unique().cast(pl.Int64).alias("_situations"),
            pl.col("run_mode").first().alias("mode"),
            pl.col("run_used_at").first().alias("_used"),
        )
        .with_columns(_first=pl.lit(False))
    )
    shown = chosen_runs(runs, ["respondent", "scale"])
    return administrations.filter(pl.col("run").is_null() | pl.col("run").is_in(shown))


def self_reports(
    read: Appraisals, positions: pl.DataFrame, *, only: Collection[int] | None = None
) -> list[SelfReport]:
    """The validity of every model's answers to every scale; of several runs, the one used last.

    `positions` comes from `read_positions`. `only` limits it to some administrations.
    """
    given = read.administrations
    if only is not None:
        given = given.filter(pl.col("administration").is_in(list(only)))
    # People answer once each, so neither order effects nor repeats can be estimated.
    asked = last_used_runs(given).filter(pl.col("kind") != "human")
    columns = ["administration", "phase", "situation", "order_index", "repeat", *_KEY]
    # A situation and its counterpart are two situations, not one and its repeat.
    counterpart = pl.when("counterpart").then(pl.col("situation") + " / counterpart")
    values = (
        asked.filter(pl.col("outcome") == "valid")
        .with_columns(situation=pl.coalesce(counterpart, "situation"))
        .select(columns)
        .join(read.answers, on="administration")
        .join(positions, on=["administration", "item"])
    )
    answers = values.partition_by(_KEY, as_dict=True, include_key=False, maintain_order=True)
    nothing = values.clear().drop(_KEY)
    return [
        _self_report(key, group, answers.get(key, nothing), read.scales[int(key[2])])
        for key, group in asked.group_by(_KEY, maintain_order=True)
    ]


def validity_sentences(reports: Sequence[SelfReport]) -> list[str]:
    """A sentence per scale and verdict; respondents with the same reasons are named together."""
    groups: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for report in reports:
        key = (report.scale.upper(), report.validity.verdict, report.reasons)
        groups.setdefault(key, []).append(report.respondent)
    sentences = []
    for kind, count in Counter(key[:2] for key in groups).items():
        if count > _MOST_REASONS:  # what they have in common, before the reasons of each
            named = [name for key, names in groups.items() if key[:2] == kind for name in names]
            scale, verdict = kind
            sentences.append(
                f"The answers of {len(named)} respondents to {scale} are "
                f"{verdict}: {listed_some(named)}."
            )
    for (scale, verdict, reasons), names in groups.items():
        owners = listed([f"{name}'s" for name in names])
        sentences.append(" ".join([f"{owners} answers to {scale} are {verdict}.", *reasons]))
    return sentences


def _self_report(
    key: tuple[object, ...], asked: pl.DataFrame, answers: pl.DataFrame, scale: Scale
) -> SelfReport:
    validity, patterns = validity_and_patterns(answers, asked, scale)
    return SelfReport(str(key[0]), str(key[1]), validity, patterns)


def validity_and_patterns(
    answers: pl.DataFrame, asked: pl.DataFrame, scale: Scale
) -> tuple[Validity, dict[str, int]]:
    """The validity of one respondent's answers to one scale, and which patterns they follow.

    `answers` are those of the valid administrations among `asked`.
    """
    pages = answers.sort("administration", "position").group_by("administration").agg("value")
    by_page = (
        response_pattern(page, scale.minimum, scale.maximum) for page in pages["value"].to_list()
    )
    patterns = dict(Counter[str](pattern for pattern in by_page if pattern is not None))
    validity = self_report_validity(
        answers,
        minimum=scale.minimum,
        maximum=scale.maximum,
        reversed=scale.reversed,
        subscales={part.id: part.items for part in scale.subscales},
        administrations=asked.height,
        invalid=asked.filter(pl.col("outcome") != "valid").height,
        patterns=patterns,
    )
    return validity, patterns
