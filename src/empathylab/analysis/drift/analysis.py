"""Two occasions compared: who was measured on both, what changed, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl

from empathylab.analysis.drift.judges import judge_shifts
from empathylab.analysis.drift.occasions import (
    Occasion,
    Window,
    occasion_of_tables,
    read_occasion,
    without_repetition,
)
from empathylab.analysis.drift.ratings import rating_shifts
from empathylab.analysis.drift.replies import feature_shifts, usable_shifts
from empathylab.analysis.drift.rows import (
    change_sentence,
    changed_rows,
    count_sentence,
    occasion_row,
    tested_rows,
)
from empathylab.analysis.drift.scores import comparable_scores, scale_shifts, verdict_changes
from empathylab.analysis.drift.settings import SettingChange, setting_changes
from empathylab.analysis.drift.shifts import Row, Shift, VerdictChange
from empathylab.analysis.json_values import json_value
from empathylab.analysis.results import Conclusion, ModelChoice, Result, Unit, row_frames
from empathylab.store import Lab

_PARTS = ("scores", "ratings", "judges", "usable_replies", "style")


@dataclass(frozen=True, slots=True)
class Incomparable:
    """Something that is not compared, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class DriftResult(Result):
    """What changed from one occasion to the other."""

    before: Occasion
    after: Occasion
    both: tuple[str, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    scores: tuple[Shift, ...]
    verdicts: tuple[VerdictChange, ...]
    usable: tuple[Shift, ...]
    style: tuple[Shift, ...]
    ratings: tuple[Shift, ...]
    judges: tuple[Shift, ...]
    judge_verdicts: tuple[VerdictChange, ...]
    settings: tuple[SettingChange, ...]
    incomparable: tuple[Incomparable, ...]
    confidence: float

    @property
    def design(self) -> Mapping[str, Any]:
        """The two occasions, and who was measured on which."""
        return {
            "before": self.before.title,
            "after": self.after.title,
            "both": list(self.both),
            "before_only": list(self.only_before),
            "after_only": list(self.only_after),
        }

    @property
    def model(self) -> ModelChoice | None:
        """How differences are tested."""
        return ModelChoice(
            name="differences between occasions, clustered by situation, ratings also by rater",
            reason="The same situations are compared, and paired where they are on both occasions; "
            "p values are corrected by Holm's method within each kind of figure.",
        )

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """How many figures changed, then each that did, then verdicts that changed."""
        tested = tested_rows(self._rows())
        changed = changed_rows(tested)
        headline = Conclusion(
            kind="different" if changed else "inconclusive",
            sentence=count_sentence(len(changed), len(tested)),
            subject=self.after.title,
            reference=self.before.title,
            estimate=len(changed),
            n=len(tested),
            model="Holm",
        )
        verdicts = [
            Conclusion(
                kind="descriptive",
                sentence=verdict.sentence,
                subject=verdict.about.get("respondent") or verdict.about["judge"],
                reference=self.before.title,
            )
            for verdict in (*self.verdicts, *self.judge_verdicts)
            if verdict.changed
        ]
        return (headline, *(self._change(row) for row in changed), *verdicts)

    def _change(self, row: Row) -> Conclusion:
        is_proportion = row.get("measure") in ("good", "usable")
        unit: Unit = "proportion" if is_proportion else "none" if "feature" in row else "points"
        return Conclusion(
            kind="different",
            sentence=change_sentence(row),
            subject=str(row.get("respondent") or row.get("judge") or row.get("arm")),
            reference=self.before.title,
            dimension=str(row.get("feature") or row.get("dimension") or row.get("scale") or "")
            or None,
            estimate=row["difference"],
            **{name: row[name] for name in ("low", "high", "p")},
            unit=unit,
            p_adjusted=row["p_holm"],
            n=row["n_after"],
            basis=f"{row['n_before']} before, {row['n_after']} after",
        )

    @property
    def caveats(self) -> tuple[str, ...]:
        """What is not compared, and which settings differ."""
        skipped = [f"Not compared: {part.what}: {part.why}." for part in self.incomparable]
        count = len(self.settings)
        if count:
            skipped.append(f"{count} settings differ between the occasions, and may be the cause.")
        return tuple(skipped)

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The changes by kind of figure."""
        rows = self._rows()
        return row_frames({name: rows[name] for name in _PARTS})

    def to_frame(self) -> pl.DataFrame:
        """All changes, one row each; `part` says the kind of figure."""
        frames = [
            frame.with_columns(part=pl.lit(name))
            for name, frame in self.tables.items()
            if frame.height
        ]
        return pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame()

    def to_dict(self) -> dict[str, Any]:
        """What `analyze changes --json` prints."""
        return {
            "before": occasion_row(self.before),
            "after": occasion_row(self.after),
            "confidence": self.confidence,
            "respondents": {
                name: names for name, names in self.design.items() if isinstance(names, list)
            },
            **self._rows(),
            **self.stated(),
        }

    def _rows(self) -> dict[str, list[Row]]:
        """Everything, unrounded; null where a figure is not defined."""
        parts: dict[str, Sequence[Shift | VerdictChange]] = {
            "scores": self.scores,
            "verdicts": self.verdicts,
            "usable_replies": self.usable,
            "style": self.style,
            "ratings": self.ratings,
            "judges": self.judges,
            "judge_verdicts": self.judge_verdicts,
        }
        return {name: [item.to_dict() for item in part] for name, part in parts.items()} | {
            "settings": [
                {name: value or None for name, value in json_value(setting).items()}
                for setting in self.settings
            ],
            "not_compared": json_value(self.incomparable),
        }


def from_lab(
    lab: Lab, moment: datetime, *, name: str | None = None, confidence: float = 0.95
) -> DriftResult:
    """What changed in a lab since that moment; `name` is a name for the moment."""
    called = name or moment.isoformat()
    before = read_occasion(lab, f"until {called}", Window(until=moment))
    after = read_occasion(lab, f"from {called}", Window(since=moment))
    return compare(before, after, confidence=confidence)


def from_labs(
    earlier: Lab,
    later: Lab,
    *,
    titles: Sequence[str] = ("before", "after"),
    confidence: float = 0.95,
) -> DriftResult:
    """What changed from one lab to another."""
    before, after = read_occasion(earlier, titles[0]), read_occasion(later, titles[1])
    return compare(before, after, confidence=confidence)


def from_tables(
    before: pl.DataFrame,
    after: pl.DataFrame,
    *,
    titles: Sequence[str] = ("before", "after"),
    confidence: float = 0.95,
) -> DriftResult:
    """What changed between two tables of scores or of replies.

    Scores have the columns that `appraisal.from_table` reads; replies respondent, situation and
    text.
    """
    earlier, later = (
        occasion_of_tables(frame, title)
        for frame, title in zip((before, after), titles, strict=True)
    )
    return compare(earlier, later, confidence=confidence)


def compare(before: Occasion, after: Occasion, *, confidence: float = 0.95) -> DriftResult:
    """What changed from one occasion to the other.

    What both hold word for word (a copied lab, a file imported twice) counts before only. A scale
    whose definition differs is not compared; a difference of prompts, models or settings is
    reported beside the figures, because it may be the cause.
    """
    new, repeated = without_repetition(before, after)
    there = set(new.respondents)
    both = tuple(name for name in before.respondents if name in there)
    earlier, later, unlike = comparable_scores(before, new)
    ratings, unrated = rating_shifts(before, new, confidence=confidence)
    usable, unreplied = usable_shifts(before, new, confidence=confidence)
    judges, judge_verdicts, unjudged = judge_shifts(
        before.judged, after.judged, confidence=confidence
    )
    problems = [Incomparable(*problem) for problem in (*unlike, *unreplied, *unrated, *unjudged)]
    return DriftResult(
        before=before,
        after=new,
        both=both,
        only_before=tuple(
            name for name in before.respondents if name not in set(after.respondents)
        ),
        only_after=tuple(name for name in after.respondents if name not in set(before.respondents)),
        scores=tuple(scale_shifts(earlier, later, confidence=confidence)),
        verdicts=tuple(verdict_changes(before, new)),
        usable=tuple(usable),
        style=tuple(feature_shifts(before, new, confidence=confidence)),
        ratings=tuple(ratings),
        judges=tuple(judges),
        judge_verdicts=tuple(judge_verdicts),
        settings=tuple(setting_changes(before, new)),
        incomparable=(*_measured_once(new, repeated), *problems),
        confidence=confidence,
    )


def _measured_once(after: Occasion, repeated: tuple[str, ...]) -> list[Incomparable]:
    """Respondents whose later answers are, all or some, those of before."""
    left = set(after.answered)
    same = [
        Incomparable(
            f"{name}, answers",
            ("some" if name in left else "all")
            + " of them are identical on both occasions, and count once",
        )
        for name in repeated
    ]
    reused = [
        Incomparable(f"{name}, answers", "some were reused from before; ask again with --fresh")
        for name in after.reused
    ]
    return [*same, *reused]
