"""Who is let into a study, and the place they get in it."""

from __future__ import annotations

from datetime import timedelta

from empathylab.store.studies.slots import abandon_slot, platform_details
from empathylab.study.assignment.allocation import (
    FOR_GOOD,
    Full,
    Person,
    choose_place,
    displaced,
    is_live,
)
from empathylab.study.assignment.quotas import quota_traits
from empathylab.study.blocks.interface import Outcome
from empathylab.study.group_commit.current_places import claim_state, note_claim
from empathylab.study.session.eligibility import was_here
from empathylab.study.session.endings import closed, finished
from empathylab.study.session.transactions import Escalate, ParticipantTransaction
from empathylab.study.session.visits import Closed, Finished


def let_in(transaction: ParticipantTransaction) -> Closed | Finished | None:
    """What keeps the person from the pages, if anything does."""
    row = transaction.row
    status, study_status = row.status, row.study_status
    if status == "finished":
        return finished(transaction, "completed")
    if status == "repeated":
        return closed(transaction, "repeated", "screened-out")
    if status in FOR_GOOD:
        if row.outcome is None:
            return closed(transaction, "ended")
        return finished(transaction, row.outcome)
    if row.outcome == "timed-out":
        return finished(transaction, "timed-out")
    if row.arm is None:
        # Anyone who declined is told so again, even when the study has closed since.
        if row.outcome == "no-consent":
            return finished(transaction, "no-consent")
        if row.world != "test" and study_status in ("paused", "closed"):
            outcome: Outcome | None = "full" if study_status == "closed" else None
            return closed(transaction, study_status, outcome)
        return None
    if row.world != "test" and study_status == "closed":
        return closed(transaction, "closed")
    if _is_out_of_time(transaction):
        transaction.change(status="timed-out", outcome="timed-out", draft={})
        return finished(transaction, "timed-out")
    if is_live(transaction.place, transaction.launched.study.time_limits, transaction.now):
        return None
    return claim(transaction)


def _is_out_of_time(transaction: ParticipantTransaction) -> bool:
    """Whether the time to finish, counted from the first item, is over."""
    within = transaction.launched.study.time_limits.finish_within
    if within is None or transaction.row.world == "test" or transaction.row.status != "live":
        return False
    return bool(transaction.now - transaction.row.claimed_at > timedelta(minutes=within))


def claim(transaction: ParticipantTransaction) -> Closed | None:
    """Takes the next place, or the person's own again; says why not where there is none."""
    transaction.require("locked")
    row, launched, batch = transaction.row, transaction.launched, transaction.batch
    study = launched.study
    # They may have come to two versions before they had a place in either, or left one.
    once = row.arm is None and study.recruitment.once
    if once and was_here(batch, launched, row.person):
        transaction.change(status="repeated", outcome="screened-out")
        return closed(transaction, "repeated", "screened-out")
    traits = dict(row.traits) or _traits(transaction)
    state = claim_state(batch, launched, row, transaction.now)
    # By the clock as it is now that nobody else can claim: places are in the order of time.
    person = Person(row.person, row.world, traits)
    now = max(transaction.now, transaction.clock())
    choice = choose_place(study, state, person, now, secret=launched.secret)
    if isinstance(choice, Full):
        if row.arm is None:
            transaction.change(outcome=choice.outcome)
        elif choice.reason == "given-on" and _was_returned(transaction):
            return closed(transaction, "returned")
        return closed(transaction, choice.reason, choice.outcome)
    for item in displaced(state, choice):
        if not abandon_slot(transaction.connection, launched.row, item.person, item.seen_at):
            raise Escalate("locked")  # seen in this very moment: choose again
        batch.forget(item.person)
    is_new = row.arm is None
    transaction.write(
        arm=choice.arm,
        slot=choice.slot,
        status=choice.status,
        claimed_at=choice.claimed_at,
        seen_at=choice.seen_at,
        traits=dict(choice.traits),
        outcome=None,
    )
    if is_new:
        note_claim(batch, choice)
    else:
        batch.read_anew()  # they may stand among the others already
    return None


def _was_returned(transaction: ParticipantTransaction) -> bool:
    """Whether the person's place was free because Prolific has their submission back."""
    platform = transaction.launched.study.recruitment.platform
    return platform == "prolific" and transaction.row.status == "returned"


def _traits(transaction: ParticipantTransaction) -> dict[str, str]:
    """The traits that the study's quotas use, where it has any."""
    study = transaction.launched.study
    if not study.quotas:
        return {}
    platform = platform_details(
        transaction.batch.reading, transaction.launched.row, transaction.row.person
    )
    return quota_traits(study, transaction.given, platform)
