"""The sections of the report, in the order of the page."""

from __future__ import annotations

from empathylab.analysis.overview import LabOverview
from empathylab.analysis.overview.first_screen import FirstScreen, first_screen
from empathylab.report.appraisal.section import scales_section
from empathylab.report.benchmark.section import leaderboard_section
from empathylab.report.blocks import Section
from empathylab.report.colours import Colours
from empathylab.report.conversations.section import conversations_section
from empathylab.report.judges.section import judges_section
from empathylab.report.overview.section import data_section, methods_section, overview_section
from empathylab.report.preferences.section import preferences_section
from empathylab.report.ratings.section import raters_section, ratings_section
from empathylab.report.recipients.section import recipients_section
from empathylab.report.replies.section import replies_section
from empathylab.report.scores.section import gates_section, scores_section
from empathylab.report.style.section import style_section


def report_sections(data: LabOverview, first: FirstScreen | None = None) -> list[Section]:
    """The sections that these data fill."""
    from altair.utils.schemapi import debug_mode

    first = first_screen(data) if first is None else first

    def lead(section: str) -> list[str]:
        return [str(headline) for headline in first.headlines if headline.section == section]

    # Checking every part of every chart against its schema takes seconds; the tests draw them all.
    with debug_mode(False):
        found = [
            overview_section(data, first),
            gates_section(data.gates, data.comparisons),
            ratings_section(
                data.ratings,
                [leaderboard_section(board) for board in data.leaderboards],
                lead("ratings"),
            ),
            preferences_section(data.preferences, lead("preferences")),
            recipients_section(data.recipients, lead("recipients")),
            scores_section(data.scores, lead("scores")),
            conversations_section(data.conversations, lead("conversations")),
            scales_section(data.appraisal, lead("scales")),
            judges_section(data.judges, lead("judges")),
            style_section(data.style, lead("style")),
            replies_section(data, lead("replies")),
            raters_section(data.ratings),
            methods_section(data),
            data_section(data),
        ]
    return [section for section in found if section.blocks or section.id == "overview"]


def report_colours(data: LabOverview) -> Colours:
    """A colour for each respondent of the lab, and for the arms that one of them wrote."""
    authors: dict[str, set[str]] = {}
    for study in data.ratings:
        pairs = study.ratings.select("arm", "respondent").unique(maintain_order=True).rows()
        for arm, respondent in pairs:
            authors.setdefault(arm, set()).add(respondent)
    for result in data.preferences:
        for arm, author in result.authors.items():
            authors.setdefault(arm, set()).add(author)
    alone = {arm: next(iter(names)) for arm, names in authors.items() if len(names) == 1}
    # Those of the first screen's chart come first: the first colours differ most.
    return Colours((*alone.values(), *data.respondents), alone)
