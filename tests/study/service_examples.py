"""Labs with a launched study in them, and people who walk through it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select

from empathylab.scales import builtin_scale
from empathylab.scales.wording import with_words
from empathylab.situations import builtin_set
from empathylab.store import Lab, schema
from empathylab.store.inserts import add_respondent, add_scale, add_situation_set
from empathylab.study import Study
from empathylab.study.admin.retention import apply_retention
from empathylab.study.blocks.attention import Attention
from empathylab.study.blocks.tutorial import Tutorial
from empathylab.study.session.service import (
    Finished,
    Page,
    PlatformIds,
    Saved,
    StudyService,
    launch,
)
from tests.study.examples import between, scales

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


class Clock:
    """A clock that goes on by a second whenever it is read, and further when it is told to."""

    def __init__(self, start: datetime = START) -> None:
        self.time = start

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time

    def skip(self, **amount: float) -> None:
        self.time += timedelta(**amount)


def furnish(
    lab: Lab, *respondents: str, chosen: str = "dialogues", prompt: str | None = None
) -> None:
    """Fills the lab with a worded TEQ and with replies of the respondents to a whole set."""
    teq = builtin_scale("teq")
    with lab.writing() as connection:
        add_scale(connection, with_words(teq, scales()["teq"].require_words()))
        ids = add_situation_set(connection, builtin_set(chosen))
        for name in respondents:
            number = add_respondent(connection, name, "human" if name == "human" else "model")
            rows = [
                {
                    "situation_id": one,
                    "respondent_id": number,
                    "sample": 0,
                    "prompt": prompt,
                    "text": f"Reply {number} to {key}.",
                    "outcome": "valid",
                    "added_at": START,
                }
                for key, one in ids.items()
            ]
            connection.execute(schema.responses.insert(), rows)


def opened(
    lab: Lab, study: Study | None = None, *, clock: Clock | None = None
) -> tuple[StudyService, Clock]:
    """A launched study, with all that it needs; the small one between subjects unless named."""
    study, clock = study or between(), clock or Clock()
    furnish(lab, *(arm.respondent for arm in study.arms.values()))
    launch(lab, study, now=clock())
    return StudyService(lab, study.name, clock=clock), clock


def someone(service: StudyService, name: str, **options: Any) -> str:
    """The key of a person who arrives by the study's link."""
    ids = PlatformIds(service.study.recruitment.platform, name)
    return service.arrive(ids, **options)


def careful(study: Study, page: Page) -> dict[str, str]:
    """Answers that are right and complete."""
    content = page.content
    values: dict[str, str] = {}
    block = study.block(page.step.partition("/")[0])
    for ask in content.asks:
        middle = ask.options[len(ask.options) // 2].value if ask.options else ""
        if ask.kind == "choices":
            values[f"{ask.name}.{middle}"] = middle
        elif ask.kind == "ranking":
            for place, option in enumerate(ask.options, start=1):
                values[f"{ask.name}.{option.value}"] = str(place)
        elif ask.kind == "matrix":
            for row in ask.rows:
                values[f"{ask.name}.{row.value}" if ask.name else row.value] = middle
        elif ask.options:
            values[ask.name] = middle
        elif ask.kind == "number":
            values[ask.name] = "30"
        elif ask.required:
            values[ask.name] = "I am so sorry to hear it"
    if content.page == "consent":
        values["agree"] = "yes"
    if content.page == "check" and isinstance(block, Tutorial) and block.check:
        for number, question in enumerate(block.check.questions, start=1):
            values[f"question-{number}"] = str(question.right_option)
    if isinstance(block, Attention) and block.own_check:
        values["question"] = str(block.own_check.right_option)
    return values


def step_on(service: StudyService, person: str) -> Page | None:
    """The page that was answered; None where there is none to answer."""
    page = service.view(person)
    if not isinstance(page, Page):
        return None
    if isinstance(clock := service.clock, Clock):
        clock.skip(seconds=page.content.least_seconds)
    done = service.submit(person, page.step, careful(service.study, page), {"seconds": 1.5})
    assert isinstance(done, Saved), done
    return page


def walk(service: StudyService, person: str, until: str | None = None) -> Finished | Page:
    """Where a careful person arrives: at the end, or at the first page of that kind."""
    while True:
        page = service.view(person)
        if isinstance(page, Page) and page.content.page == until:
            return page
        if step_on(service, person) is None:
            assert isinstance(page, Finished), page
            return page


def rows_of(lab: Lab, table: Any) -> list[dict[str, Any]]:
    """All rows of a table of the lab."""
    with lab.reading() as connection:
        found = connection.execute(select(table).order_by(*table.primary_key.columns)).mappings()
        return [dict(row) for row in found]


def delete_expired(service: StudyService) -> tuple[int, int]:
    """How many platform IDs and how many comments the study's retention deletes now."""
    study = service.launched.study
    done = apply_retention(service.lab, study.name, study.version, service.now())
    return done.platform_ids, done.comments
