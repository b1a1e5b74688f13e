"""The leaderboard of a study: all respondents that were measured on it, ranked."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import polars as pl

from empathylab.analysis.benchmark.entries import EntryBuilder
from empathylab.analysis.benchmark.estimates import measured_by_people
from empathylab.analysis.benchmark.frames import (
    Judgements,
    ReferenceRatings,
    every_measured_reply,
    measured_replies,
    reference_ratings,
    replies_frame,
)
from empathylab.analysis.benchmark.measurements import Measurement
from empathylab.analysis.benchmark.prompts import StudyPrompt, study_prompt
from empathylab.analysis.benchmark.prose import (
    interval,
    pair_sentence,
    rank_sentence,
    rests_on,
    shown,
    what,
)
from empathylab.analysis.benchmark.ranking import Compared, Entry, ranked, ranks
from empathylab.analysis.benchmark.result import measurement_dict
from empathylab.analysis.cache import cached
from empathylab.analysis.json_values import interval_columns, json_value, picked
from empathylab.analysis.ratings.collection_periods import collection_notes
from empathylab.analysis.results import Conclusion, ModelChoice, Result, row_frames
from empathylab.stats.estimates import NO_ESTIMATE
from empathylab.store import Lab
from empathylab.store.judged_responses import models_with_responses
from empathylab.store.ratings import collection_frame, lab_study
from empathylab.store.studies.embargo import responses_in_open_studies
from empathylab.study.added_arms.instruments import MeasuredStudy, measured_study
from empathylab.study.admin.embargo import require_closed

HOW = {
    "people": "measured by people",
    "people and judge": "people, with a judge",
    "judge": "estimated by a judge",
}


@dataclass(frozen=True, slots=True)
class LeaderboardResult(Result):
    """Everything `analyze leaderboard` gives."""

    main_table: ClassVar[str] = "respondents"
    reference: ReferenceRatings
    study: MeasuredStudy
    prompt: StudyPrompt
    entries: tuple[Entry, ...]
    pairs: tuple[Compared, ...]
    """All pairs of them, compared."""
    notes: tuple[str, ...]

    @property
    def design(self) -> Mapping[str, Any]:
        """The study, and who was measured how."""
        return {
            "study": self.reference.study.name,
            "design": self.reference.design,
            "dimension": self.reference.dimension.name,
            "situations": len(self.study.situations),
            "respondents": {entry.respondent: entry.measurement.basis for entry in self.entries},
        }

    @property
    def model(self) -> ModelChoice | None:
        """How ranks are found."""
        return ModelChoice(
            name="ranks from simultaneous intervals of all pairs",
            reason="Each pair is compared at 1 − 0.05 / pairs, so that with 95% confidence no "
            "claim of a difference is wrong.",
        )

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """The rank of each respondent, then every pair that differs."""
        ranked_entries = [
            Conclusion(
                kind="descriptive",
                sentence=rank_sentence(entry, len(self.entries)),
                subject=entry.respondent,
                dimension=self.reference.dimension.name,
                **picked(entry.estimate, "estimate low high"),
                unit="proportion" if entry.estimate.outcome.kind == "share" else "points",
                n=entry.replies,
                basis=HOW[entry.measurement.basis],
            )
            for entry in self.entries
        ]
        outcome = self.entries[0].estimate.outcome if self.entries else None
        better = [
            Conclusion(
                kind="better",
                sentence=pair_sentence(pair, outcome),
                subject=pair.upper,
                reference=pair.lower,
                dimension=self.reference.dimension.name,
                estimate=pair.difference,
                low=pair.low,
                high=pair.high,
                unit="proportion" if outcome.kind == "share" else "points",
                n=pair.shared,
                model="simultaneous 95% intervals",
            )
            for pair in self.pairs
            if pair.differs and outcome is not None
        ]
        return (*ranked_entries, *better)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What to know of the prompt, of the judges, and who was excluded."""
        note = self.prompt.note
        return (*([f"Prompt for new models: {note}"] if note else []), *self.notes)

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The respondents, and all pairs."""
        return row_frames(
            {"respondents": leaderboard_table(self), "comparisons": self._comparisons()}
        )

    def to_dict(self) -> dict[str, Any]:
        """What `analyze leaderboard --json` prints."""
        return {
            "study": self.reference.study.name,
            "version": self.reference.study.version,
            "title": self.study.title,
            "protocol_hash": self.study.protocol_hash,
            "dimension": self.reference.dimension.name,
            "prompt": self.prompt.prompt,
            "situations": len(self.study.situations),
            "respondents": [
                _flat(entry, self) | {"found": measurement_dict(entry.measurement)}
                for entry in self.entries
            ],
            "comparisons": self._comparisons(),
            "notes": list(self.caveats),
            **self.stated(),
        }

    def _comparisons(self) -> list[dict[str, Any]]:
        return [
            picked(pair, "upper lower difference low high")
            | {"apart": pair.differs, "paired": pair.paired, "shared_situations": pair.shared}
            for pair in self.pairs
        ]


def leaderboard_from_lab(
    lab: Lab,
    study: str | None = None,
    *,
    dimension: str | None = None,
    judge: str | None = None,
    peek: str | None = None,
    who: str = "researcher",
) -> LeaderboardResult:
    """The leaderboard of a study of the lab; without a name, of the only one.

    A study that this lab runs must be closed, unless there is a reason to `peek`. Judges' ratings
    of replies that another running study shows are hidden.
    """
    chosen = lab_study(lab, study)
    reference = reference_ratings(lab, chosen.name, dimension)
    require_closed(lab, chosen, peek=peek, who=who)
    study_as_measured = measured_study(lab, chosen.name)
    board = leaderboard(lab, reference, study_as_measured, judge=judge, keep=not peek)
    return without_embargoed(lab, board)


def leaderboard(
    lab: Lab,
    reference: ReferenceRatings,
    study: MeasuredStudy,
    *,
    judge: str | None = None,
    known: Sequence[Measurement] = (),
    style: bool = True,
    keep: bool = False,
) -> LeaderboardResult:
    """All respondents measured on the study: its own, and those that replied to the same prompt.

    A respondent that people did not rate is estimated by `judge`; where none is named, by the model
    that judged, by the mean of all where several did, or else by the style judge. The width of an
    interval plays no part: the narrowest would be the luckiest. What is `known` already is not
    computed again. Without `style`, the style judge is not trained. With `keep` the ranks are kept
    in the lab; those of a study that is still running must not be.
    """
    prompt = study_prompt(lab, study)
    rated = reference.respondents
    writers = {reference.writer(name) for name in rated}
    days = {
        row["arm"]: (row["first"], row["last"])
        for row in collection_frame(lab, reference.study.name).iter_rows(named=True)
    }
    arms = {name: days.get(reference.arm(name), (None, None)) for name in rated}
    by_first = sorted(rated, key=lambda name: name != "human")
    in_order = [reference.arm(name) for name in by_first]
    notes = [*collection_notes(lab, reference.study.name, in_order)] if rated else []
    replied = models_with_responses(lab, prompt.prompt, study.situation_set)
    # Respondents whose replies came with the study, rated by a model alone, have no prompt.
    brought = reference.imported["respondent"].unique(maintain_order=True)
    newcomers = [
        name
        for name in dict.fromkeys([*replied, *brought])
        if name not in rated and name not in writers
    ]
    replies = every_measured_reply(lab, reference, prompt.prompt, [*rated, *newcomers])
    builder = EntryBuilder(
        lab,
        reference,
        Judgements.read(lab, reference),
        {name: replies_frame(rows) for name, rows in replies.items()},
        arms,
        judge,
        tuple(known),
        notes,
        style=style,
    )

    def ranking() -> tuple[tuple[Entry, ...], tuple[Compared, ...], tuple[str, ...]]:
        entries = [*(builder.of_people(name) for name in rated), *builder.of_newcomers(newcomers)]
        order = ranked(entries)
        return order.entries, order.pairs, tuple(notes)

    judged = builder.judgements.frame
    inputs = [reference, judged, builder.replies, arms, judge, builder.known, tuple(notes), style]
    parts = cached(lab, "leaderboard", inputs, ranking) if keep else ranking()
    return LeaderboardResult(reference, study, prompt, *parts)


def report_leaderboard(lab: Lab, study: str) -> LeaderboardResult | None:
    """The leaderboard of a closed study, as a report shows it: without training a judge.

    None where it would only repeat the section on ratings: people rated two respondents at most and
    no judge rated another respondent, or all ratings are the same.
    """
    reference = reference_ratings(lab, study)
    if reference.top <= reference.lowest:
        return None
    if len(reference.respondents) <= 2 and Judgements.read(lab, reference).predicted().is_empty():
        return None
    whole = leaderboard(lab, reference, measured_study(lab, study), style=False, keep=True)
    board = without_embargoed(lab, whole)
    judged = any(entry.measurement.judge is not None for entry in board.entries)
    return board if len(board.entries) > 2 or (judged and len(board.entries) == 2) else None


def without_embargoed(lab: Lab, board: LeaderboardResult) -> LeaderboardResult:
    """The leaderboard without a judge's estimates of respondents that another open study shows.

    Respondents that people rated in the board's own study stay, by these ratings alone.
    """
    running = responses_in_open_studies(lab, except_study=board.reference.study.row)
    hidden = {
        entry.respondent for entry in board.entries if _is_embargoed(lab, board, entry, running)
    }
    if not hidden:
        return board
    kept = [
        _by_people(board.reference, entry) if entry.respondent in hidden else entry
        for entry in board.entries
        if entry.respondent not in hidden or entry.measurement.basis != "judge"
    ]
    ranking = ranked(kept)
    note = (
        "Judges' ratings of these respondents are hidden, because a study that is still running "
        f"shows these replies: {', '.join(sorted(hidden))}."
    )
    return dataclasses.replace(
        board, entries=ranking.entries, pairs=ranking.pairs, notes=(*board.notes, note)
    )


def _is_embargoed(
    lab: Lab, board: LeaderboardResult, entry: Entry, running: dict[int, str]
) -> bool:
    writer = board.reference.writer(entry.respondent)
    if entry.measurement.basis == "people" or writer not in running.values():
        return False
    replies = measured_replies(lab, board.reference, entry.respondent, board.prompt.prompt)
    return not running.keys().isdisjoint(reply.response for reply in replies)


def _by_people(reference: ReferenceRatings, entry: Entry) -> Entry:
    return dataclasses.replace(
        entry,
        measurement=measured_by_people(reference, entry.respondent, parts=False),
        replies=reference.people.filter(respondent=entry.respondent)["response"].n_unique(),
        judged_first=None,
        judged_last=None,
    )


def days(first: date | None, last: date | None) -> str:
    """A day, or from one to the other; a dash where they are not known."""
    if first is None or last is None:
        return "–"
    return f"{first}" if first == last else f"{first} to {last}"


def leaderboard_rows(board: LeaderboardResult) -> list[dict[str, Any]]:
    """The entries as they are read, rounded."""
    return [
        {
            "ranks": ranks(entry),
            "respondent": entry.respondent,
            "how": HOW[entry.measurement.basis],
            what(entry.estimate.outcome): shown(entry.estimate.estimate, entry.estimate.outcome),
            "95% interval": interval(entry.estimate),
            "ratings by people": f"{entry.estimate.n_ratings:,}",
            "rated on": days(entry.rated_first, entry.rated_last),
            "judge": entry.measurement.judge or "–",
            "judged on": days(entry.judged_first, entry.judged_last),
        }
        for entry in board.entries
    ]


def leaderboard_table(board: LeaderboardResult) -> list[dict[str, Any]]:
    """The entries for a file, unrounded, a column for each thing; empty where there is none."""
    return [_flat(entry, board) for entry in board.entries]


def _flat(entry: Entry, board: LeaderboardResult) -> dict[str, Any]:
    head, measurement = entry.estimate, entry.measurement
    mean = measurement.estimate("mean")
    judged = measurement.judge is not None
    return {
        "study": board.reference.study.name,
        "dimension": measurement.dimension,
        "rank_low": entry.rank_low,
        "rank_high": entry.rank_high,
        "respondent": entry.respondent,
        "basis": measurement.basis,
        "judge": measurement.judge,
        "outcome": f"{head.outcome.kind} of {head.outcome.label}"
        if head.outcome.kind == "share"
        else f"mean {head.outcome.label}",
        **picked(head, "estimate low high"),
        "like_low": json_value(head.exchangeable_low),
        "like_high": json_value(head.exchangeable_high),
        "beyond_calibration": head.beyond if measurement.basis == "judge" else None,
        "alike_low": json_value(head.same_error_low),
        "alike_high": json_value(head.same_error_high),
        **interval_columns("mean", mean or NO_ESTIMATE),
        "ratings_by_people": head.n_ratings,
        "replies_judged_only": head.n_judged,
        **picked(entry, "rated_first rated_last judged_first judged_last"),
        "calibrated_on": "; ".join(measurement.calibrated_on) if judged else None,
        "calibration_ratings": measurement.calibration_ratings if judged else None,
        "typical_transfer_error": json_value(head.typical_error),
        "rests_on": " ".join(rests_on(measurement)),
    }
