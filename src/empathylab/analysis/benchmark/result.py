"""A respondent compared with an existing study: the result, from a lab or a table."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from empathylab.analysis.benchmark.entries import setup_notes, together
from empathylab.analysis.benchmark.estimates import measure_respondent
from empathylab.analysis.benchmark.frames import (
    PREDICTIONS,
    Judgements,
    ReferenceRatings,
    measured_replies,
    reference_ratings,
    replies_frame,
    table_reference,
)
from empathylab.analysis.benchmark.measurements import Difference, Estimate, Measurement
from empathylab.analysis.benchmark.prompts import study_prompt
from empathylab.analysis.benchmark.prose import (
    basis_name,
    difference_sentence,
    estimate_sentence,
    rests_on,
)
from empathylab.analysis.benchmark.style_judge import style_predictions
from empathylab.analysis.json_values import json_value, picked
from empathylab.analysis.judges.analysis import PANEL
from empathylab.analysis.judges.frames import judged_from_table
from empathylab.analysis.judges.style_judge import STYLE_JUDGE
from empathylab.analysis.ratings.collection_periods import collection_notes
from empathylab.analysis.results import Conclusion, Kind, ModelChoice, Result, Unit, row_frames
from empathylab.analysis.text.notes import notes_text
from empathylab.errors import UnknownName
from empathylab.store import Lab
from empathylab.store.ratings import lab_study
from empathylab.study.added_arms.instruments import measured_study
from empathylab.study.admin.embargo import require_judged_openly

_MODELS = {
    "people": ("mean of human ratings", "People rated the respondent's replies."),
    "people and judge": (
        "prediction-powered mean",
        "People rated a random sample of the replies, and the judge rated the others.",
    ),
    "judge": (
        "transferred calibration",
        "The judge is calibrated on the study's other respondents, without human ratings of it.",
    ),
}


@dataclass(frozen=True, slots=True)
class BenchmarkResult(Result):
    """One respondent compared with a study, by one judge."""

    main_table: ClassVar[str] = "estimates"
    measurement: Measurement

    @property
    def design(self) -> Mapping[str, Any]:
        """The study, the judge, and the data behind the calibration."""
        return picked(
            self.measurement, "study dimension respondent judge basis situations calibrated_on"
        )

    @property
    def model(self) -> ModelChoice | None:
        """How the estimate was made."""
        name, reason = _MODELS[self.measurement.basis]
        return ModelChoice(name=name, reason=reason)

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """The estimate, then the differences from the study's own respondents."""
        measurement = self.measurement
        head = measurement.headline
        differences = [
            self._difference(difference)
            for difference in measurement.differences
            if difference.outcome == head.outcome and difference.group.level == "all"
        ]
        estimate = Conclusion(
            kind="descriptive",
            sentence=estimate_sentence(measurement),
            subject=measurement.respondent,
            dimension=measurement.dimension,
            **picked(head, "estimate low high"),
            unit=_unit(head),
            n=head.n_ratings + head.n_judged,
            model=_MODELS[measurement.basis][0],
            basis=basis_name(measurement),
        )
        return (estimate, *differences)

    def _difference(self, difference: Difference) -> Conclusion:
        measurement = self.measurement
        return Conclusion(
            kind=_kind(difference),
            sentence=difference_sentence(measurement, difference),
            subject=measurement.respondent,
            reference=difference.other,
            dimension=measurement.dimension,
            estimate=difference.difference,
            low=difference.low,
            high=difference.high,
            unit=_unit(difference),
            n=difference.other_n,
            model=_MODELS[measurement.basis][0],
            basis=basis_name(measurement),
        )

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the figures rest on, and how wrong they could be."""
        return rests_on(self.measurement)

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Estimates and differences, by outcome and group of situations."""
        return row_frames(_figures(self.measurement))

    def to_dict(self) -> dict[str, Any]:
        """An entry of `results` in `evaluate --against --json`."""
        return measurement_dict(self.measurement) | self.stated()


def from_lab(
    lab: Lab,
    respondent: str,
    *,
    judge: str | Sequence[str],
    study: str | None = None,
    dimension: str | None = None,
    peek: str | None = None,
    who: str = "researcher",
) -> BenchmarkResult:
    """The respondent compared with a study of the lab, by a judge or the mean of several.

    A judge is a model that has judged the replies, or `style`. A study that this lab runs must be
    closed, unless there is a reason to `peek`; so must one that shows the respondent's replies.
    """
    chosen = lab_study(lab, study)
    reference = reference_ratings(lab, chosen.name, dimension)
    prompt = study_prompt(lab, measured_study(lab, chosen.name)).prompt
    replies = measured_replies(lab, reference, respondent, prompt)
    shown = [reply.response for reply in replies]
    require_judged_openly(lab, shown, [chosen.name], peek=peek, who=who)
    if isinstance(judge, str):
        return measure(lab, reference, respondent, judge, prompt)
    return measure(lab, reference, respondent, PANEL, prompt, judge)


def from_table(
    frame: pl.DataFrame,
    respondent: str,
    *,
    judge: str,
    dimension: str | None = None,
    levels: Sequence[str | float] | None = None,
    where: str = "ratings",
) -> BenchmarkResult:
    """A respondent compared with the others in a table with the columns of `judges.from_table`."""
    judged = judged_from_table(frame, where=where, levels=levels)
    if judge not in judged.judge_names:
        raise UnknownName("judge", judge, judged.judge_names, where=where)
    reference, predicted = table_reference(judged, judge, dimension)
    texts = judged.responses.with_columns(
        pl.col("response").rank("dense").cast(pl.Int64).alias("response")
    )
    replies = texts.filter(respondent=respondent).drop("words")
    if replies.is_empty():
        known = texts["respondent"].drop_nulls().unique().to_list()
        raise UnknownName("respondent", respondent, known, where=where)
    return BenchmarkResult(
        measure_respondent(
            reference, respondent, replies, predicted.select(*PREDICTIONS), judge=judge
        )
    )


def measure(
    lab: Lab,
    reference: ReferenceRatings,
    respondent: str,
    judge: str,
    prompt: str,
    panel: Sequence[str] = (),
    *,
    keys: Collection[tuple[str, str]] | None = None,
) -> BenchmarkResult:
    """The respondent compared with the study, by that judge: a model, `style`, or `panel`, which is
    the mean of the judges named in `panel`.

    With `keys`, sets and situations, only the replies to these, and those that people rated.
    """
    known = measured_replies(lab, reference, respondent, prompt)
    replies = replies_frame(
        [reply for reply in known if keys is None or (reply.set, reply.situation.id) in keys]
    )
    if judge == STYLE_JUDGE:
        trained = style_predictions(reference, replies, respondent)
        measurement = measure_respondent(
            reference,
            respondent,
            replies,
            trained.predicted,
            judge=judge,
            left_out=trained.left_out,
        )
        return BenchmarkResult(
            dataclasses.replace(measurement, notes=_period_notes(lab, reference, measurement))
        )
    predicted = Judgements.read(lab, reference).predicted(
        panel if judge == PANEL else [judge], replies
    )
    measurement = measure_respondent(
        reference, respondent, replies, together(predicted), judge=judge
    )
    members = tuple(predicted["judge"].unique(maintain_order=True)) if judge == PANEL else ()
    notes = (*setup_notes(predicted), *_period_notes(lab, reference, measurement))
    return BenchmarkResult(dataclasses.replace(measurement, members=members, notes=notes))


def _period_notes(
    lab: Lab, reference: ReferenceRatings, measurement: Measurement
) -> tuple[str, ...]:
    """Where new ratings are compared with older ones: when, and whether the raters are similar."""
    if measurement.basis == "judge":
        return ()
    others = dict.fromkeys(difference.other for difference in measurement.differences)
    arms = [reference.arm(name) for name in (measurement.respondent, *others)]
    return collection_notes(lab, reference.study.name, arms)


def _kind(difference: Difference) -> Kind:
    if math.isnan(difference.low) or difference.low <= 0 <= difference.high:
        return "inconclusive"
    return "better" if difference.low > 0 else "worse"


def _unit(estimate: Estimate | Difference) -> Unit:
    return "proportion" if estimate.outcome.kind == "share" else "points"


def measurement_dict(measurement: Measurement) -> dict[str, Any]:
    """All figures of one respondent and judge, with what they rest on; null where there is none."""
    head = measurement.headline
    return {
        "respondent": measurement.respondent,
        "judge": measurement.judge,
        "panel": list(measurement.members) or None,
        "study": measurement.study,
        "dimension": measurement.dimension,
        "basis": measurement.basis,
        "rests_on_judge_alone": measurement.basis == "judge",
        "rests_on": list(rests_on(measurement)),
        "calibration": {
            "study": measurement.study,
            "respondents": list(measurement.calibrated_on),
            "ratings": measurement.calibration_ratings,
            "people": measurement.calibration_people,
            "situations": measurement.calibration_situations,
            "ratings_without_judgement": measurement.calibration_missed,
        }
        if measurement.judge is not None
        else None,
        "transfer": {
            "beyond_calibration": head.beyond,
            "rules_out": head.rules_out,
            "typical_error": json_value(head.typical_error),
            "errors": [
                {"respondent": error.respondent, "foretold": error.predicted}
                | picked(error, "people error n")
                for error in head.errors
            ],
        }
        if head.basis == "judge"
        else None,
        **_figures(measurement),
        "groups_left_out": measurement.left_out,
        "ratings_too_few": measurement.few,
        "situations": measurement.situations,
        "notes": list(measurement.notes),
    }


def _figures(measurement: Measurement) -> dict[str, list[dict[str, Any]]]:
    return {
        "estimates": list(map(_estimate_dict, measurement.estimates)),
        "differences": list(map(_difference_dict, measurement.differences)),
    }


def _estimate_dict(estimate: Estimate) -> dict[str, Any]:
    return {
        **_about(estimate),
        **picked(estimate, "estimate low high"),
        "if_like_the_others": _pair(estimate.exchangeable_low, estimate.exchangeable_high),
        "if_it_errs_alike": _pair(estimate.same_error_low, estimate.same_error_high),
        "beyond_calibration": estimate.beyond if estimate.basis == "judge" else None,
        "people_alone": _pair(estimate.people_low, estimate.people_high),
        **picked(estimate, "trust n_ratings n_judged"),
        "n_unjudged": estimate.unjudged,
        "typical_error": json_value(estimate.typical_error),
        "note": notes_text(estimate.notes),
    }


def _difference_dict(difference: Difference) -> dict[str, Any]:
    return {
        **_about(difference),
        "from": difference.other,
        **picked(difference, "difference low high"),
        "if_it_errs_alike": _pair(difference.same_error_low, difference.same_error_high),
        "n_other": difference.other_n,
        "situations": difference.situations,
    }


def _about(estimate: Estimate | Difference) -> dict[str, Any]:
    return {
        "outcome": estimate.outcome.kind,
        "label": estimate.outcome.label,
        "level": estimate.group.level,
        "group": estimate.group.name or None,
    }


def _pair(low: float, high: float) -> list[float] | None:
    return [low, high] if math.isfinite(low) and math.isfinite(high) else None
