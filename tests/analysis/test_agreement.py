"""Agreement as a result: its sentence, its tables, and a lab whose raters share no reply."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import update

import empathylab as el
from empathylab.store.schema import studies
from tests.helpers.command_line import printed
from tests.stats.agreement.examples import KRIPPENDORFF, long


def test_the_result_holds_krippendorffs_own_figure() -> None:
    """Krippendorff (2011) prints .815 for this table at the ordinal level."""
    table = el.from_table(long(KRIPPENDORFF).rename({"situation": "unit"}), situation="unit")
    result = table.analyze.agreement(bootstrap=0)
    [conclusion] = result.conclusions
    assert conclusion.estimate == pytest.approx(0.815387503755)
    assert str(conclusion) == (
        "Raters agree on rating with Krippendorff's alpha = 0.82 (41 ratings of 12 situations or "
        "replies by 4 raters)."
    )
    assert result.to_frame()["krippendorff_alpha"].to_list() == [conclusion.estimate]
    assert result.tables["pairs"].height == 6
    assert str(conclusion).replace("'", "&#x27;") in result._repr_html_()


def test_what_cannot_be_computed_says_why() -> None:
    result = el.from_table(long([[1, 1, 1], [1, 1, 1]])).analyze.agreement(bootstrap=0)
    assert "cannot be computed: all ratings are the same" in result.summary()
    assert result.conclusions[0].estimate is None


def test_a_labs_raters_agree_on_replies(tmp_path: Path) -> None:
    """Replies are the units and situations their clusters, as in the table of the same ratings."""
    ratings = pl.DataFrame(
        {
            "situation": [f"s{number // 12}" for number in range(72)],
            "situation_text": ["It was hard."] * 72,
            "respondent": [f"arm{number // 6 % 2}" for number in range(72)],
            "text": ["I am sorry."] * 72,
            "rater": [f"r{number % 6}" for number in range(72)],
            "rating": [1 + (number // 6 + (number % 6 > 4)) % 3 for number in range(72)],
        }
    )
    ratings.write_csv(tmp_path / "shared.csv")
    lab = el.open_lab(tmp_path / "lab", quiet=True)
    printed("data", "import", "ratings", tmp_path / "shared.csv", "--lab", lab.folder)
    result = lab.analyze.agreement(bootstrap=100)
    whole = ratings.with_columns(response=pl.concat_str("situation", "respondent"))
    same = el.from_table(whole).analyze.agreement(situation="response", bootstrap=100)
    assert [part.estimate for part in result.conclusions] == [
        part.estimate for part in same.conclusions
    ]
    assert result.caveats == ("Intervals take 6 clusters of rated items into account.",)
    ratings.unique(["situation", "respondent"]).write_csv(tmp_path / "alone.csv")
    printed("data", "import", "ratings", tmp_path / "alone.csv", "--lab", lab.folder)
    with pytest.raises(el.errors.InputError, match="no reply has ratings by two people"):
        lab.analyze.agreement("alone")
    with lab.store().writing() as connection:
        connection.execute(update(studies).values(status="open"))
    for analyse in (
        lab.analyze.agreement,
        lambda name: lab.analyze.compare("arm0", "arm1", study=name),
    ):
        with pytest.raises(el.errors.InputError, match="the study is still open"):
            analyse("shared")


def test_agreement_no_better_than_chance_is_not_called_agreement() -> None:
    table = el.from_table(long([[1, 2, 3, 1, 2, 3], [3, 1, 2, 2, 3, 1]]))
    [conclusion] = table.analyze.agreement(bootstrap=0).conclusions
    assert str(conclusion).startswith(
        "Raters are not shown to agree on rating beyond chance: Krippendorff's alpha = −0."
    )


def test_raters_of_different_replies_to_a_situation_are_not_taken_for_raters_of_one() -> None:
    rows = long([[1, 2, 3, 1], [1, 2, 3, 2]])
    of_arms = rows.with_columns(arm=pl.col("rater").cast(pl.String))
    caveat, *_ = el.from_table(of_arms).analyze.agreement(bootstrap=0).caveats
    assert caveat.startswith("In 4 of 4 items the column arm has several values.")
    alike = rows.with_columns(arm=pl.lit("gpt"))
    others = el.from_table(alike).analyze.agreement(bootstrap=0).caveats
    assert not any("several values" in caveat for caveat in others)


def rated(items: int) -> pl.DataFrame:
    """Two raters of so many items, who agree on all but the last."""
    first = [1 + number % 3 for number in range(items)]
    return long([first, [*first[:-1], 1 + items % 3]])


@pytest.mark.parametrize(("items", "is_few"), [(4, True), (5, True), (6, False)])
def test_intervals_from_few_items_are_said_to_be_too_narrow(items: int, is_few: bool) -> None:
    caveats = " ".join(el.from_table(rated(items)).analyze.agreement(bootstrap=200).caveats)
    assert (f"With fewer than 6 items (rating has {items}), intervals are too" in caveats) is is_few


@pytest.mark.parametrize(("items", "is_few"), [(49, True), (50, False)])
def test_kappas_of_few_shared_items_are_said_to_have_narrow_intervals(
    items: int, is_few: bool
) -> None:
    caveats = " ".join(el.from_table(rated(items)).analyze.agreement(bootstrap=0).caveats)
    assert ("too narrow if they share fewer than 50 items" in caveats) is is_few
    replies = rated(items).with_columns(cluster=pl.col("situation").rank("dense") // 2)
    clustered = el.from_table(replies).analyze.agreement(bootstrap=0, cluster="cluster").caveats
    assert "too narrow if they share" not in " ".join(clustered)


def test_clusters_count_where_items_come_in_clusters() -> None:
    replies = rated(20).with_columns(cluster=pl.col("situation").rank("dense") % 4)
    caveats = el.from_table(replies).analyze.agreement(bootstrap=200, cluster="cluster").caveats
    assert any("With fewer than 6 clusters of items (rating has 4)" in said for said in caveats)
