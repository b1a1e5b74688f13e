"""The entries of a leaderboard: who is measured by people, and who by which judge."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import polars as pl

from empathylab.analysis.benchmark.estimates import measure_respondent, measured_by_people
from empathylab.analysis.benchmark.frames import FEWEST_RATINGS, Judgements, ReferenceRatings
from empathylab.analysis.benchmark.measurements import Measurement
from empathylab.analysis.benchmark.ranking import Entry
from empathylab.analysis.benchmark.style_judge import style_predictions
from empathylab.analysis.judges.analysis import PANEL
from empathylab.analysis.judges.prose import several_setups
from empathylab.analysis.judges.style_judge import STYLE_JUDGE
from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.store.judged_responses import response_days


@dataclass(frozen=True, slots=True)
class EntryBuilder:
    """What the entries of one study need, read once for all respondents."""

    lab: Lab
    reference: ReferenceRatings
    judgements: Judgements
    replies: Mapping[str, pl.DataFrame]
    """Of each respondent."""
    days: dict[str, tuple[date | None, date | None]]
    judge: str | None
    known: tuple[Measurement, ...]
    notes: list[str]
    panels: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    """Whose mean is used, for each respondent that several judged."""
    style: bool = True
    """Whether the style judge is used where no model judged."""

    def of_people(self, name: str) -> Entry:
        """A respondent rated by people, with a judge where some replies have no rating."""
        replies = self.replies[name]
        rated = self.reference.people.filter(respondent=name)["response"].n_unique()
        if len(replies) > rated:
            predicted = self.judgements.predicted(self._wanted, replies)
            if chosen := _chosen_judge(predicted, replies):
                measurement = self._predicted(name, replies, chosen)
                # A judge that rated nothing but what people rated adds nothing.
                if measurement.basis == "people and judge":
                    self._add_note(name, chosen, predicted)
                    return self._entry(name, measurement, replies)
        return self._entry(name, measured_by_people(self.reference, name, parts=False), replies)

    def of_newcomers(self, names: Sequence[str]) -> list[Entry]:
        """Respondents that no person rated, as far as a judge rated them."""
        replies = {name: self.replies[name] for name in names}
        few = [name for name, rows in replies.items() if len(rows) < FEWEST_RATINGS]
        if few:
            self.notes.append(
                f"Excluded, with usable replies to fewer than {FEWEST_RATINGS} of the study's "
                f"situations: {', '.join(few)}."
            )
        kept = {name: rows for name, rows in replies.items() if name not in few}
        if not kept:
            return []
        measurements = {}
        for name, rows in list(kept.items()):
            try:
                measurements[name] = self._by_models(name, rows)
            except InputError as error:
                self.notes.append(f"{name} is excluded: {error}")
                del kept[name]
        bare = [name for name, known in measurements.items() if known is None]
        if bare and self.style and self.judge in (None, STYLE_JUDGE):
            if self.judge is None and not self.judgements.predicted().is_empty():
                self.notes.append(
                    f"No model has rated enough of {', '.join(bare)} and of what people rated: "
                    "the style judge is used instead, which is a weak baseline."
                )
            measurements |= self._by_style({name: kept[name] for name in bare})
        missing = [name for name, known in measurements.items() if known is None]
        if missing:
            self.notes.append(
                f"Excluded, because no judge has rated them: {', '.join(missing)}. "
                f"Run `empathylab evaluate MODEL --against {self.reference.study.name} "
                "--judge MODEL`."
            )
        return [
            self._entry(name, measurement, kept[name])
            for name, measurement in measurements.items()
            if measurement is not None
        ]

    def _by_models(self, name: str, replies: pl.DataFrame) -> Measurement | None:
        predicted = self.judgements.predicted(self._wanted, replies)
        chosen = _chosen_judge(predicted, replies, self.reference.people)
        known = [item for item in self._known(name) if item.judge not in (STYLE_JUDGE, PANEL)]
        if chosen is None:
            return known[0] if known else None
        same = [item for item in known if item.judge == chosen.judge]
        measurement = same[0] if same else self._predicted(name, replies, chosen)
        self._add_note(name, chosen, predicted)
        return measurement

    @property
    def _wanted(self) -> list[str] | None:
        return None if self.judge in (None, PANEL) else [str(self.judge)]

    def _add_note(self, name: str, chosen: _JudgeChoice, predicted: pl.DataFrame) -> None:
        """Adds what to know of the judges, once, and keeps the members of a panel."""
        notes = list(setup_notes(predicted.filter(pl.col("judge").is_in(chosen.members))))
        if chosen.judge == PANEL:
            self.panels[name] = chosen.members
            members = ", ".join(chosen.members)
            notes.append(f"The judge {PANEL} is the mean of {members}.")
        self.notes.extend(note for note in notes if note not in self.notes)

    def _predicted(self, name: str, replies: pl.DataFrame, chosen: _JudgeChoice) -> Measurement:
        measurement = measure_respondent(
            self.reference, name, replies, chosen.predicted, judge=chosen.judge, parts=False
        )
        members = chosen.members if chosen.judge == PANEL else ()
        return dataclasses.replace(measurement, members=members)

    def _known(self, name: str) -> list[Measurement]:
        return [
            item
            for item in self.known
            if item.respondent == name and self.judge in (None, item.judge)
        ]

    def _by_style(self, replies: dict[str, pl.DataFrame]) -> dict[str, Measurement | None]:
        done: dict[str, Measurement | None] = {
            name: item
            for name in replies
            for item in self._known(name)
            if item.judge == STYLE_JUDGE
        }
        rest = {name: rows for name, rows in replies.items() if name not in done}
        return done | (self._trained(rest) if rest else {})

    def _trained(self, replies: dict[str, pl.DataFrame]) -> dict[str, Measurement | None]:
        try:
            # People rated none of these, so one training serves them all.
            predictions = style_predictions(self.reference, pl.concat(replies.values()), "")
        except InputError as error:
            self.notes.append(f"The style judge is skipped: {error}")
            return dict.fromkeys(replies)
        return {
            name: measure_respondent(
                *(self.reference, name, rows, predictions.predicted),
                judge=STYLE_JUDGE,
                left_out=predictions.left_out,
                parts=False,
            )
            for name, rows in replies.items()
        }

    def _entry(self, name: str, measurement: Measurement, replies: pl.DataFrame) -> Entry:
        unknown = (None, None)
        rated = unknown if measurement.basis == "judge" else self.days.get(name, unknown)
        judged = None
        if measurement.judge == STYLE_JUDGE:
            judged = response_days(self.lab, replies["response"].to_list())
        elif measurement.judge is not None:
            judged = self.judgements.days(self.panels.get(name, (measurement.judge,)), replies)
        head = measurement.headline
        count = head.n_judged + self.reference.people.filter(respondent=name)["response"].n_unique()
        return Entry(name, measurement, count, *rated, *(judged or unknown))


@dataclass(frozen=True, slots=True)
class _JudgeChoice:
    """The judge that is used instead of people, and its ratings."""

    judge: str
    members: tuple[str, ...]
    predicted: pl.DataFrame


def _chosen_judge(predicted: pl.DataFrame, *needed: pl.DataFrame) -> _JudgeChoice | None:
    """The judge that rated enough of all that is needed, or the mean of those that did.

    Where these have too little in common, the one that rated the most. How well they do plays no
    part.
    """
    enough = [
        str(item)
        for item in predicted["judge"].unique(maintain_order=True)
        if all(_covers(predicted.filter(judge=item), rows) for rows in needed)
    ]
    means = together(predicted.filter(pl.col("judge").is_in(enough)))
    if len(enough) > 1 and all(_covers(means, rows) for rows in needed):
        return _JudgeChoice(PANEL, tuple(sorted(enough)), means)
    most = max(enough, key=lambda item: (predicted.filter(judge=item).height, item), default=None)
    if most is None:
        return None
    return _JudgeChoice(most, (most,), together(predicted.filter(judge=most)))


def _covers(predicted: pl.DataFrame, replies: pl.DataFrame) -> bool:
    """Whether the judge rated enough of the replies."""
    return (
        replies.join(predicted, on="response", how="semi")["response"].n_unique() >= FEWEST_RATINGS
    )


def setup_notes(predicted: pl.DataFrame) -> tuple[str, ...]:
    """That a judge was asked with several setups, of which one is used."""
    several = predicted.filter(pl.col("ways") > 1).unique("judge", maintain_order=True)
    return tuple(several_setups(row["judge"], row["ways"]) for row in several.iter_rows(named=True))


def together(predicted: pl.DataFrame) -> pl.DataFrame:
    """One value for each response: the mean over judges, of responses that all of them rated."""
    judges = predicted["judge"].n_unique()
    return (
        predicted.group_by("response", maintain_order=True)
        .agg(pl.col("predicted", "predicted_top").mean(), pl.len().alias("judges"))
        .filter(pl.col("judges") == judges)
        .drop("judges")
    )
