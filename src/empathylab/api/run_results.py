"""Results of calls that ask models, with the outcomes of the requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from empathylab.analysis.conversations import ConversationsAnalysis
from empathylab.analysis.results import Conclusion, Result, summary_text
from empathylab.api.run_summary import summary_parts, text_of
from empathylab.api.sessions import Sessions
from empathylab.report import LabOverview


class Asked(Result):
    """A result of requests to models."""

    __slots__ = ()
    sessions: Sessions

    def __repr__(self) -> str:
        """What it is about; the figures fill pages."""
        models = ", ".join(self.sessions.models)
        return f"<{type(self).__name__} of {models}: .summary() for text, .tables for figures>"

    @property
    def complete(self) -> bool:
        """Whether every request got an answer; `sessions.require_complete()` raises if not."""
        return not self.sessions.missing


@dataclass(frozen=True, slots=True, repr=False)
class RunResult(Asked):
    """The results of an appraisal or of replies, and the outcome of the requests."""

    sessions: Sessions
    overview: LabOverview
    """The results of this call's runs only."""
    replies: pl.DataFrame
    """The replies of this call's runs, usable or not."""
    report: Path | None = None

    @property
    def parts(self) -> tuple[Result, ...]:
        """The results whose charts this one has."""
        return (self.overview.appraisal, self.overview)

    @property
    def conclusions(self) -> Sequence[Conclusion]:
        """One sentence each."""
        return self.overview.conclusions

    @property
    def caveats(self) -> Sequence[str]:
        """What limits the results, missing answers first."""
        return [*self.sessions.caveats(), *self.overview.cautions(self.sessions.models)]

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Changes from baseline, the lengths of replies, and the replies themselves."""
        return {**self.overview.tables, "texts": self.replies}

    def to_frame(self) -> pl.DataFrame:
        """The replies; of an appraisal, the changes from baseline."""
        changes = self.overview.appraisal.to_frame()
        return self.replies if changes.is_empty() else changes

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "report": None if self.report is None else str(self.report),
            "sessions": self.sessions.rows(),
            **self.overview.to_dict(),
            "cautions": self.overview.cautions(self.sessions.models),
        }

    def summary(self) -> str:
        """Tables, cautions and what is missing, as text."""
        parts = summary_parts(self.overview, self.sessions.models, self.report)
        return text_of([*self.sessions.caveats(), *parts])


@dataclass(frozen=True, slots=True, repr=False)
class ConversationsResult(Asked):
    """What all conversations of the lab show, and the outcome of this call's requests."""

    sessions: Sessions
    analysis: ConversationsAnalysis
    report: Path | None = None

    @property
    def parts(self) -> tuple[Result, ...]:
        """The results whose charts this one has."""
        return (self.analysis,)

    @property
    def conclusions(self) -> Sequence[Conclusion]:
        """One sentence each."""
        return self.analysis.conclusions

    @property
    def caveats(self) -> Sequence[str]:
        """What limits the results, missing answers first."""
        return [*self.sessions.caveats(), *self.analysis.caveats]

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The estimates as frames, and every turn."""
        return {**self.analysis.tables, "transcripts": self.analysis.transcripts()}

    def to_frame(self) -> pl.DataFrame:
        """One row per respondent and simulator."""
        return self.analysis.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """What `converse --json` prints."""
        return {
            "report": self.report and str(self.report),
            "sessions": self.sessions.rows(),
            **self.analysis.to_dict(),
        }


@dataclass(frozen=True, slots=True, repr=False)
class JudgingResult(Asked):
    """A summary of the judges' ratings or choices, and the outcome of the requests."""

    main_table: ClassVar[str] = "judges"
    sessions: Sessions
    source: str
    """What was judged: `study NAME` or `set NAME`."""
    responses: int
    judges: Sequence[Mapping[str, Any]]
    respondents: Sequence[Mapping[str, Any]]
    """Empty while a study that shows the responses is open."""
    hidden: bool
    """Whether a study that shows the responses is still open."""

    conclusions: Sequence[Conclusion] = ()
    """None: how far a judge can be relied on is a topic of its own, `analyze.judges`."""

    @property
    def caveats(self) -> Sequence[str]:
        """What limits the results."""
        return [*self.sessions.caveats(), *([HIDDEN] if self.hidden else [])]

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """By judge, and by judge and respondent."""
        rows = {"judges": self.judges, "respondents": self.respondents}
        return {name: pl.DataFrame(list(part), strict=False) for name, part in rows.items()}

    def to_dict(self) -> dict[str, Any]:
        """What `judge --json` prints."""
        return {
            "source": self.source,
            "responses": self.responses,
            "judges": list(self.judges),
            "respondents": list(self.respondents),
            "hidden": self.hidden,
            "sessions": self.sessions.rows(),
        }

    def summary(self) -> str:
        """How many responses were judged by whom, and the caveats."""
        judges = ", ".join(self.sessions.models)
        line = f"{self.source}: {self.responses:,} responses, judged by {judges}."
        return "\n".join([line, summary_text((), self.caveats)])


HIDDEN = "A study that shows these responses is still open, so no result is given by respondent."
