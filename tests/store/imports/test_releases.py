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
from empathylab.situations.sources.released import (
    Dimension,
    RatedStudy,
    Rater,
    Rating,
    Release,
    Reply,
)
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab, responses_frame, schema
from empathylab.store.imports.releases import ImportCounts, ImportedRelease, import_release
from empathylab.store.ratings import (
    lab_studies,
    lab_study,
    rater_answers_frame,
    raters_frame,
    ratings_frame,
)
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
    assert {thing.things: thing.added for thing in done.things} == {
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
    assert bring(lab, release, mark="as an older version had it").change == "unchanged"
    assert counts(lab) == before


def test_ratings_come_back_with_what_was_rated(lab: Lab, release: Release) -> None:
    bring(lab, release)
    frame = ratings_frame(lab, "welivita-2024")
    assert release.study is not None
    given = {(rating.rater, rating.situation): rating.value for rating in release.study.ratings}
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


def test_what_is_known_about_raters_becomes_columns(lab: Lab, release: Release) -> None:
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
        ImportCounts("situations", changed=1, unchanged=23),
        ImportCounts("responses", changed=1, removed=1, unchanged=46),
        ImportCounts("raters", unchanged=12),
        ImportCounts("ratings", changed=1, removed=1, unchanged=46),
        ImportCounts("questionnaires", unchanged=12),
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
    with pytest.raises(InputError, match="rating of r1: the lab has no usable response of 'hum"):
        bring(lab, small(replies=()))
    assert lab_studies(lab) == {}


def test_two_files_with_the_same_reply_store_it_once(lab: Lab) -> None:
    bring(lab, small(study=None))
    import_release(lab, small(), kind="responses", source="other.csv", fingerprint="1")
    assert counts(lab)["responses"] == 1
    key = small().replies[0].situation
    other = small(replies=(Reply(key, "human", "Otherwise."),), study=None)
    with pytest.raises(InputError, match="different text of human for the situation"):
        import_release(lab, other, kind="responses", source="third.csv", fingerprint="1")


def other_scale(*dimensions: Dimension) -> Release:
    release = small()
    assert release.study is not None
    study = dataclasses.replace(release.study, dimensions=dimensions)
    return dataclasses.replace(release, study=study)


def test_a_scale_that_was_inferred_grows_with_the_ratings(lab: Lab) -> None:
    bring(lab, small())
    bring(lab, other_scale(Dimension("empathy", (2.0, 3.0, 4.0), ())), "2")
    assert lab_study(lab, "mine").dimensions == (Dimension("empathy", (1.0, 2.0, 3.0, 4.0), ()),)


def test_other_labels_under_a_studys_name_are_refused(lab: Lab) -> None:
    bring(lab, small())
    with pytest.raises(InputError, match="a study with this name, but with another design"):
        bring(lab, other_scale(Dimension("empathy", (1.0, 2.0), ("cold", "warm"))), "2")


def test_a_file_of_the_same_name_that_shares_little_is_refused(
    lab: Lab, release: Release, tmp_path: Path
) -> None:
    bring(lab, release)
    write_release(tmp_path / "other.csv", seed=5)
    rows = read_table(tmp_path / "other.csv").with_columns(
        dialog_id=pl.col("dialog_id") + "x",
        annotator_human=pl.col("annotator_human") + "x",
        annotator_gpt=pl.col("annotator_gpt") + "x",
    )
    other = read_release(rows, where="other.csv")
    before = counts(lab)
    with pytest.raises(InputError, match="would remove 48 of its 48.*--replace"):
        bring(lab, other, "2")
    assert counts(lab) == before
    done = import_release(
        lab, other, kind="welivita", source="r.csv", fingerprint="2", replace=True
    )
    assert done.change == "replaced"


def test_a_rating_stays_with_the_response_that_was_read(lab: Lab) -> None:
    bring(lab, small())
    [read] = ratings_frame(lab, "mine")["response"].to_list()
    key = small().replies[0].situation
    with lab.writing() as connection:  # the respondent replies again
        connection.execute(
            text(
                "INSERT INTO responses (situation_id, respondent_id, sample, text, outcome, "
                "added_at) SELECT situation_id, respondent_id, 0, 'Anew.', 'valid', added_at "
                f"FROM responses WHERE id = {read}"
            )
        )
    release = small()
    assert release.study is not None
    changed = (Rating("r1", key, "human", 1.0),)
    study = dataclasses.replace(release.study, ratings=changed)
    bring(lab, dataclasses.replace(release, study=study), "2")
    frame = ratings_frame(lab, "mine")
    assert (frame["response"].to_list(), frame["rating"].to_list()) == ([read], [1.0])


def test_a_reply_that_another_file_brings_too_is_not_lost(lab: Lab) -> None:
    keys = [situation.id for situation in builtin_set("dialogues").situations[:4]]
    replies = tuple(Reply(key, "human", f"I see {key}.") for key in keys)

    def file(source: str, kept: tuple[Reply, ...], mark: str) -> ImportedRelease:
        release = small(replies=kept, study=None)
        return import_release(lab, release, kind="responses", source=source, fingerprint=mark)

    file("one.csv", replies, "1")
    second = file("two.csv", replies, "1")
    assert second.things[-1] == ImportCounts("responses", unchanged=4)
    file("one.csv", replies[:3], "2")
    assert counts(lab)["responses"] == 4
    done = file("two.csv", replies[:3], "2")
    assert done.things[-1].removed == 1
    assert counts(lab)["responses"] == 3


def test_a_second_file_about_the_same_raters_keeps_what_is_known(lab: Lab) -> None:
    release = small()
    assert release.study is not None
    known = dataclasses.replace(release.study, raters=(Rater("r1", {"age": 30}, 120.0),))
    bring(lab, dataclasses.replace(release, study=known))
    key = builtin_set("dialogues").situations[1].id
    more = dataclasses.replace(
        release.study, ratings=(Rating("r1", key, "human", 1.0),), raters=(Rater("r1"),)
    )
    second = small(replies=(Reply(key, "human", "Yes."),), study=more)
    import_release(lab, second, kind="ratings", source="more.csv", fingerprint="1")
    raters = raters_frame(lab, "mine")
    assert raters.select("age", "seconds", "ratings").row(0) == (30.0, 120.0, 2)


def test_the_same_study_under_another_file_name_is_no_second_study(
    lab: Lab, release: Release
) -> None:
    bring(lab, release)
    before = counts(lab)
    copy = import_release(lab, release, kind="welivita", source="copy.csv", fingerprint="1")
    assert [
        thing.things for thing in copy.things if thing.added or thing.changed or thing.removed
    ] == []
    assert counts(lab) == before


def test_another_value_for_the_same_rating_is_refused(lab: Lab) -> None:
    bring(lab, small())
    release = small()
    assert release.study is not None
    key = release.replies[0].situation
    study = dataclasses.replace(release.study, ratings=(Rating("r1", key, "human", 1.0),))
    other = dataclasses.replace(release, study=study)
    with pytest.raises(InputError, match="another file of this study has 2 for the same rater"):
        import_release(lab, other, kind="ratings", source="other.csv", fingerprint="1")


def test_going_back_to_an_earlier_text_makes_it_the_current_one(lab: Lab) -> None:
    from empathylab.store.situations import lab_situation_set, save_situation_set

    first = dataclasses.replace(builtin_set("dialogues"), id="mine")
    other = dataclasses.replace(first, title="Other")
    for chosen in (first, other, first):
        with lab.writing() as connection:
            save_situation_set(connection, chosen)
    assert (lab_situation_set(lab, "mine").title, lab_situation_set(lab, "mine").version) == (
        first.title,
        3,
    )


def test_a_set_takes_no_name_of_another_set_or_draw(lab: Lab) -> None:
    from empathylab.store.selections import save_selection
    from empathylab.store.situations import save_situation_set

    dialogues = builtin_set("dialogues")
    save_selection(lab, "few", dialogues, [dialogues.situations[0].id], {"kind": "mine"})
    for name, whose in (("appraisal", "another set"), ("few", "a selection")):
        mine = dataclasses.replace(dialogues, id=name)
        with pytest.raises(InputError, match=f"belongs to {whose}"), lab.writing() as connection:
            save_situation_set(connection, mine)


def test_an_empty_reply_is_kept_as_empty(lab: Lab) -> None:
    key = small().replies[0].situation
    bring(lab, small(replies=(Reply(key, "human", ""),), study=None))
    assert responses_frame(lab)["outcome"].to_list() == ["empty"]


def test_situations_with_title_and_context_come_back(lab: Lab) -> None:
    from empathylab.store.situations import lab_situation_set, save_situation_set

    dialogues = builtin_set("dialogues")
    one = Situation("p1", "Text", topic="work", title="Boss", context=("Hi.", "Hello."))
    chosen = dataclasses.replace(dialogues, id="mine", version=1, situations=(one,))
    with lab.writing() as connection:
        save_situation_set(connection, chosen)
    assert lab_situation_set(lab, "mine") == chosen
    with lab.writing() as connection:
        assert save_situation_set(connection, chosen).change == "unchanged"


def test_an_unknown_study_is_one_sentence(lab: Lab) -> None:
    with pytest.raises(InputError, match="the lab has no rated study"):
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
    assert {thing.things: thing.added for thing in done.things} == {
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
