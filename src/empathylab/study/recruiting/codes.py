"""Completion codes that a study needs, so that no outcome is a dead end for a paid participant."""

from __future__ import annotations

from collections.abc import Iterator

from empathylab.study.blocks.interface import Outcome
from empathylab.study.design.definition import Study


def missing_codes(study: Study) -> tuple[Outcome, ...]:
    """The outcomes of a study on Prolific that need a completion code and have none.

    Participants who leave by themselves return their submission, so `withdrawn` needs no code.
    """
    if study.recruitment.platform != "prolific":
        return ()
    needed = dict.fromkeys(_needed(study))
    return tuple(outcome for outcome in needed if outcome not in study.recruitment.codes)


def code_problems(study: Study) -> Iterator[str]:
    """A sentence where codes are missing."""
    missing = missing_codes(study)
    if missing:
        yield (
            f"The study is on Prolific and has no completion code for {', '.join(missing)}: "
            "participants with these outcomes could not return to Prolific. Add the codes under "
            "recruitment, codes, and on the study's page on Prolific."
        )


def _needed(study: Study) -> Iterator[Outcome]:
    yield "completed"
    for block in study.blocks:
        yield from block.early_outcomes
    if study.quotas or study.recruitment.once:
        yield "screened-out"
    yield "full"
    if study.time_limits.finish_within is not None:
        yield "timed-out"
