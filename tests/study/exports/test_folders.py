"""What leaves the lab: every table with what its columns mean, people only, nobody's identity."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest
import yaml
from sqlalchemy import update

from empathylab.analysis import ratings as rated_replies
from empathylab.errors import InputError, UnknownName
from empathylab.store import Lab, schema
from empathylab.store.ratings import raters_frame, ratings_frame
from empathylab.study import parse_study
from empathylab.study.exports.folders import IDENTITIES, SUMS, export_archive, export_study
from empathylab.study.session.service import Page
from empathylab.tables import read_table, table_bytes
from tests.study.archived import finished, rate_all, released
from tests.study.examples import appraisal, between
from tests.study.service_examples import opened, rows_of, someone, walk
from tests.study.test_service_results import WRITE
from tests.study.web.desk import preset
from tests.study.web.labs import launched


def table(folder: Path, name: str) -> pl.DataFrame:
    return read_table(folder / f"{name}.csv")


def test_the_exported_ratings_are_those_of_the_analysis(lab: Lab, tmp_path: Path) -> None:
    finished(lab)
    export_study(lab, "small", tmp_path / "out", format="parquet")
    exported = read_table(tmp_path / "out" / "ratings.parquet")
    shared = ["rater", "arm", "respondent", "situation", "dimension", "rating", "label", "response"]
    assert exported.select(shared).equals(ratings_frame(lab, "small").select(shared))
    assert exported.height == rated_replies.from_lab(lab, "small").ratings.height == 8
    assert exported["day"].unique().to_list() == ["2026-03-01"]


def test_totals_and_answers_about_oneself_are_those_of_the_analysis(
    lab: Lab, tmp_path: Path
) -> None:
    finished(lab)
    export_study(lab, "small", tmp_path / "out", format="jsonl")
    shared = ["rater", "seconds", "teq", "age", "sex", "failed_attention", "ratings", "arm"]
    exported = read_table(tmp_path / "out" / "raters.jsonl").select(shared)
    known = raters_frame(lab, "small").select(shared)
    assert exported.sort("rater").rows() == known.sort("rater").rows()


def test_simulated_raters_and_test_visits_are_in_no_file(sqlite_lab: Lab, tmp_path: Path) -> None:
    service, _ = finished(sqlite_lab)
    export_study(sqlite_lab, "small", tmp_path / "out", identities=True)
    everything = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir()).decode()
    away = [
        participant.person
        for participant in service.actions.participants()
        if participant.world != "person"
    ]
    assert len(away) == 2
    for person in away:
        assert person not in everything


def test_every_column_of_every_table_is_in_the_dictionary(sqlite_lab: Lab, tmp_path: Path) -> None:
    service, _ = finished(sqlite_lab, close=False)
    service.actions.exclude(service.actions.participants()[0].person, "asked to be")
    service.actions.close()
    done = export_study(sqlite_lab, "small", tmp_path / "out")
    rows = table(tmp_path / "out", "data_dictionary").to_dicts()
    known = {(row["table"], row["column"]) for row in rows}
    assert all(row["meaning"] and row["type"] for row in rows)
    names = [file.name.removesuffix(".csv") for file in done.files if file.rows is not None]
    assert "ratings_of_excluded" in names
    for name in names:
        columns = table(tmp_path / "out", name).columns
        assert {(name, column) for column in columns} <= known
        known -= {(name, column) for column in columns}
    assert known == set()


def test_the_dictionary_says_what_was_asked_and_on_which_points(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    finished(sqlite_lab)
    export_study(sqlite_lab, "small", tmp_path / "out")
    rows = {
        (row["table"], row["column"]): row
        for row in table(tmp_path / "out", "data_dictionary").to_dicts()
    }
    assert rows["ratings", "rating"]["values"] == "empathy: 1 = Bad, 2 = Okay, 3 = Good"
    assert rows["ratings", "dimension"]["values"] == "empathy (How empathetic?)"
    assert rows["raters", "sex"]["meaning"] == "Asked: Your sex"
    assert rows["raters", "sex"]["values"] == "female; male; other"
    assert rows["raters", "teq"]["values"] == "0 to 64"


def test_page_times_focus_attention_and_scales_are_exported(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    finished(sqlite_lab, people=1)
    export_study(sqlite_lab, "small", tmp_path / "out")
    pages = table(tmp_path / "out", "pages")
    assert pages.filter(pl.col("page").str.starts_with("rate"))["focus_losses"].to_list() == [
        "2",
        "2",
    ]
    assert float(str(pages["seconds"][0])) > 0
    attention = table(tmp_path / "out", "attention").row(0, named=True)
    assert (attention["check"], attention["chosen"], attention["right"]) == (
        "attention",
        "2",
        "true",
    )
    answers = table(tmp_path / "out", "scale_answers")
    assert answers["position"].to_list() == [str(number) for number in range(1, 17)]


def test_comments_and_written_replies_are_exported(sqlite_lab: Lab, tmp_path: Path) -> None:
    service, _ = opened(sqlite_lab, parse_study(WRITE))
    person = someone(service, "ann")
    walk(service, person)
    service.actions.close()
    export_study(sqlite_lab, "writers", tmp_path / "out")
    written = table(tmp_path / "out", "written_replies")
    assert written["text"].to_list() == ["I am so sorry to hear it"] * 2
    assert written["rater"].unique().to_list() == [person]


def test_an_excluded_rater_is_listed_with_the_reason_and_their_ratings_apart(
    lab: Lab, tmp_path: Path
) -> None:
    service, _ = finished(lab, close=False)
    person = service.actions.participants()[0].person
    service.actions.exclude(person, "asked to be")
    service.actions.close()
    export_study(lab, "small", tmp_path / "out")
    raters = table(tmp_path / "out", "raters")
    assert raters.filter(rater=person)["excluded"].to_list() == ["asked to be"]
    assert person not in table(tmp_path / "out", "ratings")["rater"].to_list()
    assert table(tmp_path / "out", "ratings_of_excluded")["rater"].to_list() == [person] * 2


def test_who_left_before_the_end_is_listed_with_how(sqlite_lab: Lab, tmp_path: Path) -> None:
    service, _ = opened(sqlite_lab)
    person = someone(service, "ann")
    walk(service, person, until="rate")
    service.leave(person, delete=False)
    service.actions.close()
    export_study(sqlite_lab, "small", tmp_path / "out")
    [row] = table(tmp_path / "out", "raters").to_dicts()
    assert (row["rater"], row["status"], row["ratings"]) == (person, "withdrawn", "0")


def test_who_had_not_finished_when_the_study_closed_is_no_longer_live(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    service, _ = opened(sqlite_lab)
    walk(service, someone(service, "ann"), until="rate")
    export_study(sqlite_lab, "small", tmp_path / "open")
    service.actions.close()
    export_study(sqlite_lab, "small", tmp_path / "closed")
    found = [table(tmp_path / name, "raters")["status"].to_list() for name in ("open", "closed")]
    assert found == [["live"], ["unfinished"]]


def test_what_people_answered_who_left_and_kept_it_is_exported(lab: Lab, tmp_path: Path) -> None:
    service, _ = opened(lab)
    person, gone = someone(service, "ann"), someone(service, "ben")
    for value in (person, gone):
        page = walk(service, value, until="rate")
        assert isinstance(page, Page)
        service.submit(value, page.step, {"empathy": "3"}, {})
    service.leave(person, delete=False)
    service.leave(gone, delete=True)
    [rater] = [
        participant
        for participant in service.actions.participants()
        if participant.person == person
    ]
    service.actions.close()
    export_study(lab, "small", tmp_path / "out", format="jsonl")
    answers = read_table(tmp_path / "out" / "partial_answers.jsonl")
    assert answers["rater"].unique().to_list() == [person]
    said = dict(answers.select("question", "answer").rows())
    assert (said["age"], said["agree"], said["item-16"]) == ("30", "yes", "2")
    [rated] = answers.filter(question="empathy").to_dicts()
    assert (rated["page"], rated["arm"], rated["answer"]) == ("rate/1", rater.arm, "3")
    responses = read_table(tmp_path / "out" / "responses.jsonl")
    [shown] = responses.filter(pl.col("response") == rated["response"]).to_dicts()
    assert shown["situation"] == rated["situation"]
    assert shown["respondent"] == {"one": "first/model", "two": "second/model"}[rated["arm"]]


def test_who_finished_has_no_partial_answers(sqlite_lab: Lab, tmp_path: Path) -> None:
    finished(sqlite_lab, people=1)
    export_study(sqlite_lab, "small", tmp_path / "out")
    assert not (tmp_path / "out" / "partial_answers.csv").exists()


def test_of_a_participant_who_deleted_their_data_only_the_count_is_left(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    service, _ = opened(sqlite_lab)
    person = someone(service, "ann")
    rate_all(service, person, "3")
    service.leave(person, delete=True)
    service.actions.close()
    export_study(sqlite_lab, "small", tmp_path / "out", identities=True)
    [row] = table(tmp_path / "out", "raters").to_dicts()
    assert {name: value for name, value in row.items() if value is not None} == {
        "rater": row["rater"],
        "kind": "person",
        "arm": row["arm"],
        "status": "withdrawn",
        "outcome": "withdrawn",
        "ratings": "0",
    }
    assert row["rater"] != person
    assert read_table(tmp_path / "out" / IDENTITIES).height == 0


# No peeking.


TELLING = {"arm", "respondent", "response", "rating", "label"}


def test_an_open_study_is_exported_without_how_and_in_which_arm_was_rated(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    finished(sqlite_lab, close=False)
    done = export_study(sqlite_lab, "small", tmp_path / "out")
    assert done.blind
    assert "not closed" in done.notes[0]
    for name in ("ratings", "raters"):
        assert not TELLING & set(table(tmp_path / "out", name).columns)
    assert table(tmp_path / "out", "ratings").height == 8
    # Counts and days by arm would tell when whose arm was rated.
    assert table(tmp_path / "out", "arms").columns == ["arm", "respondent", "kind", "responses"]
    told = json.loads((tmp_path / "out" / "study.json").read_text())
    assert told["results_hidden"] is True


def test_an_open_study_is_exported_without_words_about_situations(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    service = launched(sqlite_lab, preset("norming"))
    walk(service, someone(service, "ann"))
    name = service.study.name
    for folder in ("open", "closed"):
        export_study(sqlite_lab, name, tmp_path / folder)
        if folder == "open":
            service.actions.close()
    assert "label_1" not in table(tmp_path / "open", "raters").columns
    assert "label_1" in table(tmp_path / "closed", "raters").columns
    rows = table(tmp_path / "closed", "data_dictionary").filter(pl.col("column") == "label_15")
    assert str(rows["meaning"][0]).startswith("Asked: ")


def test_an_export_tells_no_result_where_only_one_arm_takes_people(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    service, _ = opened(sqlite_lab)
    service.actions.stop_arm("two")
    rate_all(service, someone(service, "ann"), "3")
    person = someone(service, "ben")
    page = walk(service, person, until="rate")
    assert isinstance(page, Page)
    service.submit(person, page.step, {"empathy": "3"}, {})
    service.actions.exclude(service.actions.participants()[0].person, "asked to be")
    export_study(sqlite_lab, "small", tmp_path / "out")
    for name in ("ratings_of_excluded", "partial_answers", "ratings", "raters"):
        assert not TELLING & set(table(tmp_path / "out", name).columns)
    assert "empathy" not in table(tmp_path / "out", "partial_answers")["question"].to_list()


def test_a_study_that_an_arm_joined_hides_its_results_again(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    finished(sqlite_lab)
    with sqlite_lab.writing() as connection:
        connection.execute(update(schema.studies).values(status="open"))
    export_study(sqlite_lab, "small", tmp_path / "out")
    assert not TELLING & set(table(tmp_path / "out", "ratings").columns)


def test_what_was_felt_after_situations_is_left_out_while_the_study_is_open(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    service, _ = opened(sqlite_lab, appraisal())
    walk(service, someone(service, "ann"))
    export_study(sqlite_lab, "feelings", tmp_path / "open")
    assert set(table(tmp_path / "open", "scale_answers")["phase"]) == {"default"}
    scores = ["panas_positive", "panas_negative"]
    held = [
        column
        for column in table(tmp_path / "open", "raters").columns
        if column.startswith("panas")
    ]
    assert held == scores
    service.actions.close()
    export_study(sqlite_lab, "feelings", tmp_path / "closed")
    assert set(table(tmp_path / "closed", "scale_answers")["phase"]) == {"default", "evoked"}
    assert "panas_positive_evoked" in table(tmp_path / "closed", "raters").columns


def test_a_look_at_an_open_study_is_written_down_with_its_reason(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    service, _ = finished(sqlite_lab, close=False)
    assert not export_study(sqlite_lab, "small", tmp_path / "out", peek="safety", who="ann").blind
    assert "arm" in table(tmp_path / "out", "ratings").columns
    acts = [(item.who, item.action, item.details) for item in service.actions.audit()]
    assert ("ann", "peek", {"reason": "safety", "shown": "export"}) in acts


def test_a_reason_to_peek_must_say_something(sqlite_lab: Lab, tmp_path: Path) -> None:
    finished(sqlite_lab, people=1, close=False)
    with pytest.raises(InputError, match="needs a reason"):
        export_study(sqlite_lab, "small", tmp_path / "out", peek="  ")
    assert not (tmp_path / "out").exists()


def test_an_open_study_is_not_archived(sqlite_lab: Lab, tmp_path: Path) -> None:
    finished(sqlite_lab, people=1, close=False)
    with pytest.raises(InputError, match="study close small"):
        export_archive(sqlite_lab, "small", tmp_path / "small.zip")
    assert not (tmp_path / "small.zip").exists()


# Identities.


def test_identities_are_written_only_when_asked_for_and_the_log_keeps_it(
    lab: Lab, tmp_path: Path
) -> None:
    service, _ = finished(lab)
    export_study(lab, "small", tmp_path / "plain")
    assert not (tmp_path / "plain" / IDENTITIES).exists()
    everything = b"".join(path.read_bytes() for path in (tmp_path / "plain").iterdir())
    assert b"person 0" not in everything
    export_study(lab, "small", tmp_path / "told", identities=True, who="ann")
    told = read_table(tmp_path / "told" / IDENTITIES)
    assert sorted(told["platform_id"]) == [f"person {number}" for number in range(4)]
    assert (tmp_path / "told" / IDENTITIES).stat().st_mode & 0o077 == 0
    assert IDENTITIES not in (tmp_path / "told" / SUMS).read_text()
    assert ("ann", "export identities") in [
        (item.who, item.action) for item in service.actions.audit()
    ]


def test_the_names_of_a_files_raters_do_not_leave_the_lab(lab: Lab, tmp_path: Path) -> None:
    released(lab, tmp_path)
    export_study(lab, "welivita-2024", tmp_path / "out")
    everything = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir()).decode()
    assert "human-rater-" not in everything
    raters = table(tmp_path / "out", "raters")
    assert raters["rater"][0] == "rater-0001"
    assert raters["day"][0] == "2023-11-20"


def test_completion_codes_do_not_leave_the_lab(sqlite_lab: Lab, tmp_path: Path) -> None:
    text = (
        "{platform: prolific, codes: {completed: SECRET-CODE}, "
        "return_url: 'https://example.org/{code}'}"
    )
    recruitment = parse_study(WRITE.replace("{platform: open}", text)).recruitment
    finished(sqlite_lab, people=1, study=between(recruitment=recruitment))
    export_study(sqlite_lab, "small", tmp_path / "out")
    everything = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert b"SECRET-CODE" not in everything


# Files.


def test_the_checksums_are_those_of_the_files(sqlite_lab: Lab, tmp_path: Path) -> None:
    finished(sqlite_lab, people=1)
    done = export_study(sqlite_lab, "small", tmp_path / "out")
    lines = (tmp_path / "out" / SUMS).read_text().splitlines()
    stated = {line.split("  ")[1]: line.split("  ")[0] for line in lines}
    files = {path.name for path in (tmp_path / "out").iterdir()} - {SUMS}
    assert set(stated) == files == {file.name for file in done.files}
    for name, digest in stated.items():
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == digest


def test_the_protocol_is_there_twice_with_its_hash(sqlite_lab: Lab, tmp_path: Path) -> None:
    service, _ = finished(sqlite_lab, people=1)
    export_study(sqlite_lab, "small", tmp_path / "out")
    as_json = json.loads((tmp_path / "out" / "protocol.json").read_text())
    assert as_json == yaml.safe_load((tmp_path / "out" / "protocol.yaml").read_text())
    assert as_json["blocks"][0]["text"] == "Take part?"
    told = json.loads((tmp_path / "out" / "study.json").read_text())
    assert told["protocol_hash"]
    assert told["study"] == service.name


def test_a_cell_that_a_spreadsheet_would_run_is_made_harmless(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    service, _ = opened(sqlite_lab)
    person = someone(service, "ann")
    walk(service, person, until="comment")
    service.submit(person, "comment", {"comment": '=HYPERLINK("http://x","y")'}, {})
    walk(service, person)
    service.actions.close()
    for kind in ("csv", "jsonl"):
        export_study(sqlite_lab, "small", tmp_path / kind, format=kind)
    assert table(tmp_path / "csv", "comments")["text"][0].startswith("'=HYPERLINK")
    as_it_is = read_table(tmp_path / "jsonl" / "comments.jsonl")["text"][0]
    assert as_it_is.startswith("=HYPERLINK")


def test_nothing_is_written_over(sqlite_lab: Lab, tmp_path: Path) -> None:
    finished(sqlite_lab, people=1)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="this path"):
        export_study(sqlite_lab, "small", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["notes.txt"]


def test_a_place_that_cannot_be_written_leaves_no_trace_in_the_log(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    service, _ = finished(sqlite_lab, people=1)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        export_study(sqlite_lab, "small", tmp_path / "file" / "out", identities=True)
    assert not [item for item in service.actions.audit() if item.action.startswith("export")]


def test_an_unknown_study_or_format_is_said(sqlite_lab: Lab, tmp_path: Path) -> None:
    finished(sqlite_lab, people=1)
    with pytest.raises(UnknownName, match="Did you mean 'small'"):
        export_study(sqlite_lab, "smal", tmp_path / "out")
    with pytest.raises(UnknownName, match="format"):
        export_study(sqlite_lab, "small", tmp_path / "out", format="xml")  # type: ignore[arg-type]


def test_a_study_without_any_rating_is_exported_with_its_empty_tables(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    service, _ = opened(sqlite_lab)
    service.actions.close()
    export_study(sqlite_lab, "small", tmp_path / "out")
    assert table(tmp_path / "out", "ratings").height == 0
    assert table(tmp_path / "out", "responses").height == 12


def test_a_later_version_is_exported_apart(sqlite_lab: Lab, tmp_path: Path) -> None:
    finished(sqlite_lab, people=2)
    second, _ = opened(sqlite_lab, between(version=2))
    rate_all(second, someone(second, "new"), "3")
    second.actions.close()
    for name, count in (("small", 2), ("small@1", 4)):
        export_study(sqlite_lab, name, tmp_path / name)
        assert table(tmp_path / name, "ratings").height == count


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_the_same_frame_gives_the_same_bytes(kind: str) -> None:
    frame = pl.DataFrame({"a": [1.5, None], "b": ["x", "-y"], "c": [True, None]})
    written = [table_bytes(frame, kind) for _ in range(2)]  # type: ignore[arg-type]
    assert written[0] == written[1]


def test_csv_cells_hold_what_json_would() -> None:
    frame = pl.DataFrame({"a": [1.5, None], "b": ["x", "-y"], "c": [True, None], "d": ["-1", "é"]})
    assert table_bytes(frame, "csv").decode() == "a,b,c,d\n1.5,x,true,-1\n,'-y,,é\n"


def test_norms_are_exported_with_the_trial_in_which_the_situation_was_shown(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    service = launched(sqlite_lab, preset("norming"))
    walk(service, someone(service, "ann"))
    [place] = [row for row in rows_of(sqlite_lab, schema.slots) if row["status"] == "finished"]
    service.actions.close()
    export_study(sqlite_lab, service.study.name, tmp_path / "out")
    first = table(tmp_path / "out", "scale_answers").filter(pl.col("item") == "1")
    shown = [item.situation for item in service.launched.slots[place["arm"]][place["slot"]].items]
    assert first["trial"].to_list() == [str(trial) for trial in range(1, len(shown) + 1)]
    assert first["situation"].to_list() == shown
