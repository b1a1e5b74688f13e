"""What becomes of a submitted page before anything is stored: too late, too soon, or said twice."""

from __future__ import annotations

from empathylab.study.blocks.answers import check_answer
from empathylab.study.blocks.forms import Accepted, Given, Refused, problem
from empathylab.study.blocks.steps import Step
from empathylab.study.session.flow import End, GoTo, study_steps
from empathylab.study.session.timing import too_soon
from empathylab.study.session.transactions import ParticipantTransaction
from empathylab.study.session.visits import Closed, Finished, Moved, Saved

_ENDED = "Your part in this study has ended."


def late(
    transaction: ParticipantTransaction,
    found: GoTo | End | Closed | Finished,
    step_key: str,
    values: Given,
) -> Saved | Moved:
    """A page that is not the person's turn: saved where it says again what is stored."""
    if step_key in transaction.given:
        steps = study_steps(transaction.path, transaction.given)
        step = next((step for step in steps if step.key == step_key), None)
        if step is not None:
            checked = check_answer(transaction.path, step, values)
            if isinstance(checked, Accepted) and checked.values == transaction.given[step_key]:
                return Saved(step_key, isinstance(found, End | Finished))
    return Moved(found.sentence if isinstance(found, GoTo | Closed) else _ENDED)


def hurried(transaction: ParticipantTransaction, step: Step) -> Refused | None:
    """The refusal of a page that was answered sooner than it can be read; None in good time."""
    least = transaction.launched.study.block(step.block).minimum_seconds(step)
    if not too_soon(transaction.shown_at(step), transaction.now, least):
        return None
    return Refused({"page": problem("too-soon", least=least)})
