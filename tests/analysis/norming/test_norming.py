"""A norming study from its file to the set: planted good and bad situations are told apart."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

import empathylab as el
from empathylab.analysis.norming import Criteria, Norming, from_answers, from_lab
from empathylab.cli.app import app
from empathylab.errors import InputError
from empathylab.situations import Situation, SituationSet, builtin_set
from empathylab.situations.sets import parse_set
from empathylab.situations.writing import set_to_toml
from empathylab.store import Lab
from empathylab.store.studies.norms import SituationAnswers
from empathylab.study import Study, parse_study, preset_text
from empathylab.study.blocks.norming import norm_scales
from empathylab.study.session.service import Page, StudyService, launch
from tests.helpers.command_line import empathylab
from tests.study.service_examples import Clock, careful, someone

[SCALE] = [scale for scale in norm_scales() if scale.id == "norms-8"]
ITEMS = {part.id: part.items[0] for part in SCALE.subscales}
EMOTIONS = tuple(ITEMS)[:8]
CHOSEN = tuple(builtin_set("appraisal").first_per_group(1))
# What is planted, by the emotion that a situation was written for; the others are good.
UNREAL = "jealousy"
"""Evokes its emotion, but nobody believes it."""
MISTAKEN = "guilt"
"""Evokes another emotion than it was written for."""
MIXED = "fear"
"""Evokes two emotions alike."""
COLD = "embarrassment"
"""Evokes nothing much."""
GOOD = set(EMOTIONS) - {UNREAL, MISTAKEN, MIXED, COLD}


def study() -> Study:
    text = preset_text("norming").replace("set: appraisal", "set: appraisal\n  per_emotion: 1")
    text = text.replace("batch_size: 15", "batch_size: 4").replace("after: 8", "after: 2")
    return parse_study(text.replace("people_per_situation: 40", "people_per_situation: 24"))


def values(situation: Situation, chance: random.Random) -> dict[int, int]:
    """What a simulated rater says of the situation, by what was planted."""
    target = situation.emotion or ""
    other = EMOTIONS[(EMOTIONS.index(target) + 3) % 8]
    means = dict.fromkeys(EMOTIONS, 2.0)
    means |= {"valence": 2.0, "arousal": 5.0, "realism": 6.0, "imaginability": 5.5, "distress": 3.0}
    means[other if target == MISTAKEN else target] = 6.0
    if target == MIXED:
        means[other] = 6.0
    if target == COLD:
        means[target] = 2.0
    if target == UNREAL:
        means["realism"] = 3.0
    return {
        ITEMS[name]: min(7, max(1, round(chance.gauss(mean, 0.9)))) for name, mean in means.items()
    }


def rated(lab: Lab) -> StudyService:
    """A study of eight situations that 48 simulated raters have finished."""
    clock = Clock()
    chosen = study()
    launch(lab, chosen, now=clock())
    service = StudyService(lab, chosen.name, clock=clock)
    by_text = {item.text: item for item in builtin_set("appraisal")}
    chance = random.Random(7)
    for number in range(48):
        person = someone(service, f"p{number}")
        while isinstance(page := service.view(person), Page):
            given = careful(chosen, page)
            shown = [part.text for part in page.content.parts if part.role == "situation"]
            if page.content.page == "norm":
                situation = by_text[shown[0]]
                said = values(situation, chance)
                given = {f"item-{item}": str(value) for item, value in said.items()}
                given["label"] = f"a bit of {situation.emotion}"
            clock.skip(seconds=30)
            service.submit(person, page.step, given, {"seconds": 30})
    return service


def test_planted_good_and_bad_situations_are_told_apart(sqlite_lab: Lab) -> None:
    rated(sqlite_lab)
    found = from_lab(sqlite_lab, "norming")
    assert found.raters == 48
    assert {situation.raters for situation in found.situations} == {24}
    failed = {situation.emotion: situation.failed for situation in found.situations}
    assert {emotion for emotion, reasons in failed.items() if not reasons} == GOOD
    assert failed[UNREAL] == ("realism",)
    assert all("lead" in failed[value] for value in (MISTAKEN, MIXED, COLD))
    assert all(situation.named == 1 for situation in found.situations)


def answers(situation: Situation, raters: int = 40, seed: int = 1) -> list[SituationAnswers]:
    chance = random.Random(f"{seed} {situation.id}")
    return [
        SituationAnswers(
            *(number, "appraisal", 2, situation.id),
            {item: float(value) for item, value in values(situation, chance).items()},
            None,
        )
        for number in range(raters)
    ]


def normed(raters: int = 40, criteria: Criteria | None = None) -> Norming:
    given = [one for situation in CHOSEN for one in answers(situation, raters)]
    return from_answers("mine", builtin_set("appraisal"), SCALE, given, criteria or Criteria())


def test_each_planted_fault_fails_its_own_criterion() -> None:
    failed = {situation.emotion: situation.failed for situation in normed().situations}
    assert {emotion for emotion, reasons in failed.items() if not reasons} == GOOD
    assert failed[UNREAL] == ("realism",)
    assert failed[MISTAKEN] == ("top", "lead")
    assert "lead" in failed[MIXED]
    assert failed[COLD] == ("top", "lead")


def test_with_too_few_raters_nothing_is_decided() -> None:
    assert all("raters" in situation.failed for situation in normed(19).situations)
    assert all("raters" not in situation.failed for situation in normed(20).situations)


def test_the_figures_of_one_situation_are_those_counted_by_hand() -> None:
    one = CHOSEN[0]
    assert one.emotion == "anger"
    rows = [(7, 5, 6), (5, 5, 4), (2, 6, 5)]  # anger, anxiety, realism; the others are 1
    given = [
        SituationAnswers(
            *(number, "appraisal", 2, one.id),
            {**dict.fromkeys(ITEMS.values(), 1.0), 1: anger, 2: anxiety, ITEMS["realism"]: real},
            label,
        )
        for (number, (anger, anxiety, real)), label in zip(
            enumerate(rows), ("angry", "Anger!", "worry"), strict=True
        )
    ]
    [found] = from_answers("x", builtin_set("appraisal"), SCALE, given, Criteria()).situations
    assert found.top == pytest.approx((1 + 0.5 + 0) / 3)  # the second rater has a tie
    assert found.intensity == pytest.approx(14 / 3)
    assert (found.rival, found.lead) == ("anxiety", pytest.approx(14 / 3 - 16 / 3))
    assert found.means["realism"] == pytest.approx(5)
    assert found.named == pytest.approx(2 / 3)
    # Wilson (1927) for 1.5 of 3: centre .5, margin
    # 1.96 * sqrt(.25/3 + 1.96**2/36) / (1 + 1.96**2/3) = .3747
    assert found.top_low == pytest.approx(0.5 - 0.3747, abs=5e-4)


def test_a_situation_of_an_unknown_emotion_cannot_meet_the_criteria() -> None:
    odd = Situation("odd", "Text", emotion="awe")
    whole = SituationSet("s", 1, "S", "en", "CC0-1.0", False, "For a test.", (odd,))
    given = [SituationAnswers(0, "s", 1, "odd", dict.fromkeys(ITEMS.values(), 5.0), None)]
    [found] = from_answers("x", whole, SCALE, given, Criteria(raters=1)).situations
    assert found.failed == ("emotion",)


def test_the_normed_set_can_be_written_and_read_again() -> None:
    result = normed()
    whole = result.normed_set()
    assert whole.id == "appraisal-normed"
    assert not whole.validated
    kept = result.normed_set(only_kept=True)
    assert kept.validated
    assert {item.emotion for item in kept} == GOOD
    again = parse_set(set_to_toml(kept), where="kept.toml")
    assert again == kept
    assert [item.norms for item in again] == [item.norms for item in kept]
    assert [item.tags for item in again] == [item.tags for item in kept]
    assert all(item.norms and item.norms["meets"] == 1 for item in again)


def test_every_built_in_set_survives_being_written() -> None:
    for name in ("appraisal", "dialogues", "posts"):
        chosen = builtin_set(name)
        assert parse_set(set_to_toml(chosen), where=name) == chosen


def test_where_nothing_meets_the_criteria_nothing_is_written() -> None:
    with pytest.raises(InputError, match="no situation meets the criteria"):
        normed(5).normed_set(only_kept=True)


def test_a_study_without_answers_is_one_sentence(sqlite_lab: Lab) -> None:
    with pytest.raises(InputError, match="no answers about situations"):
        from_lab(sqlite_lab, "norming")


def test_the_command_says_which_meet_the_criteria_and_writes_the_set(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    rated(sqlite_lab)
    file = tmp_path / "normed.toml"
    done = CliRunner().invoke(
        app,
        [
            *("analyze", "norming", "--lab", str(sqlite_lab.folder), "--json"),
            *("--write", str(file), "--only-kept"),
        ],
    )
    told = json.loads(done.stdout)
    assert {row["emotion"] for row in told["situations"] if row["meets"]} == GOOD
    written = parse_set(file.read_text(), where=file.name)
    assert written.validated
    assert len(written) == told["meets"]
    result = el.open_lab(sqlite_lab.folder, quiet=True).analyze.norming()
    assert result.to_dict() == told
    assert result.to_frame().filter("meets").height == told["meets"]
    assert result.summary().startswith(told["conclusion"])
    nowhere = tmp_path / "nowhere" / "normed.toml"
    refused = empathylab("analyze", "norming", "--lab", sqlite_lab.folder, "--write", nowhere)
    assert refused.exit_code == 2
    assert f"{nowhere}: the file cannot be written; got 'No such" in refused.stderr
