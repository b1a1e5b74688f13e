"""What evaluations return: scales, replies, scores and gates; or the comparison with a study."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from empathylab.analysis.benchmark import BenchmarkResult
from empathylab.analysis.results import Conclusion, Result
from empathylab.analysis.scores import ScoresResult
from empathylab.analysis.scores.estimates import Comparison
from empathylab.analysis.scores.gates import Gate, Measured
from empathylab.api.run_results import Asked
from empathylab.api.run_summary import summary_parts, text_of
from empathylab.api.sessions import Sessions
from empathylab.report import LabOverview
from empathylab.study.added_arms.human_sample import HumanSample

NOT_SCORED = (
    "Replies were not scored. To score them, name a judge: empathylab evaluate … --judge "
    "PROVIDER/MODEL"
)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Asked):
    """The results of an evaluation."""

    sessions: Sessions
    """The runs of the measured models."""
    judging: Sessions
    """The runs of the judges."""
    overview: LabOverview
    report: Path
    measured: tuple[Measured, ...]
    scores: Mapping[str, ScoresResult]
    """The scores by respondent, if a judge scored the replies."""
    gates: tuple[Gate, ...]
    """The conditions, and whether each model meets them."""

    @property
    def complete(self) -> bool:
        """Whether every request got an answer."""
        return not self.sessions.missing + self.judging.missing

    @property
    def passed(self) -> bool:
        """Whether every gate passed."""
        return not self.failed

    @property
    def failed(self) -> tuple[Gate, ...]:
        """The gates that did not pass."""
        return tuple(gate for gate in self.gates if not gate.passed)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The runs of replies, each compared with the baseline."""
        return tuple(
            comparison for result in self.scores.values() for comparison in result.comparisons
        )

    @property
    def asked(self) -> Sessions:
        """The runs of models and judges together."""
        return dataclasses.replace(
            self.sessions, tallies=(*self.sessions.tallies, *self.judging.tallies)
        )

    @property
    def parts(self) -> tuple[Result, ...]:
        """The results whose charts this one has."""
        return (self.overview, self.overview.appraisal, *self.scores.values())

    @property
    def conclusions(self) -> Sequence[Conclusion]:
        """The changes from baseline of these models, then their scores."""
        models = self.sessions.models
        changes = [
            conclusion
            for conclusion in self.overview.appraisal.conclusions
            if conclusion.subject in models
        ]
        scored = [
            conclusion for result in self.scores.values() for conclusion in result.conclusions
        ]
        return list(dict.fromkeys([*changes, *scored]))

    @property
    def caveats(self) -> Sequence[str]:
        """What limits the results, missing answers first."""
        unscored = [] if self.scores else [NOT_SCORED]
        score_caveats = [caveat for result in self.scores.values() for caveat in result.caveats]
        cautions = self.overview.cautions(self.sessions.models)
        return list(
            dict.fromkeys(
                [
                    *self.asked.caveats(),
                    *self._earlier_replies(),
                    *unscored,
                    *score_caveats,
                    *cautions,
                ]
            )
        )

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Changes from baseline, the lengths of replies, scores and gates."""
        frames = [result.to_frame() for result in self.scores.values() if result.respondents]
        scores = {"scores": pl.concat(frames)} if frames else {}
        gates = {"gates": pl.DataFrame(self.gate_rows())} if self.gates else {}
        return {**self.overview.tables, **scores, **gates}

    def to_frame(self) -> pl.DataFrame:
        """The changes from baseline, one row each."""
        changes = self.overview.appraisal.to_frame()
        if changes.is_empty():
            return changes
        return changes.filter(pl.col("respondent").is_in(self.sessions.models))

    def to_dict(self) -> dict[str, Any]:
        """What `evaluate --json` prints."""
        return {
            "report": str(self.report),
            "sessions": self.asked.rows(),
            **self.overview.to_dict(),
            "cautions": self.overview.cautions(self.asked.models),
            "respondents": [self._respondent(item) for item in self.measured],
            "gates": self.gate_rows(),
        }

    def summary(self) -> str:
        """Tables, scores with the judge's card, gates and cautions, as text."""
        parts = [*self.asked.caveats(), *self.summary_parts()]
        return text_of(parts)

    def summary_parts(self) -> list[Any]:
        """What the command line prints."""
        gates = [line for gate in self.gates for line in (f"Gate {gate}", gate.details) if line]
        lines = [*self.score_lines(), *gates]
        return list(summary_parts(self.overview, self.sessions.models, self.report, lines))

    def score_lines(self) -> list[str]:
        """The scores, what was not scored, and the judges' cards."""
        if not self.scores:
            return [NOT_SCORED, *self._earlier_replies()]
        lines = [
            str(conclusion) for result in self.scores.values() for conclusion in result.conclusions
        ]
        caveats = [caveat for result in self.scores.values() for caveat in result.caveats]
        return [*dict.fromkeys([*lines, *self._earlier_replies(), *caveats])]

    def _earlier_replies(self) -> list[str]:
        """Of which models a gate looks at replies that this call did not ask for."""
        earlier = [
            tally
            for tally in self.sessions.tallies
            if self.gates and tally.protocol == "respond" and tally.already and not tally.asked
        ]
        return [
            f"The replies of {tally.model} (run {tally.run}) are from an earlier session. If the "
            "model has changed since, add --fresh."
            for tally in earlier
        ]

    def gate_rows(self) -> list[dict[str, Any]]:
        """The gates as plain values."""
        return [dataclasses.asdict(gate) for gate in self.gates]

    def _respondent(self, measured: Measured) -> dict[str, Any]:
        """One respondent: replies with their scores, scales, and how its answers turned out."""
        name = measured.respondent
        result = self.scores.get(name)
        scored = [] if result is None else list(result.respondents)
        content = self.overview.to_dict()
        lengths = next((row for row in content["replies"] if row["respondent"] == name), None)
        outcomes: dict[str, int] = {}
        for tally in self.sessions.tallies:
            if tally.model == name:
                for outcome, count in tally.outcomes.items():
                    outcomes[outcome] = outcomes.get(outcome, 0) + count
        runs = [{"run": item.run, "n": item.n, "scores": _score_table(item)} for item in scored]
        return {
            "respondent": name,
            "replies": {
                "n": lengths["asked"] if lengths else 0,
                "usable": lengths["replies"] if lengths else 0,
                "scored": sum(item.n for item in scored),
                "scores": _score_table(scored[0]) if len(scored) == 1 else {},
                "runs": runs,
                "judge": None if result is None else result.judge,
                "judge_card": None if result is None else result.judge_card(),
            },
            "scales": [row for row in content["changes"] if row["respondent"] == name],
            "outcomes": outcomes,
            "requests": measured.requests,
            "usable": measured.usable,
        }


def _score_table(scores: Any) -> dict[str, dict[str, float | None]]:
    return {
        score.dimension: {
            "mean": score.mean,
            "low": None if score.low != score.low else score.low,
            "high": None if score.high != score.high else score.high,
        }
        for score in scores.scores
    }


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class AgainstStudy(Asked):
    """Models compared with the human ratings of a study, by each judge."""

    main_table: ClassVar[str] = "estimates"
    sessions: Sessions
    study: str
    protocol_hash: str | None
    prompt: str
    situations: int
    results: tuple[BenchmarkResult, ...]
    human_samples: tuple[HumanSample, ...]
    """Which replies people should rate, if you asked for a sample."""
    notes: tuple[str, ...]
    report: Path

    @property
    def parts(self) -> tuple[Result, ...]:
        """The results whose charts this one has."""
        return self.results

    @property
    def conclusions(self) -> Sequence[Conclusion]:
        """One sentence each."""
        return [conclusion for result in self.results for conclusion in result.conclusions]

    @property
    def caveats(self) -> Sequence[str]:
        """What limits the results."""
        result_caveats = [caveat for result in self.results for caveat in result.caveats]
        return list(dict.fromkeys([*self.sessions.caveats(), *result_caveats, *self.notes]))

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The estimates of every model by every judge."""
        frames = [
            result.to_frame().select(
                pl.lit(result.measurement.respondent).alias("model"),
                pl.lit(result.measurement.judge).alias("judge"),
                pl.all(),
            )
            for result in self.results
        ]
        return {"estimates": pl.concat(frames, how="diagonal_relaxed")}

    def to_dict(self) -> dict[str, Any]:
        """What `evaluate --against --json` prints."""
        return {
            "study": self.study,
            "protocol_hash": self.protocol_hash,
            "prompt": self.prompt,
            "situations": self.situations,
            "results": [result.to_dict() for result in self.results],
            "human_samples": [dataclasses.asdict(sample) for sample in self.human_samples],
            "notes": list(self.notes),
            "report": str(self.report),
            "sessions": self.sessions.rows(),
        }
