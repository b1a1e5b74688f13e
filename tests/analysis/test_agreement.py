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
    [caveat] = el.from_table(of_arms).analyze.agreement(bootstrap=0).caveats
    assert caveat.startswith("In 4 of 4 items the column arm has several values.")
    alike = rows.with_columns(arm=pl.lit("gpt"))
    assert not el.from_table(alike).analyze.agreement(bootstrap=0).caveats
