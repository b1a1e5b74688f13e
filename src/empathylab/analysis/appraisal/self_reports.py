"""Whether a respondent's questionnaires can be believed, per scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from empathylab.analysis.appraisal.analysis import last_used_runs
from empathylab.scales import Scale, response_pattern
from empathylab.stats.questionnaires.validity import Validity, self_report_validity
from empathylab.store import Lab
from empathylab.store.administrations import Appraisals, read_appraisals, read_positions

_KEY = ["respondent", "scale", "scale_row"]


@dataclass(frozen=True, slots=True)
class SelfReport:
    """One respondent's answers to one scale, weighed."""

    respondent: str
    scale: str
    validity: Validity
    patterns: dict[str, int]
    """Valid administrations that follow the page: straight, counting, long run."""

    @property
    def followed_the_page(self) -> int:
        return sum(self.patterns.values())


def self_reports(lab: Lab, *, only: Collection[int] | None = None) -> list[SelfReport]:
    """The validity of every respondent's answers to every scale; of runs, the one used last.

    `only` narrows it to some administrations, by their numbers.
    """
    return reports_of(lab, read_appraisals(lab), only=only)


def reports_of(
    lab: Lab, read: Appraisals, *, only: Collection[int] | None = None
) -> list[SelfReport]:
    """The same of administrations that have been read."""
    given = read.administrations
    if only is not None:
        given = given.filter(pl.col("administration").is_in(list(only)))
    # People answer once each; there is nothing to tell order or repeats from.
    asked = last_used_runs(given).filter(pl.col("kind") != "human")
    columns = ["administration", "phase", "situation", "order_index", "repeat", *_KEY]
    # A situation and its counterpart are two, not one and its repeat.
    told = pl.when("counterpart").then(pl.col("situation") + " / counterpart")
    values = (
        asked.filter(pl.col("outcome") == "valid")
        .with_columns(situation=pl.coalesce(told, "situation"))
        .select(columns)
        .join(read.answers, on="administration")
        .join(read_positions(lab), on=["administration", "item"])
    )
    answers = values.partition_by(_KEY, as_dict=True, include_key=False, maintain_order=True)
    nothing = values.clear().drop(_KEY)
    return [
        _weighed(key, group, answers.get(key, nothing), read.scales[int(key[2])])
        for key, group in asked.group_by(_KEY, maintain_order=True)
    ]


def _weighed(
    key: tuple[object, ...], asked: pl.DataFrame, answers: pl.DataFrame, scale: Scale
) -> SelfReport:
    patterns = _patterns(answers, scale)
    return SelfReport(
        str(key[0]),
        str(key[1]),
        self_report_validity(
            answers,
            minimum=scale.minimum,
            maximum=scale.maximum,
            reversed=scale.reversed,
            subscales={part.id: part.items for part in scale.subscales},
            administrations=asked.height,
            invalid=asked.filter(pl.col("outcome") != "valid").height,
            patterns=patterns,
        ),
        patterns,
    )


def _patterns(answers: pl.DataFrame, scale: Scale) -> dict[str, int]:
    pages = (
        answers.sort("administration", "position").group_by("administration").agg(pl.col("value"))
    )
    found = (
        response_pattern(page, scale.minimum, scale.maximum) for page in pages["value"].to_list()
    )
    return dict(Counter(pattern for pattern in found if pattern is not None))
