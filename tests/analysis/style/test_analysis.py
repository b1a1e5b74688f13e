"""Style from responses to results: from a frame, and from a lab."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from empathylab.analysis.style import analysis as style_analysis
from empathylab.analysis.style import from_lab as lab_style
from empathylab.analysis.style import from_table
from empathylab.analysis.style import texts as style_texts
from empathylab.analysis.style.analysis import lab_responses, report_style
from empathylab.analysis.style.estimates import Depth, StyleEstimates
from empathylab.analysis.style.result import StyleResult
from empathylab.analysis.style.tables import tactic_rows
from empathylab.analysis.style.terms import shown_terms
from empathylab.errors import InputError, UnknownName
from empathylab.models import ScriptedModel
from empathylab.protocols import Responding, plan_responding
from empathylab.runs import Job, run
from empathylab.situations import builtin_set
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.style import word_list
from empathylab.style.tactics.accuracy import built_in_accuracy
from empathylab.style.tactics.rules import tactic_rules
from empathylab.tables import read_table
from tests.helpers.welivita import write_release
from tests.report.style_frames import ratings, responses

QUICK = Depth(ablations=False, permutations=99)


@pytest.fixture(scope="module")
def analysis() -> StyleEstimates:
    frame = responses()
    return from_table(frame, ratings=ratings(frame), depth=QUICK).estimates


def test_every_part_keeps_the_order_of_the_first_responses(analysis: StyleEstimates) -> None:
    names = ("warm", "dry")
    assert analysis.respondents == names
    for part in (
        analysis.profiles,
        analysis.diversity,
        analysis.distinctive,
        analysis.tactics.templates,
        analysis.reuse.repetition,
        analysis.reuse.similarity,
        analysis.reuse.openings,
        analysis.reuse.closings,
    ):
        assert tuple(item.respondent for item in part) == names
    assert analysis.predictability is not None
    assert analysis.predictability.respondents == names


def test_profiles_hold_what_was_counted_by_hand(analysis: StyleEstimates) -> None:
    warm, dry = analysis.profiles
    # I'm so sorry to hear that! Your week at home sounds hard!
    assert (warm.words_per_response, warm.emoji_per_response) == (12.0, 1.0)
    assert (warm.punctuation["!"], dry.punctuation["!"]) == (2.0, 0.0)
    assert (dry.words_per_response, dry.punctuation["?"]) == (12.0, 1.0)


def test_two_different_writers_are_told_apart_each_time(analysis: StyleEstimates) -> None:
    assert analysis.predictability is not None
    assert analysis.predictability.full.accuracy == 1.0
    assert analysis.predictability.full.p < 0.01
    # A study of so few situations tests no relation of style and ratings.
    [rare] = analysis.notes
    assert "too few situations or raters (the equivalent of fewer than 20)" in rare


def test_only_features_that_vary_are_tested(analysis: StyleEstimates) -> None:
    tested = {difference.feature for difference in analysis.differences}
    assert "exclamation_marks" in tested
    assert "semicolons" not in tested


def test_ratings_are_related_to_features(analysis: StyleEstimates) -> None:
    [rated] = analysis.rated
    assert {relation.n for relation in rated.relations} == {72}


def test_one_respondent_has_a_profile_and_a_note_but_no_comparison() -> None:
    found = from_table(responses().filter(respondent="warm")).estimates
    assert found.profiles[0].words_per_response == 12.0
    assert (found.differences, found.distinctive, found.predictability) == ((), (), None)
    assert "there is no comparison" in found.notes[0]


def test_a_respondent_with_one_response_does_no_harm() -> None:
    lone = pl.DataFrame({"respondent": ["once"], "situation": ["s0"], "text": ["Hm."]})
    found = from_table(pl.concat([responses(), lone]), depth=QUICK).estimates
    assert found.profiles[2].responses == 1
    assert found.predictability is not None
    assert found.predictability.left_out == ("once",)
    assert any("once" in note for note in found.notes)


def test_blank_responses_are_left_out_and_counted() -> None:
    blank = pl.DataFrame(
        {"respondent": ["dry", "dry"], "situation": ["x", "y"], "text": [" ", None]}
    )
    found = from_table(pl.concat([responses(), blank]), depth=QUICK).estimates
    assert found.dropped == 2
    assert found.profiles[1].responses == 12
    assert found.notes[0].startswith("2 responses without a text")


def test_nothing_but_blanks_is_refused() -> None:
    frame = pl.DataFrame({"respondent": ["a"], "situation": ["s"], "text": ["  "]})
    with pytest.raises(InputError, match="no letters, digits or symbols"):
        from_table(frame)


def test_columns_may_have_any_name_even_that_of_the_row_number() -> None:
    frame = responses().rename({"text": "response", "respondent": "who"})
    found = from_table(frame, respondent="who", text="response", depth=QUICK).estimates
    assert found.respondents == ("warm", "dry")


def test_too_few_situations_for_the_folds_are_a_note() -> None:
    found = from_table(
        responses().filter(pl.col("situation").is_in(["s0", "s1"])), depth=QUICK
    ).estimates
    assert found.predictability is None
    assert any("Authors were not identified" in note for note in found.notes)


def test_a_missing_package_is_a_note_with_its_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(style_analysis, "sentiment_missing", lambda: "no sentiment; pip install x")
    assert "no sentiment; pip install x" in from_table(responses(), depth=QUICK).estimates.notes


def test_against_compares_with_that_respondent_and_that_one_with_the_rest() -> None:
    found = from_table(responses("advisor"), against="dry", depth=QUICK).estimates
    assert {difference.against for difference in found.differences} == {"dry"}
    against = {item.respondent: item.against for item in found.distinctive}
    assert against == {"warm": "dry", "dry": None, "advisor": "dry"}


def test_an_unknown_reference_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'warm'"):
        from_table(responses(), against="wram")


def test_respondents_without_shared_situations_are_compared_with_a_warning() -> None:
    apart = responses().with_columns(
        situation=pl.format("{}-{}", pl.col("respondent"), pl.col("situation"))
    )
    found = from_table(apart, depth=QUICK).estimates
    assert all(item.terms for item in found.distinctive)
    assert any("may reflect the situations" in note for note in found.notes)


def test_a_dictionary_adds_features_and_tests() -> None:
    found = from_table(
        responses(), dictionaries=[word_list("weeks", ["week*"])], depth=QUICK
    ).estimates
    assert found.profiles[0].features["weeks"].mean == 1.0


@pytest.mark.parametrize(
    ("respondents", "missed"),
    [(("human", "model"), {"advice", "validation"}), (("model", "other"), {"advice"})],
)
def test_exactly_the_tactics_that_miss_the_aim_are_marked(
    respondents: tuple[str, str], missed: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    worse = {("advice", "models"), ("validation", "people")}
    rows = tuple(
        replace(row, only_tagged=row.both) if (row.tactic, row.writer) in worse else row
        for row in built_in_accuracy()
    )
    monkeypatch.setattr("empathylab.style.tactics.correction.built_in_accuracy", lambda: rows)
    texts = [sentence for tactic in tactic_rules().tactics for sentence in tactic.examples]
    frame = pl.DataFrame(
        [(name, str(n), text) for name in respondents for n, text in enumerate(texts)],
        schema=["respondent", "situation", "text"],
        orient="row",
    )
    found = from_table(frame, depth=Depth(predict=False)).estimates
    marks = {row["tactic"]: row["reliable enough to compare"] for row in tactic_rows(found)}
    assert set(marks) == set(tactic_rules().names)
    assert {tactic for tactic, mark in marks.items() if mark == "no"} == missed
    [note] = [note for note in found.notes if note.startswith("Tagged too unreliably")]
    assert set(re.findall(r"[a-z-]+(?: expression)?(?=[,] | \()", note.split(": ")[1])) == missed


def test_another_tagger_takes_the_rules_place() -> None:
    found = from_table(
        responses(),
        tagger=lambda sentences: [("advice",)] * len(sentences),
        tagger_name="scripted/tagger",
        depth=Depth(predict=False),
    ).estimates
    assert found.tactics.tagger == "scripted/tagger"
    assert {use.tactic for use in found.tactics.uses} == {"advice"}
    # Nobody knows how often these tags are right.
    assert any("too unreliably to compare respondents: advice" in note for note in found.notes)


def test_the_same_seed_gives_the_same_numbers() -> None:
    first, second = (from_table(responses(), seed=3, depth=QUICK).estimates for _ in range(2))
    assert StyleResult(first).to_dict() == StyleResult(second).to_dict()


def reply(lab: Lab, name: str, text: str, *, seed: int = 1) -> None:
    dialogues = builtin_set("dialogues")
    responding = Responding(dialogues, dialogues.first_per_group(1), seed=seed, retries=0)
    model = ScriptedModel([text], name=name)
    run(lab, [Job(model, [plan_responding(lab, name, responding)])])


def test_a_lab_without_responses_says_how_to_get_some(sqlite_lab: Lab) -> None:
    assert report_style(sqlite_lab) is None
    with pytest.raises(InputError, match="empathylab respond MODEL"):
        lab_style(sqlite_lab)


def test_of_two_runs_of_a_respondent_the_last_counts(tmp_path: Path) -> None:
    first = "That sounds really hard to me. How are you holding up today, my friend?"
    last = "What a day you had there. I am glad that you told me about it, truly."
    with Lab.open(tmp_path / "lab") as lab:
        reply(lab, "scripted/a", first)
        reply(lab, "scripted/a", last, seed=2)
        found = lab_responses(lab)
    assert found["text"].unique().to_list() == [last]
    assert found["situation"].str.starts_with("dialogues/").all()


def test_a_labs_ratings_are_related_to_the_style_of_what_was_rated(tmp_path: Path) -> None:
    write_release(tmp_path / "r.csv")
    with Lab.open(tmp_path / "lab") as lab:
        release = read_release(read_table(tmp_path / "r.csv"), where="r.csv")
        import_release(lab, release, kind="welivita", source="r.csv", fingerprint="1")
        result = report_style(lab)
    assert result is not None
    found = result.estimates
    [rated] = found.rated
    assert rated.dimension == "empathy"
    assert {relation.n for relation in rated.relations} == {48}


@pytest.mark.shared_data
@pytest.mark.slow
def test_published_writers_are_told_as_the_contract_asks(
    published_lab: Path, tmp_path: Path
) -> None:
    """Human against GPT-4 on Welivita & Pu's 2,000 situations, folds grouped by situation."""
    with Lab.open(shutil.copytree(published_lab, tmp_path / "lab")) as lab:
        frame = lab_responses(lab)
        result = report_style(lab)
    assert result is not None
    found = result.estimates
    assert found.predictability is not None
    assert found.predictability.full.accuracy >= 0.97
    # An independent count: runs of letters and digits, joined by single apostrophes and hyphens,
    # and numbers with their inner points, commas and colons.
    word = re.compile(r"\d+(?:[.,:]\d+)+[^\W_]*|[^\W_]+(?:['’-][^\W_]+)*")
    for profile in found.profiles:
        mine = frame.filter(respondent=profile.respondent)["text"]
        assert profile.words == sum(len(word.findall(text)) for text in mine)
        assert profile.words_per_response == profile.words / 2000
    human, model = (
        {
            term.term
            for item in found.distinctive
            if item.respondent == name
            for term in shown_terms(item.terms, 20)
        }
        for name in ("human", "chatgpt_empathy")
    )
    assert {"i", "my", "oh"} <= human
    assert {"i'm really sorry", "understand", "remember"} <= model
    [rated] = found.rated
    assert max(relation.n for relation in rated.relations) == 4000


def test_replies_of_control_characters_only_are_refused_in_one_sentence() -> None:
    frame = pl.DataFrame(
        {"situation": ["a", "a"], "respondent": ["x", "y"], "text": ["Oh no!", "\x01\x02"]}
    )
    with pytest.raises(InputError, match="no letters, digits or symbols; got 'y'"):
        from_table(frame)


def test_chunks_and_processes_give_the_same_as_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = from_table(responses(), depth=QUICK).to_dict()
    monkeypatch.setattr(style_texts, "CHUNK", 7)
    assert from_table(responses(), depth=QUICK).to_dict() == whole
    monkeypatch.setattr(style_texts, "WORTH_WORKERS", 0)
    monkeypatch.setenv("EMPATHYLAB_WORKERS", "2")
    assert from_table(responses(), depth=QUICK).to_dict() == whole


def test_of_very_many_responses_some_situations_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(style_texts, "MOST_COMPARED", 12)
    found = from_table(responses(), depth=QUICK).estimates
    assert sum(part.responses for part in found.reuse.repetition) == 12
    assert found.features.height == responses().height
    assert any("rest on 12 responses, drawn by situation" in note for note in found.notes)
