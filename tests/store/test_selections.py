"""Draws in the lab."""

from __future__ import annotations

import dataclasses

import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.situations import Situation, SituationSet, builtin_set
from empathylab.situations.sampling.draws import draw
from empathylab.situations.sampling.methods import methods_paragraph
from empathylab.situations.sources.released import Release, Reply
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.store.selections import (
    draw_of,
    lab_selections,
    resolve_situations,
    save_draw,
    save_selection,
    selection_paragraph,
    situations_with_human_responses,
)
from empathylab.store.situations import save_situation_set

MINE = SituationSet(
    "mine",
    1,
    "Mine",
    "en",
    "CC0",
    False,
    "For tests.",
    tuple(Situation(f"s{n}", f"Story number {n}", "sad", context=("Hm",)) for n in range(5)),
)
RECIPE = {"kind": "matched", "by": "length"}


def test_a_draw_comes_back_as_it_was(lab: Lab) -> None:
    dialogues = builtin_set("dialogues")
    made = draw(dialogues, 64, seed=3, balance=("emotion", "length"))
    assert save_draw(lab, "balanced", dialogues, made) == "added"
    kept = lab_selections(lab)["balanced"]
    assert draw_of(kept) == made
    assert (kept.situation_set, kept.version) == ("dialogues", dialogues.version)


def test_the_same_draw_again_changes_nothing(lab: Lab) -> None:
    dialogues = builtin_set("dialogues")
    save_draw(lab, "balanced", dialogues, draw(dialogues, 32))
    assert save_draw(lab, "balanced", dialogues, draw(dialogues, 32)) == "unchanged"
    assert list(lab_selections(lab)) == ["balanced"]


def test_the_software_that_drew_does_not_make_another_draw(lab: Lab) -> None:
    dialogues = builtin_set("dialogues")
    made = draw(dialogues, 32)
    save_draw(lab, "balanced", dialogues, made)
    newer = dataclasses.replace(made, software="99.0")
    assert save_draw(lab, "balanced", dialogues, newer) == "unchanged"


def test_another_recipe_under_the_same_name_is_refused(lab: Lab) -> None:
    dialogues = builtin_set("dialogues")
    save_draw(lab, "balanced", dialogues, draw(dialogues, 32))
    with pytest.raises(InputError, match="differs in count, seed.*another name"):
        save_draw(lab, "balanced", dialogues, draw(dialogues, 33, seed=2))


def test_other_situations_by_the_same_recipe_are_refused(lab: Lab) -> None:
    save_selection(lab, "some", MINE, ["s1"], RECIPE)
    with pytest.raises(InputError, match="different selection with this name; got 'some'"):
        save_selection(lab, "some", MINE, ["s2"], RECIPE)


def test_any_list_of_situations_can_be_kept_in_its_order(lab: Lab) -> None:
    save_selection(lab, "some", MINE, ["s3", "s1"], RECIPE, result={"paragraph": "Matched."})
    whole, situations = resolve_situations(lab, "some")
    assert whole == MINE
    assert situations == (MINE.situations[3], MINE.situations[1])
    assert lab_selections(lab)["some"].recipe == RECIPE
    assert draw_of(lab_selections(lab)["some"]) is None
    assert selection_paragraph(lab, "some") == "Matched."


def test_the_paragraph_of_a_draw_is_read_from_the_lab(lab: Lab) -> None:
    dialogues = builtin_set("dialogues")
    made = draw(dialogues, 32)
    save_draw(lab, "balanced", dialogues, made)
    assert selection_paragraph(lab, "balanced") == methods_paragraph(made)
    assert selection_paragraph(lab, "dialogues") is None


def test_a_sets_id_stands_for_all_its_situations(lab: Lab) -> None:
    whole, situations = resolve_situations(lab, "dialogues")
    assert (whole, situations) == (builtin_set("dialogues"), builtin_set("dialogues").situations)


def test_a_selection_keeps_the_version_it_was_drawn_from(lab: Lab) -> None:
    save_selection(lab, "some", MINE, ["s1"], RECIPE)
    changed = dataclasses.replace(MINE, situations=MINE.situations[2:])
    with lab.writing() as connection:
        assert save_situation_set(connection, changed).change == "new version"
    whole, situations = resolve_situations(lab, "some")
    assert (whole.version, len(whole), situations[0].id) == (1, 5, "s1")
    assert resolve_situations(lab, "mine")[0].version == 2


def test_an_unknown_name_gets_the_nearest_suggestion_set_or_selection(lab: Lab) -> None:
    save_selection(lab, "balanced", MINE, ["s1"], RECIPE)
    with pytest.raises(UnknownName, match="Did you mean 'balanced'"):
        resolve_situations(lab, "balancd")
    with pytest.raises(UnknownName, match="Did you mean 'dialogues'"):
        resolve_situations(lab, "dialogue")


def test_only_people_who_replied_count_as_having_replied(lab: Lab) -> None:
    replies = (Reply("s1", "bot/a", "Oh."), Reply("s2", "them", "Oh!"), Reply("s3", "them", ""))
    release = Release(MINE, {"bot/a": "model", "them": "human"}, replies)
    import_release(lab, release, kind="responses", source="x", fingerprint="1")
    assert situations_with_human_responses(lab, "mine") == ["s2"]
    assert situations_with_human_responses(lab, "dialogues") == []


def test_a_sets_name_is_taken(lab: Lab) -> None:
    with pytest.raises(InputError, match="a set of situations has this name"):
        save_selection(lab, "dialogues", MINE, ["s1"], RECIPE)


def test_a_name_that_commands_could_not_take_is_refused(lab: Lab) -> None:
    with pytest.raises(InputError, match="lower-case letters"):
        save_selection(lab, "My draw", MINE, ["s1"], RECIPE)


@pytest.mark.parametrize(
    ("keys", "problem"),
    [([], "is empty"), (["s1", "s1"], "chosen twice"), (["s9"], "no situation 's9'")],
)
def test_a_wrong_list_leaves_no_trace(lab: Lab, keys: list[str], problem: str) -> None:
    with pytest.raises((InputError, UnknownName), match=problem):
        save_selection(lab, "some", MINE, keys, RECIPE)
    assert lab_selections(lab) == {}
    with pytest.raises(UnknownName):
        resolve_situations(lab, "mine")
