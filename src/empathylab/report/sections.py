"""The parts of the report that have charts, and all their figures in the order of the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from empathylab.analysis.overview import LabOverview
from empathylab.report.appraisal.section import AppraisalSection, Figure, appraisal_section
from empathylab.report.conversations.section import ConversationSection, conversation_section
from empathylab.report.judges.section import JudgeSection, judge_section
from empathylab.report.ratings.section import RatingsSection, ratings_section
from empathylab.report.scores.section import ScoresSection, scores_section
from empathylab.report.style.section import StyleSection, style_section


class Section(Protocol):
    """A part of the page that has charts."""

    @property
    def specs(self) -> Sequence[dict[str, Any]]: ...


@dataclass(frozen=True, slots=True)
class Sections:
    """What the page shows, part by part; a part without data is empty."""

    appraisal: AppraisalSection
    ratings: RatingsSection
    judges: JudgeSection
    writing: StyleSection
    conversations: ConversationSection
    scores: ScoresSection

    def parts(self) -> dict[str, Section]:
        """The parts by the name that the page's templates know them by, in its order."""
        return {
            "appraisal": self.appraisal,
            "ratings": self.ratings,
            "judges": self.judges,
            "writing": self.writing,
            "conversations": self.conversations,
            "scores": self.scores,
        }

    def figures(self) -> Iterator[tuple[str, Figure, dict[str, Any]]]:
        """Every figure with the part it belongs to and its specification."""
        shown: dict[str, list[Figure]] = {
            "appraisal": list(self.appraisal.figures),
            "ratings": [one for study in self.ratings.studies for one in study.figures],
            "judges": [
                replace(one, title=f"{card.title}. {one.title}")
                for study in self.judges.studies
                for card in study.cards
                for one in card.figures
            ],
            "writing": [one for part in self.writing.parts for one in part.figures],
            "conversations": list(self.conversations.figures),
            "scores": list(self.scores.figures),
        }
        parts = self.parts()
        for name, figures in shown.items():
            for one in figures:
                yield name, one, parts[name].specs[one.spec]


def report_sections(data: LabOverview) -> Sections:
    """The sections that these data fill."""
    from altair.utils.schemapi import debug_mode

    # Checking every part of every chart against its schema takes seconds; the tests draw them all.
    with debug_mode(False):
        return Sections(
            appraisal=appraisal_section(data.appraisal),
            ratings=ratings_section(data.ratings),
            judges=judge_section(data.judges),
            writing=style_section(data.style),
            conversations=conversation_section(data.conversations),
            scores=scores_section(data.scores, data.matrix),
        )
