"""The viewer's pages by path."""

from __future__ import annotations

from collections.abc import Callable

from empathylab.view.pages import conversations, judges, overview, replies, runs, scales, studies
from empathylab.view.rendering import Page
from empathylab.view.visits import Visit

ROUTES: tuple[tuple[str, Callable[[Visit], Page]], ...] = (
    ("/", overview.show_overview),
    ("/runs", runs.show_runs),
    ("/runs/compare", runs.show_comparison),
    ("/runs/{run}", runs.show_run),
    ("/answers/{answer}", runs.show_answer),
    ("/replies", replies.show_replies),
    ("/replies/compare", replies.show_diff),
    ("/replies/{response}", replies.show_reply),
    ("/situations/{situation}", replies.show_situation),
    ("/conversations", conversations.show_conversations),
    ("/conversations/{conversation}", conversations.show_conversation),
    ("/scales", scales.show_administrations),
    ("/scales/{administration}", scales.show_administration),
    ("/studies", studies.show_studies),
    ("/studies/{study}", studies.show_study),
    ("/raters/{rater}", studies.show_rater),
    ("/judges", judges.show_judges),
    ("/judges/{study}", judges.show_disagreements),
)
