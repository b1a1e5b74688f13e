"""A new arm in an old study: the same protocol, raters for it alone, all else as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from empathylab.analysis import ratings as rated_replies
from empathylab.errors import InputError, UnknownName
from empathylab.store import Lab, schema
from empathylab.store.inserts import add_respondent, add_scale
from empathylab.store.ratings import ratings_frame
from empathylab.study import Study, parse_study, preset_text
from empathylab.study.added_arms.base_studies import UNCHECKED
from empathylab.study.added_arms.instruments import measured_study
from empathylab.study.added_arms.joining import JoinedArm, add_arm
from empathylab.study.archives import pack_study, unpack_study
from empathylab.study.session.service import Closed, Page, StudyService, launch
from tests.study.archived import finished, rate_all, released
from tests.study.examples import BETWEEN, between, scales, within
from tests.study.service_examples import (
    START,
    Clock,
    furnish,
    opened,
    rows_of,
    someone,
    step_on,
    walk,
)


def joined(lab: Lab, clock: Clock, **options: Any) -> JoinedArm:
    clock.skip(days=40)
    return add_arm(lab, "small", "third/model", now=clock(), arm="three", **options)


@pytest.mark.slow
def test_a_closed_study_opens_again_for_the_new_arm_alone(lab: Lab) -> None:
    service, clock = finished(lab)
    furnish(lab, "third/model")
    done = joined(lab, clock)
    assert (done.change, done.places) == ("reopened", 6)
    for number in range(6):
        rate_all(service, someone(service, f"newcomer {number}"), "3")
    arms = {arm.arm: (arm.finished, arm.stopped) for arm in service.actions.status().arms}
    assert arms == {"one": (2, True), "two": (2, True), "three": (6, False)}
    late = someone(service, "one too many")
    while step_on(service, late) is not None:
        pass
    assert isinstance(service.view(late), Closed)


def test_the_new_arm_shows_the_same_situations_in_the_same_batches(sqlite_lab: Lab) -> None:
    service, clock = finished(sqlite_lab)
    furnish(sqlite_lab, "third/model")
    joined(sqlite_lab, clock)
    rate_all(service, someone(service, "newcomer"), "3")
    slots = StudyService(sqlite_lab, "small").launched.slots
    batches = {
        arm: [[item.situation for item in slot.items] for slot in own] for arm, own in slots.items()
    }
    assert batches["three"] == batches["one"] == batches["two"]
    new = ratings_frame(sqlite_lab, "small").filter(arm="three")
    assert new["respondent"].unique().to_list() == ["third/model"]


def test_a_participant_who_had_not_finished_does_not_come_back_to_an_old_arm(
    sqlite_lab: Lab,
) -> None:
    service, clock = finished(sqlite_lab, close=False)
    late = someone(service, "late")
    walk(service, late, until="rate")
    service.actions.close()
    furnish(sqlite_lab, "third/model")
    joined(sqlite_lab, clock)
    assert isinstance(service.view(late), Closed)


def test_a_person_who_took_part_before_is_known(sqlite_lab: Lab) -> None:
    service, clock = finished(sqlite_lab)
    furnish(sqlite_lab, "third/model")
    joined(sqlite_lab, clock)
    again = someone(service, "person 0")
    assert not isinstance(service.view(again), Page)


def test_an_open_study_goes_on_with_all_its_arms(sqlite_lab: Lab) -> None:
    service, clock = finished(sqlite_lab, close=False)
    furnish(sqlite_lab, "third/model")
    assert joined(sqlite_lab, clock).change == "joined"
    assert not any(arm.stopped for arm in service.actions.status().arms)
    rate_all(service, someone(service, "next"), "3")
    # It has the fewest places, so it is filled first.
    assert {arm.arm: arm.finished for arm in service.actions.status().arms}["three"] == 1


def test_the_same_arm_again_changes_nothing(sqlite_lab: Lab) -> None:
    service, clock = finished(sqlite_lab)
    furnish(sqlite_lab, "third/model")
    joined(sqlite_lab, clock)
    acts = len(service.actions.audit())
    assert joined(sqlite_lab, clock).change == "unchanged"
    assert len(service.actions.audit()) == acts


def test_the_audit_log_keeps_who_added_which_arm(sqlite_lab: Lab) -> None:
    service, clock = finished(sqlite_lab)
    furnish(sqlite_lab, "third/model")
    joined(sqlite_lab, clock, who="ann")
    last = service.actions.audit()[-1]
    assert (last.who, last.action, last.details["arm"]) == ("ann", "add arm", "three")


def test_missing_replies_are_named_with_the_command_that_makes_them(sqlite_lab: Lab) -> None:
    _, clock = finished(sqlite_lab)
    with pytest.raises(InputError, match=r"6 of the study's 6.*empathylab respond third/model"):
        joined(sqlite_lab, clock)
    furnish(sqlite_lab, "third/model")
    gone = rows_of(sqlite_lab, schema.study_situations)[0]["situation_id"]
    with sqlite_lab.writing() as connection:
        table = schema.responses
        connection.execute(
            update(table).where(table.c.situation_id == gone).values(outcome="refusal")
        )
    with pytest.raises(InputError, match="no usable reply to 1 of"):
        joined(sqlite_lab, clock)
    assert rows_of(sqlite_lab, schema.studies)[0]["status"] == "closed"


def test_the_command_asks_by_the_template_of_the_other_arms(sqlite_lab: Lab) -> None:
    furnish(sqlite_lab, "first/model", "second/model", prompt="plain-listener@1")
    launch(sqlite_lab, between(), now=START)
    with pytest.raises(InputError, match="--set dialogues --template plain-listener"):
        add_arm(sqlite_lab, "small", "third/model", now=START)


def test_replies_to_another_prompt_are_said(sqlite_lab: Lab) -> None:
    furnish(sqlite_lab, "first/model", "second/model", prompt="plain-listener@1")
    furnish(sqlite_lab, "third/model", prompt="empathic-listener@1")
    launch(sqlite_lab, between(), now=START)
    done = add_arm(sqlite_lab, "small", "third/model", now=START)
    assert done.arm == "model"
    assert "asked for by empathic-listener@1" in done.notes[0]


def test_replies_to_several_prompts_need_one_to_be_named(sqlite_lab: Lab) -> None:
    _, clock = finished(sqlite_lab, people=1)
    for prompt in ("a@1", "b@1"):
        furnish(sqlite_lab, "third/model", prompt=prompt)
    with pytest.raises(InputError, match="several prompts"):
        joined(sqlite_lab, clock)
    assert joined(sqlite_lab, clock, prompt="a@1").change == "reopened"


def test_an_arm_of_that_name_is_refused(sqlite_lab: Lab) -> None:
    _, clock = finished(sqlite_lab, people=1)
    furnish(sqlite_lab, "third/model")
    with pytest.raises(InputError, match="an arm with this name; got 'one'"):
        add_arm(sqlite_lab, "small", "third/model", now=clock(), arm="one")


def test_a_study_within_subjects_takes_no_arm_later(sqlite_lab: Lab) -> None:
    _, clock = opened(sqlite_lab, within(2))
    with pytest.raises(InputError, match="only a between-subjects study"):
        add_arm(sqlite_lab, "small", "third/model", now=clock())


def test_situations_that_changed_in_the_lab_are_refused(sqlite_lab: Lab) -> None:
    _, clock = finished(sqlite_lab, people=1)
    furnish(sqlite_lab, "third/model")
    used = rows_of(sqlite_lab, schema.study_situations)[0]["situation_id"]
    with sqlite_lab.writing() as connection:
        table = schema.situations
        connection.execute(update(table).where(table.c.id == used).values(text="Other words."))
    with pytest.raises(InputError, match="the protocol's hash should be"):
        joined(sqlite_lab, clock)


def test_a_file_with_other_texts_is_refused_and_one_with_other_recruitment_is_taken(
    sqlite_lab: Lab,
) -> None:
    service, clock = finished(sqlite_lab, people=1)
    furnish(sqlite_lab, "third/model")
    other = parse_study(BETWEEN.replace("Take part?", "Will you take part?"))
    with pytest.raises(InputError, match=r"other blocks\.consent\.text"):
        joined(sqlite_lab, clock, file=other)
    codes = "{platform: prolific, codes: {completed: DONE}}"
    joined(sqlite_lab, clock, file=parse_study(BETWEEN.replace("{platform: open}", codes)))
    assert StudyService(sqlite_lab, service.name).study.recruitment.codes == {"completed": "DONE"}


def test_an_unknown_study_is_said(sqlite_lab: Lab) -> None:
    finished(sqlite_lab, people=1)
    with pytest.raises(UnknownName, match="Did you mean 'small'"):
        add_arm(sqlite_lab, "smal", "third/model", now=START)


# A study that came as an archive.


def test_an_archived_study_is_launched_here_with_the_new_arm_alone(
    lab: Lab, tmp_path: Path
) -> None:
    with Lab.open(tmp_path / "origin") as origin:
        service, clock = finished(origin)
        archive = pack_study(origin, "small")
        frozen = rows_of(origin, schema.studies)[0]["protocol_hash"]
    unpack_study(lab, archive)
    furnish(lab, "third/model")
    done = joined(lab, clock)
    assert (done.change, done.protocol_hash) == ("launched", frozen)
    assert "cannot be recognised" in done.notes[0]
    here = StudyService(lab, "small", clock=clock)
    assert list(here.launched.slots) == ["three"]
    for number in range(6):
        rate_all(here, someone(here, f"newcomer {number}"), str(1 + number % 3))
    here.actions.close()
    counts = {arm.arm: arm.ratings for arm in measured_study(lab, "small").arms}
    assert counts == {"one": 4, "two": 4, "three": 12}
    analysis = rated_replies.from_lab(lab, "small", reference="one")
    assert analysis.different_periods
    assert [(item.arm, str(item.first)) for item in analysis.collected] == [
        ("one", "2026-03-01"),
        ("two", "2026-03-01"),
        ("three", "2026-04-10"),
    ]
    # The archive that it came from is still known.
    assert unpack_study(lab, archive).change == "unchanged"
    assert [item["arm"] for item in pack_study(lab, "small").content["arms.json"]] == [
        "one",
        "two",
        "three",
    ]
    assert service.secret != here.secret


def test_an_arm_that_was_rated_elsewhere_is_not_launched_here(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    with Lab.open(tmp_path / "origin") as origin:
        _, clock = finished(origin)
        archive = pack_study(origin, "small")
    unpack_study(sqlite_lab, archive)
    furnish(sqlite_lab, "third/model")
    joined(sqlite_lab, clock)
    more = between(
        arms={**between().arms, "three": StudyService(sqlite_lab, "small").study.arms["three"]}
    )
    with pytest.raises(InputError, match="rated elsewhere"):
        launch(sqlite_lab, more, now=clock())


def test_an_archived_study_needs_the_very_wording_of_its_scales(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    with Lab.open(tmp_path / "origin") as origin:
        _, clock = finished(origin)
        archive = pack_study(origin, "small")
    unpack_study(sqlite_lab, archive)
    with pytest.raises(InputError, match=r"wording of the scale teq.*scales import"):
        joined(sqlite_lab, clock)
    with sqlite_lab.writing() as connection:
        add_scale(connection, scales()["teq"])
    with pytest.raises(InputError, match="no usable reply"):
        joined(sqlite_lab, clock)


# A study whose ratings came from a published file.

RELEASE = (
    BETWEEN.replace("name: small", "name: mine")
    .replace("{set: dialogues, count: 6}", "{set: welivita-2024}")
    .replace("batch_size: 2", "batch_size: 4")
    .replace("ratings_per_response: 2", "ratings_per_response: 1")
    .replace(
        "How empathetic?",
        "How empathetic is the reply, compared with how you would have replied?",
    )
)


def answered(lab: Lab, respondent: str) -> None:
    """Replies of a new respondent to the release's situations, and a worded TEQ."""
    with lab.writing() as connection:
        add_scale(connection, scales()["teq"])
        number = add_respondent(connection, respondent, "model")
        rows = [
            {
                "situation_id": row["id"],
                "respondent_id": number,
                "sample": 0,
                "prompt": "empathic-listener@1",
                "text": f"New reply to {row['key']}.",
                "outcome": "valid",
                "added_at": START,
            }
            for row in rows_of(lab, schema.situations)
        ]
        connection.execute(schema.responses.insert(), rows)


def release_arm(lab: Lab, file: Study | None) -> JoinedArm:
    return add_arm(lab, "welivita-2024", "new/model", now=START, file=file)


def test_a_release_takes_an_arm_with_a_file_and_says_what_was_not_checked(
    lab: Lab, tmp_path: Path
) -> None:
    released(lab, tmp_path)
    answered(lab, "new/model")
    done = release_arm(lab, parse_study(RELEASE))
    assert (done.change, done.arm, done.places) == ("launched", "model", 6)
    assert done.notes[0] == UNCHECKED
    service = StudyService(lab, "welivita-2024", clock=Clock())
    for number in range(6):
        rate_all(service, someone(service, f"newcomer {number}"), "3")
    service.actions.close()
    analysis = rated_replies.from_lab(lab, "welivita-2024")
    assert (analysis.reference, analysis.arms) == ("human", ("human", "gpt", "model"))
    assert analysis.rater_comparison is not None
    assert analysis.different_periods
    study = measured_study(lab, "welivita-2024")
    assert study.template is not None
    assert study.template["template"] == "empathic-listener"
    assert len(study.situations) == 24


def test_the_preset_has_the_points_of_the_release_and_its_own_question(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    released(sqlite_lab, tmp_path)
    preset = parse_study(preset_text("between-subjects"))
    [asked] = preset.dimensions
    [released_dimension] = measured_study(sqlite_lab, "welivita-2024").dimensions
    assert "compared with how you would have replied" in released_dimension.question
    assert "compared" not in asked.question.in_language("en")
    assert tuple(map(float, asked.values)) == released_dimension.values


def test_a_release_needs_a_file_with_its_texts(sqlite_lab: Lab, tmp_path: Path) -> None:
    released(sqlite_lab, tmp_path)
    answered(sqlite_lab, "new/model")
    with pytest.raises(InputError, match="--file STUDY.yaml"):
        release_arm(sqlite_lab, None)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{set: welivita-2024}", "{set: welivita-2024, count: 4}", "0 were not rated, 20 are"),
        ("{set: welivita-2024}", "{set: dialogues, count: 6}", "6 were not rated, 24 are"),
        ("[Bad, Okay, Good]", "[Poor, Okay, Good]", "rated on empathy: Bad, Okay, Good"),
        ("name: empathy", "name: warmth", "rated on empathy"),
        ("How empathetic is", "How kind is", "the question for empathy was"),
    ],
)
def test_a_file_that_does_not_match_the_release_is_refused(
    sqlite_lab: Lab, tmp_path: Path, old: str, new: str, said: str
) -> None:
    released(sqlite_lab, tmp_path)
    answered(sqlite_lab, "new/model")
    assert old in RELEASE
    before = [rows_of(sqlite_lab, table) for table in schema.metadata.sorted_tables]
    with pytest.raises(InputError, match=said):
        release_arm(sqlite_lab, parse_study(RELEASE.replace(old, new)))
    assert [rows_of(sqlite_lab, table) for table in schema.metadata.sorted_tables] == before


def test_the_command_for_a_release_names_its_set_and_template(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    released(sqlite_lab, tmp_path)
    with sqlite_lab.writing() as connection:
        add_scale(connection, scales()["teq"])
    with pytest.raises(InputError, match="--set welivita-2024 --template empathic-listener"):
        release_arm(sqlite_lab, parse_study(RELEASE))
