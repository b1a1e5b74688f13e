"""Tables of one's own: columns by role, pandas frames, and what is no table."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import polars as pl
import pytest

import empathylab as el
from empathylab.frames import to_polars
from empathylab.stats import PlannedStudy, simulate_ratings


@pytest.fixture(scope="module")
def ratings() -> pl.DataFrame:
    """An invented study of two arms."""
    return simulate_ratings(PlannedStudy(12, 4, odds_ratio=4.0), seed=3)


def test_a_result_shows_itself_and_its_charts(ratings: pl.DataFrame) -> None:
    frame = el.to_pandas(ratings.rename({"rater": "annotator"}))
    result = el.from_table(frame, rater="annotator").analyze.ratings(reference="reference")
    assert result.to_pandas()["subject"].to_list() == result.to_frame()["subject"].to_list()
    html = result._repr_html_()
    assert str(result.conclusions[0]).replace("<", "&lt;")[:40] in html
    assert "<code>.plot()</code>: " in html
    chart = result.plot()
    assert chart.to_dict()["title"]
    # A notebook without a network shows it: a picture, and no script.
    for drawn in (chart, chart.properties(width=300)):
        assert set(drawn._repr_mimebundle_()) == {"image/svg+xml", "text/plain"}
        assert "</svg>" in drawn._repr_mimebundle_()["image/svg+xml"]
    with alt.renderers.enable("html"):
        assert "text/html" in chart._repr_mimebundle_()
    with pytest.raises(el.errors.InputError, match="has no chart of that name"):
        result.plot("nothing")


def test_a_file_is_a_table_too(ratings: pl.DataFrame, tmp_path: Path) -> None:
    ratings.write_parquet(tmp_path / "ratings.parquet")
    table = el.from_table(tmp_path / "ratings.parquet")
    assert table.frame.height == ratings.height


def test_a_missing_column_says_how_to_name_it(ratings: pl.DataFrame) -> None:
    with pytest.raises(el.errors.UnknownName, match=r"from_table\(…, rater=COLUMN\)"):
        el.from_table(ratings.rename({"rater": "annotator"})).analyze.ratings()
    with pytest.raises(el.errors.UnknownName, match=r"no column 'first'.*first=COLUMN"):
        el.from_table(ratings).analyze.preferences()
    with pytest.raises(el.errors.UnknownName, match="Did you mean 'rater'"):
        el.from_table(ratings, rater="raters")
    with pytest.raises(el.errors.InputError, match="this is not a table; got 'int'"):
        el.from_table(3)
    mixed = pd.DataFrame({"rating": [1, "good"]})
    with pytest.raises(
        el.errors.InputError, match="column 'rating'.*several kinds; got 'int, str'"
    ):
        el.from_table(mixed)


def test_pandas_frames_keep_their_values_both_ways() -> None:
    frame = pd.DataFrame(
        {
            "number": [1, 2],
            "gap": [1.5, None],
            "text": ["a", None],
            "kind": pd.Categorical(["x", "y"]),
            "day": pd.to_datetime(["2026-01-02", None]),
            "yes": [True, False],
        },
        index=pd.Index(["first", "second"], name="row"),
    )
    found = to_polars(frame)
    assert found.columns == ["row", *frame.columns]
    assert found.rows()[1] == ("second", 2, None, None, "y", None, False)
    back = el.to_pandas(found)
    assert back["number"].to_list() == [1, 2]
    assert back["gap"].isna().to_list() == [False, True]
    assert str(back["day"].dtype).startswith("datetime64")
    assert back["yes"].dtype == bool
    assert to_polars(back).rows() == found.rows()


def test_without_pandas_the_sentence_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "pandas":
            raise ModuleNotFoundError(name=name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(el.errors.MissingExtra, match=r"pip install 'empathylab\[pandas\]'"):
        el.to_pandas(pl.DataFrame({"a": [1]}))
