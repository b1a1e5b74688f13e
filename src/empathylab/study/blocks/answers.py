"""Submitted pages: the values to store, or what is wrong with them."""

from __future__ import annotations

from typing import Any

from empathylab.study.blocks.forms import Accepted, FormReader, Given, Refused
from empathylab.study.blocks.interface import ParticipantPath
from empathylab.study.blocks.steps import Step


def check_answer(path: ParticipantPath, step: Step, given: Given) -> Accepted | Refused:
    """The values of a submitted page, or what is wrong with them."""
    form = _read(path, step, given)
    return Refused(form.problems) if form.problems else Accepted(form.values)


def valid_values(path: ParticipantPath, step: Step, given: Given) -> dict[str, Any]:
    """Those values of an unfinished page that are right as they are: a draft to keep."""
    return _read(path, step, given).values


def _read(path: ParticipantPath, step: Step, given: Given) -> FormReader:
    form = FormReader(given)
    path.study.block(step.block).read(form, path, step)
    return form
