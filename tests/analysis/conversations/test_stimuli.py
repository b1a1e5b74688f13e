"""Transcripts become stimuli of a study, and its ratings come back to the simulator."""

from __future__ import annotations

import pytest

from empathylab.analysis.conversations import from_lab
from empathylab.analysis.conversations.stimuli import transcript_release, with_study
from empathylab.errors import UnknownName
from empathylab.models import ScriptedModel
from empathylab.protocols.converse.plan import SIMULATOR, Conversing, plan_conversing
from empathylab.runs import Job, run
from empathylab.situations.sources.released import Dimension, RatedStudy, Rater, Rating
from empathylab.store import Lab, responses_frame
from empathylab.store.imports.releases import import_release
from tests.helpers.conversing import COLD, KIND, listener, persona, rule_based_person


def talked(lab: Lab, count: int = 3) -> None:
    person = ScriptedModel(rule_based_person, name="scripted/person")
    for name, text in (("scripted/kind", KIND), ("scripted/cold", COLD)):
        model = ScriptedModel(listener(text), name=name)
        personas = tuple(persona(number) for number in range(count))
        plan = plan_conversing(lab, name, Conversing(personas, person.name))
        run(lab, [Job(model, [plan], partners={SIMULATOR: person})])


def test_a_whole_conversation_is_one_reply_to_its_first_message(sqlite_lab: Lab) -> None:
    talked(sqlite_lab)
    release = transcript_release(from_lab(sqlite_lab), name="talks")
    assert len(release.situation_set) == 3
    assert len(release.replies) == 6
    assert release.situation_set.situations[0].text == persona(0).opening
    assert release.replies[0].text.startswith(f"Reply: {KIND} (2)\n\nPerson: ")
    # No word of the hidden state and of the story reaches raters.
    assert "feeling" not in release.replies[0].text


def test_a_turn_is_a_reply_with_the_chat_before_it(sqlite_lab: Lab) -> None:
    talked(sqlite_lab)
    release = transcript_release(
        from_lab(sqlite_lab), name="talks", unit="turn", respondents=["scripted/cold"]
    )
    assert len(release.replies) == 9
    assert release.situation_set.situations[1].id == "p0-turn-2"
    second = release.replies[1]
    assert second.text.count("Reply: ") == 2
    assert [role for role, _ in (second.details or {})["chat"]] == [
        *("person", "respondent"),
        *("person", "respondent"),
    ]
    with pytest.raises(UnknownName):
        transcript_release(from_lab(sqlite_lab), name="talks", respondents=["nobody"])


def test_ratings_of_a_study_are_compared_with_the_simulator(lab: Lab) -> None:
    talked(lab, 4)
    result = from_lab(lab)
    release = transcript_release(result, name="talks", unit="turn")
    felt = {
        (number, exchange): feeling
        for number, exchange, feeling in result.feelings[
            "conversation", "exchange", "feeling"
        ].iter_rows()
    }
    ratings = [
        Rating(
            rater,
            reply.situation,
            reply.respondent,
            round(1 + 4 * felt[reply.details["conversation"], reply.details["exchange"]] / 100),
            "feeling",
        )
        for reply in release.replies
        if reply.details
        for rater in ("r1", "r2")
    ]
    study = RatedStudy(
        name="rated-talks",
        title="Rated talks",
        design="within",
        dimensions=(Dimension("feeling", (1, 2, 3, 4, 5)),),
        raters=(Rater("r1"), Rater("r2")),
        ratings=tuple(ratings),
    )
    import dataclasses

    import_release(
        lab,
        dataclasses.replace(release, study=study),
        kind="stimuli",
        source="talks",
        fingerprint="x",
    )
    # Every respondent replies to the same turns: those that all conversations have.
    assert responses_frame(lab).height == 24
    [card] = with_study(lab, from_lab(lab), "rated-talks").people
    assert (card.simulator, card.level, card.units, card.raters) == (
        "scripted/person",
        "turn",
        24,
        2,
    )
    assert card.correlation > 0.95
    assert card.verdict == "agrees with people"
