"""How the person who is helped feels: asked, stored, scored, exported, archived."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from empathylab.errors import UserError
from empathylab.scales import Scale, score
from empathylab.store import Lab, schema
from empathylab.study import parse_study
from empathylab.study.archives import pack_study, read_archive, unpack_study, write_archive
from empathylab.study.blocks.recipients.feel import feeling_scales
from empathylab.study.exports.folders import export_study
from empathylab.study.session.service import Page, Saved, StudyService
from tests.study.examples import BETWEEN
from tests.study.service_examples import opened, rows_of, someone, step_on

BEFORE = "  - block: feel\n    id: before\n    scale: mood\n    phase: before\n"
AFTER = "  - block: feel\n    id: after\n    scale: mood\n  - block: feel\n    id: helped\n"
STUDY = parse_study(
    BETWEEN.replace("  - block: rate", f"{BEFORE}  - block: rate").replace(
        "  - block: comment", f"{AFTER}  - block: comment"
    ),
    file="study.yaml",
)
RECIPIENT = feeling_scales()[1]


@pytest.mark.parametrize("scale", feeling_scales(), ids=lambda scale: scale.id)
def test_every_item_belongs_to_one_subscale(scale: Scale) -> None:
    items = sorted(item for part in scale.subscales for item in part.items)
    assert items == list(range(1, scale.items + 1))
    for ends in (scale.minimum, scale.maximum):
        found = score(scale, dict.fromkeys(items, float(ends)))
        assert {part.value for part in found} == {float(ends)}


def test_scores_by_hand() -> None:
    # heard: (7 + 6) / 2; trust: (1 + 2) / 2; the others are 4
    values = dict.fromkeys(range(1, 11), 4.0) | {1: 7.0, 2: 6.0, 9: 1.0, 10: 2.0}
    found = {part.subscale: part.value for part in score(RECIPIENT, values)}
    assert found == {
        "heard": 6.5,
        "understood": 4.0,
        "cared-for": 4.0,
        "connection": 4.0,
        "trust": 1.5,
    }


def answered(service: StudyService, person: str) -> None:
    """Walks to the end; moods fall from 6 to 2, and only the first statement is agreed with."""
    while isinstance(page := service.view(person), Page):
        if page.step not in ("before", "after", "helped"):
            step_on(service, person)
            continue
        asked = [ask.name for table in page.content.asks for ask in table.one_by_one()]
        value = {"before": "6", "after": "2", "helped": "1"}[page.step]
        given = dict.fromkeys(asked, value)
        if page.step == "helped":
            given["item-1"] = "7"
        assert isinstance(service.submit(person, page.step, given), Saved)


def test_feelings_are_scored_by_phase_and_hidden_while_the_study_is_open(
    lab: Lab, tmp_path: Path
) -> None:
    service, _ = opened(lab, STUDY)
    answered(service, someone(service, "ann"))
    stored = [(row["phase"], row["situation_id"]) for row in rows_of(lab, schema.administrations)]
    assert stored == [("default", None), ("before", None), ("after", None), ("after", None)]

    export_study(lab, "small", tmp_path / "open")
    raters = pl.read_csv(tmp_path / "open" / "raters.csv")
    # Asked again after the replies, so that even the first answers to it stay hidden.
    assert not [name for name in raters.columns if name.startswith("recipient")]
    assert "mood_unpleasant_after" not in raters.columns
    service.actions.close()
    export_study(lab, "small", tmp_path / "closed")
    (row,) = pl.read_csv(tmp_path / "closed" / "raters.csv").to_dicts()
    assert (row["mood_unpleasant_before"], row["mood_unpleasant_after"]) == (6.0, 2.0)
    assert (row["recipient_heard_after"], row["recipient_trust_after"]) == (4.0, 1.0)

    write_archive(pack_study(lab, "small"), tmp_path / "small.zip")
    with Lab.open(tmp_path / "other") as other:
        unpack_study(other, read_archive(tmp_path / "small.zip"))
        phases = [row["phase"] for row in rows_of(other, schema.administrations)]
    assert sorted(phases) == ["after", "after", "before", "default"]


def test_a_questionnaire_is_asked_once_in_each_phase() -> None:
    again = AFTER.replace("id: after", "id: more").replace("id: helped", "id: most")
    twice = BETWEEN.replace("  - block: comment", f"{AFTER}{again}  - block: comment")
    with pytest.raises(UserError, match="'mood' is asked twice in the phase 'after'"):
        parse_study(twice, file="study.yaml")
