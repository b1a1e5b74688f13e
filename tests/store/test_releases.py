"""Replies and ratings from files: stored once, and a corrected file says what it changes."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import func, select, text

from empathylab.errors import InputError
from empathylab.situations import Situation, builtin_set
from empathylab.situations.released import Dimension, RatedStudy, Rater, Rating, Release, Reply
from empathylab.situations.welivita import read_release
from empathylab.store import Lab, responses_frame, schema
from empathylab.store.rated import (
    lab_studies,
    lab_study,
    rater_answers_frame,
    raters_frame,
    ratings_frame,
)
from empathylab.store.releases import Imported, ImportedRelease, import_release
from empathylab.tables import read_table
from tests.helpers.welivita import teq_total, write_people, write_release


@pytest.fixture
def release(tmp_path: Path) -> Release:
    write_release(tmp_path / "r.csv")
    write_people(tmp_path / "people.csv", "human", 6)
    people = [("people.csv", read_table(tmp_path / "people.csv"))]
    return read_release(read_table(tmp_path / "r.csv"), where="r.csv", people=people)


def bring(lab: Lab, release: Release, mark: str = "1") -> ImportedRelease:
    return import_release(lab, release, kind="welivita", source="r.csv", fingerprint=mark)


def counts(lab: Lab) -> dict[str, int]:
    with lab.reading() as connection:
        return {
            name: connection.execute(
                select(func.count()).select_from(schema.metadata.tables[name])
            ).scalar_one()
            for name in ("situations", "responses", "raters", "ratings", "administrations")
        }


def test_everything_of_a_release_is_stored(lab: Lab, release: Release) -> None:
    done = bring(lab, release)
    assert {one.things: one.added for one in done.things} == {
        "situations": 24,
        "responses": 48,
        "raters": 12,
        "ratings": 48,
        "questionnaires": 12,
    }
    assert counts(lab) == {
        "situations": 24,
        "responses": 48,
        "raters": 12,
        "ratings": 48,
        "administrations": 12,
    }


def test_the_same_again_changes_nothing(lab: Lab, release: Release) -> None:
    bring(lab, release)
    before = counts(lab)
    again = bring(lab, release)
    assert (again.change, again.things) == ("unchanged", ())
    assert counts(lab) == before


def test_ratings_come_back_with_what_was_rated(lab: Lab, release: Release) -> None:
    bring(lab, release)
    frame = ratings_frame(lab, "welivita-2024")
    assert release.study is not None
    given = {(one.rater, one.situation): one.value for one in release.study.ratings}
    found = {(row["rater"], row["situation"]): row["rating"] for row in frame.to_dicts()}
    assert found == given
    assert set(frame["arm"]) == {"human", "gpt"}
    assert frame["valence"].null_count() == 0


def test_questionnaire_totals_are_those_of_the_file(
    lab: Lab, release: Release, tmp_path: Path
) -> None:
    bring(lab, release)
    raters = raters_frame(lab, "welivita-2024")
    rows = read_table(tmp_path / "r.csv").to_dicts()
    stated = {
        row[f"annotator_{arm}"]: float(teq_total(ast.literal_eval(row[f"empathy_arr_{arm}"])))
        for row in rows
        for arm in ("human", "gpt")
    }
    assert dict(raters.select("rater", "teq").iter_rows()) == stated
    assert rater_answers_frame(lab, "welivita-2024").height == 12 * 16


def test_what_is_told_about_raters_becomes_columns(lab: Lab, release: Release) -> None:
    bring(lab, release)
    raters = raters_frame(lab, "welivita-2024").filter(arm="human")
    assert raters["age"].to_list() == [20, 21, 22, 23, 24, 25]
    assert raters["seconds"].to_list() == [300, 320, 340, 360, 380, 400]
    assert raters["country_of_residence"].n_unique() == 3
    assert raters["ratings"].to_list() == [4] * 6


def test_a_total_that_does_not_add_up_is_said(lab: Lab, release: Release) -> None:
    assert release.study is not None
    first, *rest = release.study.raters
    wrong = dataclasses.replace(first, stated={"teq": 1.0})
    study = dataclasses.replace(release.study, raters=(wrong, *rest))
    done = bring(lab, dataclasses.replace(release, study=study))
    assert "total of 1 raters is not the one that their answers give" in done.notes[-1]


def corrected(release: Release) -> Release:
    """One situation, one reply and one rating otherwise; the last reply and its rating gone."""
    assert release.study is not None
    first, *others = release.situation_set.situations
    situations = (dataclasses.replace(first, text="It was otherwise."), *others)
    reply, *replies = release.replies
    rating, *ratings = release.study.ratings
    other = dataclasses.replace(rating, value=1.0 if rating.value != 1.0 else 3.0, label="X")
    return dataclasses.replace(
        release,
        situation_set=dataclasses.replace(release.situation_set, situations=situations),
        replies=(dataclasses.replace(reply, text="Another reply."), *replies[:-1]),
        study=dataclasses.replace(release.study, ratings=(other, *ratings[:-1])),
    )


def test_a_corrected_file_says_what_changed_and_keeps_the_rest(lab: Lab, release: Release) -> None:
    bring(lab, release)
    before = dict(responses_frame(lab).select("text", "response").iter_rows())
    done = bring(lab, corrected(release), "2")
    assert done.change == "replaced"
    assert done.things == (
        Imported("situations", changed=1, unchanged=23),
        Imported("responses", changed=1, removed=1, unchanged=46),
        Imported("raters", unchanged=12),
        Imported("ratings", changed=1, removed=1, unchanged=46),
        Imported("questionnaires", unchanged=12),
    )
    after = responses_frame(lab)
    assert after.height == 47
    for row in after.filter(pl.col("text") != "Another reply.").to_dicts():
        assert before[row["text"]] == row["response"]
    assert ratings_frame(lab, "welivita-2024").height == 47


def rated_by_somebody_else(lab: Lab, response: int) -> None:
    with lab.writing() as connection:
        study = connection.execute(select(schema.studies.c.id)).scalar_one()
        connection.execute(
            text(
                "INSERT INTO raters (id, study_id, name, kind, details, added_at) "
                f"VALUES (999, {study}, 'live', 'person', '{{}}', '2026-01-01')"
            )
        )
        connection.execute(
            text(
                "INSERT INTO ratings (rater_id, response_id, dimension, value) "
                f"VALUES (999, {response}, 'empathy', 3)"
            )
        )


def test_a_reply_that_others_rated_is_not_changed_under_them(lab: Lab, release: Release) -> None:
    bring(lab, release)
    frame = responses_frame(lab).filter(pl.col("text") == release.replies[0].text)
    rated_by_somebody_else(lab, frame["response"][0])
    before = counts(lab)
    with pytest.raises(InputError, match="changes or drops responses that have 1 ratings"):
        bring(lab, corrected(release), "2")
    assert counts(lab) == before


def small(**changes: Any) -> Release:
    dialogues = builtin_set("dialogues")
    key = dialogues.situations[0].id
    study = RatedStudy(
        "mine",
        "Mine",
        "between",
        (Dimension("empathy", (1.0, 2.0), ()),),
        (Rater("r1"),),
        (Rating("r1", key, "human", 2.0),),
    )
    given = Release(dialogues, {"human": "human"}, (Reply(key, "human", "I see."),), study)
    return dataclasses.replace(given, **changes)


def test_replies_to_a_built_in_set_are_found_there(lab: Lab) -> None:
    bring(lab, small())
    assert responses_frame(lab)["set"].to_list() == ["dialogues"]
    assert lab_study(lab, None).name == "mine"


def test_ratings_of_responses_that_are_in_the_lab_need_no_texts(lab: Lab) -> None:
    bring(lab, small(study=None))
    import_release(
        lab, small(replies=(), respondents={}), kind="ratings", source="x", fingerprint="1"
    )
    assert ratings_frame(lab, "mine")["text"].to_list() == ["I see."]


def test_a_rating_without_its_response_is_refused_and_nothing_is_stored(lab: Lab) -> None:
    with pytest.raises(InputError, match="rating of r1: the lab holds no usable response of 'hum"):
        bring(lab, small(replies=()))
    assert lab_studies(lab) == {}


def test_two_files_with_the_same_reply_store_it_once(lab: Lab) -> None:
    bring(lab, small(study=None))
    import_release(lab, small(), kind="responses", source="other.csv", fingerprint="1")
    assert counts(lab)["responses"] == 1
    key = small().replies[0].situation
    other = small(replies=(Reply(key, "human", "Otherwise."),), study=None)
    with pytest.raises(InputError, match="another text of human for the situation"):
        import_release(lab, other, kind="responses", source="third.csv", fingerprint="1")


def test_another_design_under_a_studys_name_is_refused(lab: Lab) -> None:
    bring(lab, small())
    release = small()
    assert release.study is not None
    other = dataclasses.replace(release.study, dimensions=(Dimension("warmth", (1.0, 2.0), ()),))
    with pytest.raises(InputError, match="a study of this name with another design"):
        bring(lab, dataclasses.replace(release, study=other), "2")


def test_an_empty_reply_is_kept_as_empty(lab: Lab) -> None:
    key = small().replies[0].situation
    bring(lab, small(replies=(Reply(key, "human", ""),), study=None))
    assert responses_frame(lab)["outcome"].to_list() == ["empty"]


def test_situations_with_title_and_context_come_back(lab: Lab) -> None:
    from empathylab.store.lab_situations import lab_situation_set, store_set

    dialogues = builtin_set("dialogues")
    one = Situation("p1", "Text", topic="work", title="Boss", context=("Hi.", "Hello."))
    chosen = dataclasses.replace(dialogues, id="mine", situations=(one,))
    with lab.writing() as connection:
        store_set(connection, chosen)
    assert lab_situation_set(lab, "mine") == chosen
    with lab.writing() as connection:
        assert store_set(connection, chosen).change == "unchanged"


def test_an_unknown_study_is_one_sentence(lab: Lab) -> None:
    with pytest.raises(InputError, match="the lab holds no rated study"):
        lab_study(lab, None)
    bring(lab, small())
    with pytest.raises(Exception, match="Did you mean 'mine'"):
        lab_study(lab, "mien")


@pytest.mark.shared_data
def test_the_published_study_is_stored_in_full(lab: Lab, shared_data: Path) -> None:
    folder = shared_data / "welivita"
    table = read_table(folder / "dataset_and_ratings.csv")
    people = [(file.name, read_table(file)) for file in sorted(folder.glob("demographics_*.csv"))]
    release = read_release(table, where="released", people=people)
    done = bring(lab, release)
    assert {one.things: one.added for one in done.things} == {
        "situations": 2000,
        "responses": 4000,
        "raters": 400,
        "ratings": 4000,
        "questionnaires": 400,
    }
    raters = raters_frame(lab, "welivita-2024")
    totals = dict(raters.select("rater", "teq").iter_rows())
    for arm in ("human", "chatgpt_empathy"):
        stated = table.select(f"annotator_{arm}", f"empathy_propensity_{arm}").unique()
        for rater, total in stated.iter_rows():
            assert totals[rater] == float(total)
    assert not [note for note in done.notes if "total" in note]
    assert raters["age"].drop_nulls().len() == 396
