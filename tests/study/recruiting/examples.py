"""Studies that recruit on a platform, and people whom it sends."""

from __future__ import annotations

from typing import Any

from empathylab.store import Lab
from empathylab.study.blocks.interface import Outcome
from empathylab.study.design.definition import Study
from empathylab.study.design.recruitment import Platform, Recruitment
from empathylab.study.session.service import PlatformIds, StudyService, launch
from tests.study.examples import between
from tests.study.recruiting.prolific_server import STUDY
from tests.study.service_examples import Clock, furnish, walk

CODES: dict[Outcome, str] = {
    "completed": "CODE-COMPLETED-1",
    "no-consent": "CODE-NO-CONSENT-2",
    "screened-out": "CODE-SCREENED-3",
    "full": "CODE-FULL-4",
    "failed-comprehension": "CODE-COMPREHENSION-5",
    "failed-attention": "CODE-ATTENTION-6",
    "withdrawn": "CODE-WITHDRAWN-7",
}


def recruiting(platform: Platform, **changes: Any) -> Study:
    """The small study between subjects, on that platform."""
    recruitment = {"codes": CODES, **changes.pop("recruitment", {})}
    return between(recruitment=Recruitment(platform=platform, **recruitment), **changes)


def served(lab: Lab, study: Study, clock: Clock | None = None) -> tuple[StudyService, Clock]:
    """The study, launched."""
    clock = clock or Clock()
    furnish(lab, *(arm.respondent for arm in study.arms.values()))
    launch(lab, study, now=clock())
    return StudyService(lab, study.name, clock=clock), clock


def sent(
    service: StudyService, name: str, *, session: str | None = None, study: str | None = STUDY
) -> str:
    """The key of someone whom the study's platform sends."""
    platform = service.study.recruitment.platform
    return service.arrive(PlatformIds(platform, name, study, session or f"session-{name}"))


def rating(service: StudyService, name: str, **options: Any) -> str:
    """The key of someone who is in the middle of rating."""
    person = sent(service, name, **options)
    walk(service, person, until="rate")
    return person


def finished(service: StudyService, name: str, **options: Any) -> str:
    """The key of someone who has finished."""
    person = sent(service, name, **options)
    walk(service, person)
    return person
