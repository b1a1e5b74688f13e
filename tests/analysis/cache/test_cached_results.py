"""Results that the lab keeps: read again only while data, options and code are the same."""

from __future__ import annotations

import json
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, func, select, update

import empathylab.analysis.cache.results as cache
import empathylab.analysis.ratings.analysis as rating_analysis
import empathylab.store.results as stored_results
from empathylab.analysis import judges, overview, ratings
from empathylab.analysis.benchmark.leaderboard import leaderboard_from_lab
from empathylab.analysis.cache import cached
from empathylab.analysis.cache.documents import (
    Unreadable,
    Unstorable,
    content_hash,
    read_document,
    write_document,
)
from empathylab.errors import InputError
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab, schema
from empathylab.store.imports.releases import import_release
from empathylab.store.studies.deletion import erase_rater
from empathylab.tables import read_table
from tests.helpers.labs import filled
from tests.helpers.welivita import write_release
from tests.judging.measured import released_lab

STUDY = "welivita-2024"


def with_ratings(lab: Lab, folder: Path) -> Lab:
    write_release(folder / "r.csv", raters=8, per_rater=6, good={"gpt": 0.8})
    release = read_release(read_table(folder / "r.csv"), where="r.csv")
    import_release(lab, release, kind="welivita", source="r.csv", fingerprint="1")
    return lab


@pytest.fixture
def rated(sqlite_lab: Lab, tmp_path: Path) -> Lab:
    return with_ratings(sqlite_lab, tmp_path)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one whenever ratings are really analysed."""
    runs: list[int] = []
    analyse = rating_analysis.from_table

    def counted(*args: Any, **options: Any) -> Any:
        runs.append(len(runs))
        return analyse(*args, **options)

    monkeypatch.setattr(rating_analysis, "from_table", counted)
    return runs


def kept(lab: Lab) -> int:
    with lab.reading() as connection:
        count = select(func.count()).select_from(schema.cached_results)
        return int(connection.execute(count).scalar_one())


def change(lab: Lab, statement: Any) -> None:
    with lab.writing() as connection:
        connection.execute(statement)


def test_whatever_changes_is_analysed_again(
    lab: Lab, tmp_path: Path, computed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rated = with_ratings(lab, tmp_path)
    first = ratings.from_lab(rated, STUDY)
    again = ratings.from_lab(rated, STUDY)
    assert len(computed) == 1
    assert again.to_dict() == first.to_dict()
    assert again.summary() == first.summary()
    table, raters, studies = schema.ratings, schema.raters, schema.studies

    good = table.update().where(table.c.id == 1, table.c.value == 3)
    change(rated, good.values(value=1, label="Bad"))
    change(rated, table.update().where(table.c.id == 1, table.c.value != 1).values(value=3))
    assert ratings.from_lab(rated, STUDY).to_dict() != first.to_dict()
    assert len(computed) == 2  # one rating has another value

    excluded = update(raters).where(raters.c.id == 1)
    change(rated, excluded.values(details={"marks": {"excluded": "asked to be"}}))
    ratings.from_lab(rated, STUDY)
    assert len(computed) == 3  # a rater was excluded

    ratings.from_lab(rated, STUDY, margin=5.0)
    ratings.from_lab(rated, STUDY, good_from=2)
    ratings.from_lab(rated, STUDY, margin=5.0)
    assert len(computed) == 5  # two other options, the first of them twice

    change(rated, update(studies).values(title="Another title"))
    ratings.from_lab(rated, STUDY)
    assert len(computed) == 6  # the study says something else

    monkeypatch.setattr(cache, "code_version", lambda: "another version")
    ratings.from_lab(rated, STUDY)
    ratings.from_lab(rated, STUDY)
    assert len(computed) == 7  # the code is another


def test_another_study_is_left_alone(rated: Lab, computed: list[int], tmp_path: Path) -> None:
    ratings.from_lab(rated, STUDY)
    filled(rated, situations=1)  # a run of a model touches no study
    ratings.from_lab(rated, STUDY)
    assert len(computed) == 1


def test_nothing_of_an_open_study_is_kept_or_read(rated: Lab, computed: list[int]) -> None:
    ratings.from_lab(rated, STUDY)
    change(rated, update(schema.studies).values(status="open"))
    before = kept(rated)
    with pytest.raises(InputError, match="still open"):
        ratings.from_lab(rated, STUDY)
    with pytest.raises(InputError, match="still open"):
        judges.from_lab(rated, STUDY)
    ratings.from_lab(rated, STUDY, peek="to test")
    ratings.from_lab(rated, STUDY, peek="to test")
    assert (len(computed), kept(rated)) == (3, before)
    change(rated, delete(schema.ratings).where(schema.ratings.c.id == 1))
    change(rated, update(schema.studies).values(status="closed"))
    ratings.from_lab(rated, STUDY)
    assert (len(computed), kept(rated)) == (4, before + 1)


def test_a_stopped_bootstrap_resumes_and_gives_the_same(
    rated: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMPATHYLAB_WORKERS", "1")
    seen: list[tuple[int, int]] = []

    def stop_at(last: int) -> Any:
        def progress(dimension: str, done: int, total: int) -> None:
            seen.append((done, total))
            if done == last:
                raise KeyboardInterrupt

        return progress

    with pytest.raises(KeyboardInterrupt):
        ratings.from_lab(rated, STUDY, bootstrap=8, progress=stop_at(3))
    monkeypatch.setenv("EMPATHYLAB_WORKERS", "2")
    resumed = ratings.from_lab(rated, STUDY, bootstrap=8, progress=stop_at(-1))
    assert seen == [(done, 8) for done in range(1, 9)]  # none was made twice

    seen.clear()
    ratings.from_lab(rated, STUDY, bootstrap=9, progress=stop_at(-1))
    assert seen == [(9, 9)]  # more of them go on from those before

    change(rated, delete(schema.cached_results))
    monkeypatch.setenv("EMPATHYLAB_WORKERS", "1")
    whole = ratings.from_lab(rated, STUDY, bootstrap=8)
    assert write_document(resumed.models[0].bootstrap) == write_document(whole.models[0].bootstrap)
    assert resumed.summary() == whole.summary()


def test_a_report_from_kept_results_is_the_same(sqlite_lab: Lab, tmp_path: Path) -> None:
    write_release(tmp_path / "r.csv", raters=4, per_rater=6)
    release = read_release(read_table(tmp_path / "r.csv"), where="r.csv")
    import_release(sqlite_lab, release, kind="welivita", source="r.csv", fingerprint="1")
    filled(sqlite_lab, situations=1)
    cold, warm = overview.from_lab(sqlite_lab), overview.from_lab(sqlite_lab)
    assert kept(sqlite_lab) == 3  # scales, ratings and style
    assert warm.to_dict() == cold.to_dict()
    assert warm.ratings[0].to_dict() == cold.ratings[0].to_dict()
    assert cold.style is not None
    assert warm.style is not None
    assert warm.style.to_dict() == cold.style.to_dict()
    assert repr(warm.ratings[0].models) == repr(cold.ratings[0].models)


def test_a_kept_leaderboard_is_the_same_and_one_that_was_peeked_at_is_not_kept(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    released_lab(sqlite_lab, tmp_path, arms=("a", "b", "c"), good={"a": 0.9}, raters=12)
    peeked = leaderboard_from_lab(sqlite_lab, peek="to test")
    assert kept(sqlite_lab) == 0
    cold, warm = leaderboard_from_lab(sqlite_lab), leaderboard_from_lab(sqlite_lab)
    assert kept(sqlite_lab) == 1
    assert warm.entries is not cold.entries
    assert peeked.to_dict() == warm.to_dict() == cold.to_dict()
    head = cold.entries[0].estimate
    assert warm.entries[0].estimate.ends(0.99) == head.ends(0.99)
    assert head.ends(0.95) == (head.low, head.high)


def test_damaged_and_hostile_documents_are_not_used(rated: Lab, computed: list[int]) -> None:
    hostile = {"value": {"object": ["subprocess:Popen", {"args": "true"}]}, "parts": []}
    own = {"value": {"object": ["empathylab.store.lab:Lab", {"folder": "x"}]}, "parts": []}
    first = ratings.from_lab(rated, STUDY).to_dict()
    contents = [b"", b"nonsense", zlib.compress(b"{}")]
    contents += [zlib.compress(json.dumps(value).encode()) for value in (hostile, own)]
    for number, content in enumerate(contents, start=2):
        change(rated, update(schema.cached_results).values(content=content))
        found = ratings.from_lab(rated, STUDY).to_dict()
        assert found["conclusions"] == first["conclusions"]
        assert len(computed) == number
    for name in ("os:system", "urllib.parse:DefragResult", "empathylab.store.lab:Lab.open"):
        value = {"named": [name, ["a", "b"]]}
        document = zlib.compress(json.dumps({"value": value, "parts": []}).encode())
        with pytest.raises(Unreadable):
            read_document(document)


def test_the_room_that_results_take_is_bounded(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len(write_document("0" * 10))
    monkeypatch.setattr(stored_results, "MOST_BYTES", 5 * size)
    for number in range(12):
        cached(sqlite_lab, "test", number, lambda number=number: str(number % 10) * 10)
    assert kept(sqlite_lab) == 5
    again = cached(sqlite_lab, "test", 11, lambda: "computed again")
    assert again == "1" * 10
    assert cached(sqlite_lab, "test", 0, lambda: "computed again") == "computed again"
    assert len(cached(sqlite_lab, "test", "big", lambda: list(range(10_000)))) == 10_000
    assert kept(sqlite_lab) == 5


def test_many_writers_at_once_keep_one_result(lab: Lab) -> None:
    found: list[str] = []

    def work() -> None:
        found.append(cached(lab, "test", "same", lambda: "the result"))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["the result"] * 8
    assert kept(lab) == 1


def test_a_lab_that_cannot_be_written_to_works_without(lab: Lab, database: str | None) -> None:
    with Lab.open_read_only(lab.folder, database=database) as opened:
        assert cached(opened, "test", 1, lambda: "made") == "made"
    assert kept(lab) == 0
    cached(lab, "test", 1, lambda: "kept")
    with Lab.open_read_only(lab.folder, database=database) as opened:
        assert cached(opened, "test", 1, lambda: "made") == "kept"


def test_what_cannot_be_hashed_or_kept_is_made_each_time(sqlite_lab: Lab) -> None:
    runs: list[int] = []
    for _ in range(2):
        cached(sqlite_lab, "test", lambda: 1, lambda: runs.append(1))
        cached(sqlite_lab, "test", 1, lambda: (runs.append(1), object()))
    assert len(runs) == 4
    with pytest.raises(Unstorable):
        content_hash(Path("a"))


def test_results_are_deleted_with_a_participant(sqlite_lab: Lab) -> None:
    cached(sqlite_lab, "test", 1, lambda: "words of a participant")
    with sqlite_lab.writing() as connection:
        erase_rater(connection, 1, "rater-7")
    assert kept(sqlite_lab) == 0


def test_topics_with_the_same_inputs_are_kept_apart(sqlite_lab: Lab) -> None:
    assert cached(sqlite_lab, "ratings", 1, lambda: "of ratings") == "of ratings"
    assert cached(sqlite_lab, "style", 1, lambda: "of style") == "of style"


def test_another_version_of_a_library_is_another_version_of_the_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = cache.code_version.__wrapped__()
    monkeypatch.setattr(cache, "_version", lambda library: f"{library} of tomorrow")
    assert cache.code_version.__wrapped__() != before
