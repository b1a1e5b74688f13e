"""`empathylab data sample`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from empathylab.situations import Situation, SituationSet
from empathylab.situations.sources.released import Release, Reply
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.store.selections import resolve_situations, selection_paragraph
from tests.helpers.command_line import Done, empathylab


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "lab"


def run(folder: Path, *arguments: str) -> Done:
    return empathylab("data", "sample", *arguments, "--lab", folder)


def drawn(folder: Path, *arguments: str) -> dict[str, object]:
    result = run(folder, *arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.stdout)
    return found


def test_a_draw_is_printed_and_kept(folder: Path) -> None:
    result = run(folder, "dialogues", "--count", "64", "--name", "mine", "--seed", "4")
    assert result.exit_code == 0, result.output
    assert "balanced over 32 emotions, 2 each" in result.stdout
    assert "--set mine" in result.stderr
    with Lab.open(folder) as lab:
        assert len(resolve_situations(lab, "mine")[1]) == 64
        assert (selection_paragraph(lab, "mine") or "") in result.stdout


def test_the_same_command_again_changes_nothing(folder: Path) -> None:
    command = ("dialogues", "--count", "32", "--name", "mine")
    assert drawn(folder, *command)["change"] == "added"
    assert drawn(folder, *command)["change"] == "unchanged"


def test_another_draw_under_the_same_name_is_refused(folder: Path) -> None:
    drawn(folder, "dialogues", "--count", "32", "--name", "mine")
    result = run(folder, "dialogues", "--count", "33", "--name", "mine")
    assert result.exit_code == 2
    assert "differs in count" in result.stderr


def test_a_set_of_posts_is_balanced_over_topics(folder: Path) -> None:
    found = drawn(folder, "posts", "--count", "6", "--name", "mine")
    assert list(found["counts"]) == ["topic"]  # type: ignore[call-overload]


def test_balances_bands_and_rules_reach_the_draw(folder: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("zebra\n")
    options = "--balance valence --balance length --bands 10,20 --min-words 3 --max-words 99"
    rules = "--answers-too --duplicates exact --similarity 0.5"
    found = drawn(
        folder, "dialogues", "--count", "9", "--name", "mine", "--unsafe", str(words),
        *options.split(), *rules.split(),
    )  # fmt: skip
    recipe = found["recipe"]
    assert isinstance(recipe, dict)
    assert (recipe["balance"], recipe["bands"]) == (["valence", "length"], [10, 20])
    assert recipe["rules"] == {
        "min_words": 3,
        "max_words": 99,
        "opening": False,
        "unsafe": ["zebra"],
        "duplicates": "exact",
        "similarity": None,
        "replied": False,
    }


def test_a_plain_draw_without_a_word_list(folder: Path) -> None:
    found = drawn(
        folder, "dialogues", "--count", "9", "--name", "mine", "--balance", "none",
        "--unsafe", "none",
    )  # fmt: skip
    assert found["counts"] == {}


def test_only_what_a_human_replied_to_can_be_drawn(folder: Path) -> None:
    told = [Situation(n, f"I walked {n} miles to the sea today", "sad") for n in ("one", "two")]
    mine = SituationSet("mine", 1, "Mine", "en", "CC0", False, "", tuple(told))
    replies = (Reply("one", "bot/a", "Oh."), Reply("two", "neighbours", "So far!"))
    release = Release(mine, {"bot/a": "model", "neighbours": "human"}, replies)
    with Lab.open(folder) as lab:
        import_release(lab, release, kind="responses", source="x", fingerprint="1")
    found = drawn(
        folder, "mine", "--count", "1", "--name", "a", "--replied", "--duplicates", "keep"
    )
    assert (found["situations"], found["excluded"]) == (["two"], {"no reply": 1})


def test_the_word_list_can_be_printed(folder: Path) -> None:
    result = run(folder, "--print-unsafe")
    assert result.exit_code == 0
    assert "suicid*" in result.stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("dialogues", "--count", "9999", "--name", "a"), "9999 situations were requested, but"),
        (("dialogue", "--count", "9", "--name", "a"), "Did you mean 'dialogues'"),
        (("dialogues", "--count", "9", "--name", "a", "--bands", "x"), "number of bands"),
        (("dialogues", "--count", "9", "--name", "a", "--balance", "mood"), "no balance 'mood'"),
        (
            ("dialogues", "--count", "9", "--name", "a", "--similarity", "2"),
            "above 0 and at most 1",
        ),
        (("dialogues", "--count", "9", "--name", "a", "--unsafe", "no.txt"), "cannot be read"),
        (("dialogues", "--count", "9", "--name", "A b"), "lower-case letters"),
    ],
)
def test_wrong_options_are_one_sentence(
    folder: Path, arguments: tuple[str, ...], problem: str
) -> None:
    result = run(folder, *arguments)
    assert (result.exit_code, problem in result.stderr) == (2, True), result.stderr
