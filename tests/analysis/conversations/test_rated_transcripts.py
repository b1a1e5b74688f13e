"""Conversations rated in a running study: from the simulator to pages, people and back."""

from __future__ import annotations

import pytest

from empathylab.analysis.conversations import from_lab
from empathylab.analysis.conversations.stimuli import Unit, transcript_release, with_study
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.study import parse_study
from empathylab.study.bots import Settings, served, walk
from empathylab.study.session.service import Page, Saved, StudyService, launch
from empathylab.study.web import visit_token
from tests.analysis.conversations.test_stimuli import talked
from tests.study.service_examples import Clock, careful, someone

STUDY = """\
name: rated-talks
version: 1
title: Conversations
languages: [en]
design: between
seed: 3
arms: {kind: scripted/kind, cold: scripted/cold}
situations: {set: talks}
batch_size: 2
ratings_per_response: 1
dimensions:
  - name: feeling
    question: How does the person feel now?
    labels: [Very bad, Very good]
    input: slider
recruitment: {platform: open}
blocks:
  - block: consent
    text: Take part?
  - block: rate
    shows: [situation]
  - block: debrief
    text: Thank you
"""


def study_of(lab: Lab, unit: Unit) -> StudyService:
    """A launched study of the lab's conversations."""
    talked(lab, 4)
    release = transcript_release(from_lab(lab), name="talks", unit=unit)
    import_release(lab, release, kind="stimuli", source="talks", fingerprint=unit)
    clock = Clock()
    launch(lab, parse_study(STUDY), now=clock())
    return StudyService(lab, "rated-talks", clock=clock)


def rated(service: StudyService, name: str, felt: dict[tuple[int, int], float]) -> list[Page]:
    """The pages that somebody rated as the simulator felt."""
    person, pages = someone(service, name), []
    while isinstance(page := service.view(person), Page):
        given = careful(service.study, page)
        if page.content.page == "rate":
            pages.append(page)
            [part] = page.content.parts
            assert part.reply is not None
            exchange = sum(speaker == "respondent" for speaker, _ in part.reply.chat)
            response = next(
                response
                for response in service.launched.responses.values()
                if response.chat == part.reply.chat
            )
            conversation = conversations(service)[response.response]
            given["feeling"] = str(round(felt[conversation, exchange]))
        assert isinstance(service.submit(person, page.step, given), Saved)
    return pages


def conversations(service: StudyService) -> dict[int, int]:
    """By response, the conversation that it is from."""
    from sqlalchemy import select

    from empathylab.store import schema

    table = schema.responses
    with service.lab.reading() as connection:
        rows = connection.execute(select(table.c.id, table.c.details))
        return {int(row.id): row.details["conversation"] for row in rows}


@pytest.mark.parametrize(("unit", "pages", "units"), [("turn", 6, 24), ("conversation", 2, 8)])
def test_people_rate_transcripts_and_the_simulator_gets_a_card(
    sqlite_lab: Lab, unit: Unit, pages: int, units: int
) -> None:
    service = study_of(sqlite_lab, unit)
    token = visit_token("simulated", service.secret)
    with served(service) as address:
        met = walk(f"{address}?visit={token}", ["careful", "backtracker"], Settings())
    assert (met.lost, dict(met.errors)) == (0, {})
    result = from_lab(sqlite_lab)
    felt = {
        (number, exchange): feeling
        for number, exchange, feeling in result.feelings[
            "conversation", "exchange", "feeling"
        ].iter_rows()
    }
    for name in "abcd":
        shown = rated(service, name, felt)
        assert len(shown) == pages
        chats = [page.content.parts[0].reply.chat for page in shown]  # type: ignore[union-attr]
        if unit == "turn":
            # The turns of a conversation follow each other, each with the chat before it.
            assert [len(chat) for chat in chats] == [2, 4, 6, 2, 4, 6]
            assert chats[1][:2] == chats[0]
        # Nobody learns who the helper is.
        assert "scripted" not in repr([page.content for page in shown])
    service.actions.close()
    [card] = with_study(sqlite_lab, result, "rated-talks").people
    assert (card.level, card.units, card.ratings) == ("turn", units, units)
    assert card.correlation > 0.99
    assert abs(card.bias.estimate) < 1
