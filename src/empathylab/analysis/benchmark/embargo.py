"""Leaderboards without what judges said of replies that a running study shows."""

from __future__ import annotations

import dataclasses

from empathylab.analysis.benchmark.analysis import Leaderboard, report_leaderboard
from empathylab.analysis.benchmark.estimates import measured_by_people
from empathylab.analysis.benchmark.frames import Ground, measured_replies
from empathylab.analysis.benchmark.leaderboard import Entry, ranked
from empathylab.store import Lab
from empathylab.store.judged_responses import responses_in_open_studies


def report_board(lab: Lab, study: str) -> Leaderboard | None:
    """The leaderboard of a closed study as a report may show it; None where it has none to show."""
    whole = report_leaderboard(lab, study)
    board = None if whole is None else told_board(lab, whole)
    if board is None or board is whole:
        return whole
    judged = any(one.found.judge is not None for one in board.entries)
    # Of two whom people rated, the ratings' own section says it all.
    return board if len(board.entries) > 2 or (judged and len(board.entries) == 2) else None


def told_board(lab: Lab, board: Leaderboard) -> Leaderboard:
    """The leaderboard without estimates by a judge of whom a study that takes people shows.

    Whom people rated in the board's own study stays, by their ratings alone.
    """
    shown = responses_in_open_studies(lab)
    hidden = {one.respondent for one in board.entries if _judged_early(lab, board, one, shown)}
    if not hidden:
        return board
    kept = [
        _by_people(board.ground, one) if one.respondent in hidden else one
        for one in board.entries
        if one.respondent not in hidden or one.found.basis != "judge"
    ]
    ranking = ranked(kept)
    note = (
        "What judges said is left out, because a study that still takes people shows these "
        f"replies: {', '.join(sorted(hidden))}."
    )
    return dataclasses.replace(
        board, entries=ranking.entries, pairs=ranking.pairs, notes=(*board.notes, note)
    )


def _judged_early(lab: Lab, board: Leaderboard, one: Entry, shown: dict[int, str]) -> bool:
    writer = board.ground.writer(one.respondent)
    if one.found.basis == "people" or writer not in shown.values():
        return False
    replies = measured_replies(lab, board.ground, one.respondent, board.asked.prompt)
    return not shown.keys().isdisjoint(reply.response for reply in replies)


def _by_people(ground: Ground, one: Entry) -> Entry:
    return dataclasses.replace(
        one,
        found=measured_by_people(ground, one.respondent, parts=False),
        replies=ground.people.filter(respondent=one.respondent)["response"].n_unique(),
        judged_first=None,
        judged_last=None,
    )
