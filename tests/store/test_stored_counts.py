"""Counts of a large lab: kept, and counted again once something has changed."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import select

from empathylab.api.imports import read_welivita
from empathylab.situations.sources.released import Release
from empathylab.store import Lab, schema
from empathylab.store.imports.releases import content_hash, import_release
from empathylab.store.listings import stored_counts
from empathylab.store.listings.summaries import (
    arms_rated,
    count_raters,
    labels_given,
    rating_counts,
    replies_by_set,
)
from empathylab.store.studies.deletion import exclude_replies
from empathylab.store.studies.results import exclude_rater
from tests.helpers.welivita import write_release

STUDY = "welivita-2024"


def bring(lab: Lab, release: Release) -> None:
    mark = content_hash(release)
    import_release(lab, release, kind="welivita", source="r.csv", fingerprint=mark)


@pytest.fixture
def rated(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab that counts as large."""
    write_release(tmp_path / "r.csv")
    bring(lab, read_welivita(tmp_path / "r.csv"))
    monkeypatch.setattr(stored_counts, "_MANY", 1)
    return lab


def test_what_was_counted_is_kept(rated: Lab) -> None:
    def fails() -> pl.DataFrame:
        raise AssertionError("counted again")

    first, arms = replies_by_set(rated), arms_rated(rated, STUDY)
    assert stored_counts.stored_counts(rated, "replies", fails).equals(first)
    assert stored_counts.stored_counts(rated, f"arms of {STUDY}", fails).equals(arms)
    assert arms["raters"].to_list() == [6, 6]


def test_a_rater_without_ratings_is_counted_as_a_rater_only(rated: Lab) -> None:
    before = rating_counts(rated, STUDY)
    raters, ratings = schema.raters, schema.ratings
    with rated.writing() as connection:
        someone = connection.execute(select(raters.c.id)).scalars().first()
        lost = connection.execute(ratings.delete().where(ratings.c.rater_id == someone)).rowcount
    after = rating_counts(rated, STUDY)
    assert lost > 0
    assert (after.raters, after.ratings) == (before.raters - 1, before.ratings - lost)
    assert (before.raters, count_raters(rated, STUDY)) == (12, 12)


def test_a_corrected_file_is_counted(rated: Lab, tmp_path: Path) -> None:
    before = labels_given(rated, STUDY)
    release = read_welivita(tmp_path / "r.csv")
    assert release.study is not None
    first, *others = release.study.ratings
    wrong = "Bad" if first.label != "Bad" else "Good"
    other = dataclasses.replace(first, label=wrong, value=1.0 if wrong == "Bad" else 3.0)
    study = dataclasses.replace(release.study, ratings=[other, *others])
    bring(rated, dataclasses.replace(release, study=study))
    after = labels_given(rated, STUDY)
    assert after["count"].sum() == before["count"].sum()
    assert not after.sort(pl.all()).equals(before.sort(pl.all()))


def test_a_change_is_counted(rated: Lab) -> None:
    assert arms_rated(rated, STUDY)["raters"].sum() == count_raters(rated, STUDY) == 12
    replied = replies_by_set(rated)
    raters, responses = schema.raters, schema.responses
    with rated.writing() as connection:
        row = connection.execute(select(raters.c.study_id, raters.c.name)).first()
        assert row is not None
        exclude_rater(connection, row.study_id, row.name, "did not read")
    assert arms_rated(rated, STUDY)["raters"].sum() == count_raters(rated, STUDY) == 11
    # A reply less, and one that a study's researcher excluded.
    with rated.writing() as connection:
        first, second = connection.execute(select(responses.c.id).limit(2)).scalars()
        connection.execute(responses.delete().where(responses.c.id == first))
        about = {"study": STUDY, "rater": "p1"}
        connection.execute(responses.update().where(responses.c.id == second).values(details=about))
    assert replies_by_set(rated)["usable"].sum() == replied["usable"].sum() - 1
    with rated.writing() as connection:
        assert exclude_replies(connection, STUDY, "p1", "did not read") == 1
    assert replies_by_set(rated)["usable"].sum() == replied["usable"].sum() - 2
