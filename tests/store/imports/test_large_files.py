"""Files that are read and stored in parts: the same lab, and errors that name the file's row."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import inspect, select

from empathylab import csv_tables, tables
from empathylab.situations.sources import rows
from empathylab.store import Lab, responses_frame, schema
from empathylab.store.imports import bulk
from empathylab.store.listings import search_index
from empathylab.store.listings.search import matches
from empathylab.store.listings.search_index import count_waiting, update_search_index
from empathylab.store.locks import named_lock
from empathylab.store.ratings import ratings_frame
from empathylab.store.schema.search import POSTGRES_INDEX
from empathylab.store.studies.arms import add_study
from tests.helpers.command_line import empathylab

STRANGE = ['comma, "quote"', "two\nlines", "back\\slash\ttab", "\\N", "\\.", "été 😀", ""]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of four rows, of which ten stay in memory; ten new rows are many."""
    monkeypatch.setattr(tables, "_PART", 4)
    monkeypatch.setattr(csv_tables, "_BYTES", 160)
    monkeypatch.setattr(bulk, "_MANY", 10)
    monkeypatch.setattr(bulk, "_ROWS_PER_STATEMENT", 2)
    monkeypatch.setattr(search_index, "_AT_ONCE", 9)
    monkeypatch.setattr(rows, "_IN_MEMORY", 10)


def write(path: Path, header: list[str], content: list[list[object]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *content])
    return path


def replies(path: Path, texts: list[str] | None = None) -> Path:
    given = texts or [STRANGE[n] if n < len(STRANGE) else f"reply number{n}" for n in range(30)]
    content = [
        [f"s{n // 2}", ("bot/a", "human")[n % 2], f"What happened {n // 2}", text]
        for n, text in enumerate(given)
    ]
    return write(path, ["situation", "respondent", "situation_text", "text"], content)


def ratings(path: Path, values: list[object]) -> Path:
    content = [
        [f"s{4 + n // 2 % 11}", ("bot/a", "human")[n % 2], f"r{n // 22}", value, 1.5]
        for n, value in enumerate(values)
    ]
    return write(path, ["situation", "respondent", "rater", "rating", "seconds"], content)


def bring(lab: Lab, kind: str, path: Path, *more: str) -> dict[str, dict[str, int]]:
    url = lab.engine.url
    environment = (
        {"EMPATHYLAB_DATABASE_URL": url.render_as_string(hide_password=False)}
        if url.get_backend_name() == "postgresql"
        else {}
    )
    words = ("data", "import", kind, path, "--lab", lab.folder, "--json", *more)
    done = empathylab(*words, **environment)
    assert done.exit_code == 0, done.stderr
    return {thing["things"]: thing for thing in json.loads(done.stdout)["things"]}


def rules(lab: Lab, table: str) -> list[str]:
    """The table's indexes and references, as the database knows them; not the index of words."""
    found = inspect(lab.engine)
    indexes = [one for one in found.get_indexes(table) if one["name"] != POSTGRES_INDEX]
    return sorted(map(str, [*indexes, *found.get_foreign_keys(table)]))


def test_a_file_in_parts_brings_what_it_holds(lab: Lab, tmp_path: Path) -> None:
    file = replies(tmp_path / "mine.csv")
    before = rules(lab, "responses")
    assert bring(lab, "responses", file)["responses"]["added"] == 30
    assert rules(lab, "responses") == before
    frame = responses_frame(lab).sort("response")
    assert frame["text"].to_list()[: len(STRANGE)] == STRANGE
    assert frame["outcome"].to_list()[6:8] == ["empty", "valid"]
    with lab.reading() as connection:
        assert set(connection.execute(select(schema.responses.c.details)).scalars()) == {None}
    # One more reply, one other, one gone: only that changes.
    changed = [*frame["text"].to_list()[:28], "another text"]
    second = bring(lab, "responses", replies(file, changed))["responses"]
    assert [second[name] for name in ("added", "changed", "removed", "unchanged")] == [0, 1, 1, 28]


def found_by(lab: Lab, words: str) -> list[str]:
    with lab.reading() as connection:
        rule = matches(connection.dialect.name, words)
        assert rule is not None
        query = select(schema.responses.c.text).where(rule).order_by(schema.responses.c.id)
        return list(connection.execute(query).scalars())


def test_the_words_of_a_large_import_are_indexed_before_the_first_search(
    lab: Lab, tmp_path: Path
) -> None:
    def write_text(old: str, new: str) -> None:
        table = schema.responses
        with lab.writing() as connection:
            connection.execute(table.update().where(table.c.text == old).values(text=new))

    bring(lab, "responses", replies(tmp_path / "few.csv", ["alone", "at first"]))
    bring(lab, "responses", replies(tmp_path / "mine.csv"))
    postgres = lab.engine.dialect.name == "postgresql"
    with lab.reading() as connection:
        assert count_waiting(connection) == (32 if postgres else 30)
    if not postgres:
        # Interrupted after one part, with changes to replies on both sides.
        assert search_index._index_part(lab)
        with lab.reading() as connection:
            assert count_waiting(connection) == 21
        assert found_by(lab, "number*") == ["reply number7", "reply number8"]
    write_text("reply number8", "before number8")
    write_text("reply number28", "after number28")
    with lab.writing() as connection:
        gone = schema.responses.c.text.in_(["reply number7", "reply number29"])
        connection.execute(schema.responses.delete().where(gone))
    # A second large import leaves the replies of the first one waiting.
    more = ["number99", "late", *(f"more{n}" for n in range(20))]
    bring(lab, "responses", replies(tmp_path / "more.csv", more))
    update_search_index(lab)
    with lab.writing() as connection:
        assert count_waiting(connection) == 0
        assert found_by(lab, "more19") == ["more19"]
        if not postgres:
            check = "INSERT INTO response_search(response_search, rank) VALUES (?, 1)"
            connection.exec_driver_sql(check, ("integrity-check",))
    found = found_by(lab, "number*")
    assert found[0] == "before number8"
    assert found[-2:] == ["after number28", "number99"]
    assert len(found) == 22
    assert found_by(lab, "alone") == ["alone"]
    # From then on every change is found at once.
    write_text("late", "newly written")
    assert found_by(lab, "newly") == ["newly written"]


@pytest.mark.postgres
def test_an_interrupted_build_of_the_search_index_is_made_again(
    tmp_path: Path, postgres_url: str
) -> None:
    def index_of_words() -> int:
        with lab.reading() as connection:
            query = f"SELECT '{POSTGRES_INDEX}'::regclass::oid"
            return int(connection.exec_driver_sql(query).scalar_one())

    with Lab.open(tmp_path / "lab", database=postgres_url) as lab:
        bring(lab, "responses", replies(tmp_path / "mine.csv"))
        # Another process builds it at this moment: it is left alone.
        with named_lock(lab.engine, lab.folder, "search-index"):
            update_search_index(lab)
        with lab.reading() as connection:
            assert count_waiting(connection) == 30
        update_search_index(lab)
        made = index_of_words()
        update_search_index(lab)
        assert index_of_words() == made
        # A build that is killed leaves an index that PostgreSQL does not use.
        with lab.writing() as connection:
            broken = f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = {made}"
            connection.exec_driver_sql(broken)
            assert count_waiting(connection) == 30
        update_search_index(lab)
        assert index_of_words() != made
        with lab.reading() as connection:
            assert count_waiting(connection) == 0


@pytest.mark.postgres
def test_a_large_import_leaves_statistics_for_the_next_command(
    tmp_path: Path, postgres_url: str
) -> None:
    with Lab.open(tmp_path / "lab", database=postgres_url) as lab:
        bring(lab, "responses", replies(tmp_path / "mine.csv"))
        file = ratings(tmp_path / "rated.csv", [n % 5 + 1 for n in range(44)])
        bring(lab, "ratings", file, "--set", "mine")
        with lab.reading() as connection:
            query = "SELECT relname, reltuples FROM pg_class WHERE reltuples > 0"
            known = {row[0]: row[1] for row in connection.exec_driver_sql(query)}
    assert {name: known.get(name) for name in ("situations", "responses", "raters", "ratings")} == {
        "situations": 15,
        "responses": 30,
        "raters": 2,
        "ratings": 44,
    }


def test_ratings_in_parts_join_their_replies(lab: Lab, tmp_path: Path) -> None:
    bring(lab, "responses", replies(tmp_path / "mine.csv"))
    values: list[object] = [n % 5 + 1 for n in range(44)]
    file = ratings(tmp_path / "rated.csv", values)
    before = rules(lab, "ratings")
    told = bring(lab, "ratings", file, "--set", "mine")
    assert (told["ratings"]["added"], told["raters"]["added"]) == (44, 2)
    assert rules(lab, "ratings") == before
    frame = ratings_frame(lab, "rated")
    assert frame["rating"].to_list() == [float(str(value)) for value in values]
    assert frame.filter(pl.col("respondent") != pl.col("arm")).is_empty()
    assert frame.row(5, named=True)["situation"] == "s6"
    again = bring(lab, "ratings", ratings(file, [*values[:40], 1, 1, 1]), "--set", "mine")
    counted = [again["ratings"][name] for name in ("added", "changed", "removed", "unchanged")]
    assert counted == [0, 2, 1, 41]
    # Of two replies alike, new ratings are of the newer.
    table = schema.responses
    with lab.writing() as connection:
        row = connection.execute(select(table).where(table.c.text == "reply number8")).one()
        newer = {**row._mapping, "text": "newer"}
        del newer["id"]
        connection.execute(table.insert(), [newer])
    bring(lab, "ratings", ratings(tmp_path / "later.csv", [1, 2]), "--set", "mine")
    with lab.reading() as connection:
        read = (
            select(table.c.text)
            .join(schema.ratings, schema.ratings.c.response_id == table.c.id)
            .join(schema.raters, schema.raters.c.id == schema.ratings.c.rater_id)
            .join(schema.studies, schema.studies.c.id == schema.raters.c.study_id)
            .where(schema.studies.c.name == "later")
        )
        assert set(connection.execute(read).scalars()) == {"newer", "reply number9"}


@pytest.mark.postgres
def test_rules_stay_while_others_need_the_table(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "_LONGEST_WAIT", "50ms")
    with Lab.open(tmp_path / "lab", database=postgres_url) as lab:

        def dropped() -> int:
            with lab.writing() as connection:
                statements = bulk._drop_postgres_rules(connection, schema.ratings)
                for statement in statements:
                    connection.exec_driver_sql(statement)
            return len(statements)

        before = rules(lab, "ratings")
        assert dropped() == len(before) - 1 == 7  # the unique index stays
        with lab.reading() as connection:
            connection.execute(select(schema.ratings)).all()
            assert dropped() == 0
        with lab.writing() as connection:
            add_study(connection, "mine", "Mine", {}, status="open")
        assert dropped() == 0
        assert rules(lab, "ratings") == before


def refused(lab: Path, kind: str, path: Path, *more: str) -> str:
    done = empathylab("data", "import", kind, path, "--lab", lab, *more)
    assert done.exit_code == 2
    return " ".join(done.stderr.split())


def test_an_error_in_a_later_part_names_its_row(tmp_path: Path) -> None:
    lab, file = tmp_path / "lab", tmp_path / "mine.csv"
    replies(file)
    lines = file.read_text()
    assert "mine.csv row 22" in refused(
        lab, "responses", write_text(file, lines.replace("s10,bot/a", ",bot/a"))
    )
    twice = "s0,bot/a,What happened 0,something else\n"
    said = refused(lab, "responses", write_text(file, lines + twice))
    assert "bot/a has a different text for the same situation in row 2" in said
    assert "mine.csv row 32" in said
    assert "mine.csv row 32" in refused(lab, "responses", write_text(file, lines + "s1,a,b\n"))
    file.write_bytes(lines.encode() + b"s1,a,b,\xff\n")
    assert "not UTF-8" in refused(lab, "responses", file)
    # The same reply twice is one reply.
    same = 's0,bot/a,What happened 0,"comma, ""quote"""\n'
    assert empathylab(
        "data", "import", "responses", write_text(file, lines + same), "--lab", lab
    ).exit_code == 0  # fmt: skip
    rated = ratings(tmp_path / "rated.csv", [n % 5 for n in range(22)])
    content = rated.read_text()
    write_text(rated, content + "s4,bot/a,r0,2,1\n")
    said = refused(lab, "ratings", rated, "--set", "mine")
    assert "the same rater rated the same reply in row 2" in said
    assert "rated.csv row 24" in said
    for wrong, what in (("s4,bot/a,r9,x,1", "'rating'"), ("s4,bot/a,r9,1,-1", "'seconds'")):
        write_text(rated, content + wrong + "\n")
        said = refused(lab, "ratings", rated, "--set", "mine")
        assert what in said
        assert "rated.csv row 24" in said
    # The seventh reply is empty.
    write_text(rated, content + "s3,bot/a,r9,1,1\n")
    said = refused(lab, "ratings", rated, "--set", "mine")
    assert "no usable response of 'bot/a' to the situation 's3'" in said


def write_text(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_file_with_situations_needs_no_set(sqlite_lab: Lab, tmp_path: Path) -> None:
    file = replies(tmp_path / "mine.csv")
    words = ("data", "import", "responses", file, "--lab", sqlite_lab.folder, "--set")
    assert "Leave out --set: the file contains the situations" in empathylab(*words, "new").stderr
    assert "Did you mean 'dialogues'" in empathylab(*words, "dialogue").stderr
