"""How often the tags are right, on sentences that rules and classifier never saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import polars as pl

from empathylab.style.tactics.rules import tactic_rules
from empathylab.style.tactics.tagging import tag

PEOPLE, MODELS = "people", "models"
WRITERS = (PEOPLE, MODELS)
PRECISION, RECALL = 0.85, 0.70
"""What a tactic must reach to be compared between respondents."""


@dataclass(frozen=True, slots=True)
class TacticAccuracy:
    """Labels and tags of one tactic, in sentences of one kind of writer or in replies."""

    tactic: str
    writer: str
    both: int
    """Labelled and tagged."""
    only_tagged: int
    only_labelled: int
    neither: int

    @property
    def precision(self) -> float:
        """Of the tagged ones, those that are labelled; NaN without any."""
        return _ratio(self.both, self.tagged)

    @property
    def recall(self) -> float:
        """Of the labelled ones, those that are tagged (the sensitivity); NaN without any."""
        return _ratio(self.both, self.labelled)

    @property
    def specificity(self) -> float:
        """Of those without the label, those that are not tagged; NaN without any."""
        return _ratio(self.neither, self.unlabelled)

    @property
    def tagged(self) -> int:
        """How many are tagged."""
        return self.both + self.only_tagged

    @property
    def labelled(self) -> int:
        """How many have the label."""
        return self.both + self.only_labelled

    @property
    def unlabelled(self) -> int:
        """How many lack the label."""
        return self.neither + self.only_tagged

    @property
    def reliable(self) -> bool:
        """Whether precision and recall are good enough to compare respondents."""
        return self.precision >= PRECISION and self.recall >= RECALL


@cache
def built_in_accuracy() -> tuple[TacticAccuracy, ...]:
    """The built-in tagger's accuracy on its test set, by tactic and kind of writer."""
    text = (files("empathylab.style") / "tactics" / "accuracy.tsv").read_bytes()
    return tuple(TacticAccuracy(*row) for row in pl.read_csv(text, separator="\t").iter_rows())


def labelled_sentences(path: Path) -> pl.DataFrame:
    """The sentences of the file: writer, tactics (a list), sentence."""
    table = pl.read_csv(path, separator="\t", quote_char=None)
    listed = pl.col("tactics").fill_null("").str.split(", ").list.drop_nulls()
    return table.with_columns(tactics=listed)


def sentence_accuracy(sentences: pl.DataFrame) -> list[TacticAccuracy]:
    """How often the built-in tagger is right on labelled sentences, by tactic and writer."""
    table = sentences.with_columns(
        found=pl.Series(map(list, tag(sentences["sentence"].to_list())), dtype=pl.List(pl.String))
    )
    # As plain lists: a list inside a Series is slow to read one by one.
    by_writer = {
        writer: tuple(table.filter(writer=writer)[name].to_list() for name in ("tactics", "found"))
        for writer in WRITERS
    }
    return [
        accuracy(
            tactic,
            writer,
            [tactic in labels for labels in labelled],
            [tactic in tactics for tactics in tagged],
        )
        for tactic in tactic_rules().names
        for writer, (labelled, tagged) in by_writer.items()
    ]


def accuracy(
    tactic: str, writer: str, labelled: Sequence[bool], tagged: Sequence[bool]
) -> TacticAccuracy:
    """The agreement of labels and tags, one of each per sentence or reply."""
    pairs = list(zip(labelled, tagged, strict=True))
    return TacticAccuracy(
        tactic,
        writer,
        both=pairs.count((True, True)),
        only_tagged=pairs.count((False, True)),
        only_labelled=pairs.count((True, False)),
        neither=pairs.count((False, False)),
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
