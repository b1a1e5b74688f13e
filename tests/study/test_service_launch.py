"""Launching: frozen, hashed, checked, and the same when launched again."""

from __future__ import annotations

import pytest

from empathylab.errors import InputError
from empathylab.scales import builtin_scale
from empathylab.scales.wording import with_words
from empathylab.store import Lab, schema
from empathylab.store.inserts import add_scale
from empathylab.store.ratings import lab_studies
from empathylab.store.studies.arms import add_study
from empathylab.study import parse_study
from empathylab.study.blocks.texts import Text
from empathylab.study.design.definition import Arm
from empathylab.study.design.recruitment import Recruitment
from empathylab.study.session.service import Finished, Page, StudyService, launch
from tests.study.examples import between
from tests.study.service_examples import START, furnish, opened, rows_of, someone, walk


def test_a_launched_study_is_open_and_has_a_secret_of_32_bytes(lab: Lab) -> None:
    service, _ = opened(lab)
    [row] = rows_of(lab, schema.studies)
    assert (row["name"], row["version"], row["status"]) == ("small", 1, "open")
    assert len(service.secret) == 32
    assert service.study == between()


def test_what_is_shown_stays_as_it_was_when_the_lab_gets_newer_replies(lab: Lab) -> None:
    service, _ = opened(lab)
    before = dict(service.launched.responses)
    furnish(lab, "first/model", "second/model")
    assert StudyService(lab, "small").launched.responses == before
    assert StudyService(lab, "small").launched.slots == service.launched.slots


def test_launching_again_changes_nothing(lab: Lab) -> None:
    service, clock = opened(lab)
    before = rows_of(lab, schema.studies)
    assert launch(lab, between(), now=clock()) == "small"
    assert rows_of(lab, schema.studies) == before
    assert len(service.actions.audit()) == 1


def test_changed_words_need_a_new_version(lab: Lab) -> None:
    _, clock = opened(lab)
    title = Text((("en", "Another title"),))
    with pytest.raises(InputError, match=r"frozen since its launch, but title changed.*version"):
        launch(lab, between(title=title), now=clock())
    launch(lab, between(title=title, version=2), now=clock())
    assert StudyService(lab, "small").study.version == 2
    assert StudyService(lab, "small@1").study.title != title
    with pytest.raises(InputError, match="version 2 of the study has already been launched"):
        launch(lab, between(), now=clock())
    assert set(lab_studies(lab)) == {"small", "small@1"}


def test_a_scale_that_changed_in_the_lab_is_noticed(lab: Lab) -> None:
    _, clock = opened(lab)
    teq = builtin_scale("teq")
    with lab.writing() as connection:
        add_scale(connection, with_words(teq, [f"Other {index}" for index in range(teq.items)]))
    with pytest.raises(InputError, match="situations or scales have changed in the lab"):
        launch(lab, between(), now=clock())


def test_an_arm_without_responses_is_said_before_launch(lab: Lab) -> None:
    furnish(lab, "first/model")
    with pytest.raises(InputError, match="The arm 'two' has no responses of second/model"):
        launch(lab, between(), now=START)
    assert rows_of(lab, schema.studies) == []


def test_an_arm_joins_later_and_running_servers_notice(lab: Lab) -> None:
    service, clock = opened(lab)
    walk(service, someone(service, "ann"))
    walk(service, someone(service, "bob"))
    furnish(lab, "third/model")
    arms = {**between().arms, "three": Arm(respondent="third/model")}
    launch(lab, between(arms=arms), now=clock(), who="eva")
    walk(service, someone(service, "cleo"))
    assert {arm.arm: arm.finished for arm in service.actions.status().arms} == {
        "one": 1,
        "two": 1,
        "three": 1,
    }
    assert (service.actions.audit()[-1].who, service.actions.audit()[-1].details) == (
        "eva",
        {"arms": ["three"]},
    )


def test_an_arm_that_was_launched_is_neither_removed_nor_changed(lab: Lab) -> None:
    _, clock = opened(lab)
    furnish(lab, "third/model")
    one = between().arms["one"]
    for arms in ({"one": one}, {"one": one, "two": Arm(respondent="third/model")}):
        with pytest.raises(InputError, match="can be stopped, but not removed or changed"):
            launch(lab, between(arms=arms), now=clock())


def test_recruitment_may_change(lab: Lab) -> None:
    service, clock = opened(lab)
    person = someone(service, "ann")
    walk(service, person)
    changed = Recruitment(platform="open", codes={"completed": "NEW1"})
    launch(lab, between(recruitment=changed), now=clock())
    view = service.view(person)
    assert isinstance(view, Finished)
    assert view.completion.code == "NEW1"


def test_replies_to_several_prompts_must_be_distinguished(lab: Lab) -> None:
    furnish(lab, "first/model", "second/model", prompt="plain")
    furnish(lab, "first/model", prompt="kind")
    with pytest.raises(InputError, match="several prompts; got 'kind, plain'"):
        launch(lab, between(), now=START)
    arms = {
        "one": Arm(respondent="first/model", prompt="kind"),
        "two": Arm(respondent="second/model"),
    }
    launch(lab, between(arms=arms), now=START)
    service = StudyService(lab, "small")
    kinds = {row["id"]: row["prompt"] for row in rows_of(lab, schema.responses)}
    shown = {
        kinds[one.response] for (_, arm), one in service.launched.responses.items() if arm == "one"
    }
    assert shown == {"kind"}


def test_an_imported_study_keeps_its_name(lab: Lab) -> None:
    with lab.writing() as connection:
        add_study(connection, "small", "Old", {"design": "between"}, status="closed")
    furnish(lab, "first/model", "second/model")
    with pytest.raises(InputError, match="imported study with this name"):
        launch(lab, between(), now=START)


SPOKEN = """\
name: spoken
version: 1
title: {en: Title, de: Titel}
languages: [en, de]
design: within
seed: 7
arms: {a: model/a, b: model/b}
situations: {set: dialogues, count: 2}
batch_size: 2
ratings_per_response: 1
dimensions:
  - name: empathy
    question: {en: How, de: Wie}
    labels: [{en: Bad, de: Schlecht}, {en: Good, de: Gut}]
recruitment: {platform: open}
blocks:
  - block: consent
    text: {en: Take part, de: Mitmachen}
  - block: rate
    shows: [situation]
  - block: debrief
    text: {en: Thanks, de: Danke}
"""


def test_several_languages_are_shown_and_are_analysed_by_the_first(lab: Lab) -> None:
    service, _ = opened(lab, parse_study(SPOKEN))
    person = someone(service, "ann", language="de")
    page = walk(service, person, until="rate")
    assert isinstance(page, Page)
    assert [option.label for option in page.content.asks[0].options] == ["Schlecht", "Gut"]
    walk(service, person)
    assert {row["label"] for row in rows_of(lab, schema.ratings)} == {"Good"}
    [dimension] = lab_studies(lab)["spoken"].dimensions
    assert dimension.labels == ("Bad", "Good")
