"""Preferences of a study's raters as conclusions; the numbers are those of `stats preferences`."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from empathylab.analysis.preferences import from_lab, from_table, headlines, pair_rows
from empathylab.analysis.text.apa import p_text
from empathylab.cli.app import app
from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.study import parse_study
from empathylab.study.session.service import Page
from tests.study.question_examples import EVERY_QUESTION
from tests.study.service_examples import careful, opened, someone


def table(wins: int, losses: int, ties: int = 0) -> pl.DataFrame:
    """Comparisons of a with b, by as many raters, half of them with b shown first."""
    outcomes = ["a"] * wins + ["b"] * losses + ["tie"] * ties
    rows = []
    for number, won in enumerate(outcomes):
        first, second = ("a", "b") if number % 2 else ("b", "a")
        outcome = "tie" if won == "tie" else "first" if won == first else "second"
        rows.append((f"r{number}", f"s{number % 7}", first, second, outcome))
    return pl.DataFrame(
        rows, schema=["rater", "situation", "first", "second", "outcome"], orient="row"
    )


def test_the_log_odds_of_two_arms_are_those_of_their_wins() -> None:
    # With two arms and no ties the estimate is ln(wins / losses), whichever is shown first.
    found = from_table(table(60, 20))
    [conclusion] = found.conclusions
    assert conclusion.estimate == pytest.approx(math.log(3), abs=1e-6)
    assert (conclusion.kind, conclusion.subject, conclusion.reference) == ("better", "a", "b")
    assert "raters choose a in 75% of comparisons and b in 25%" in conclusion.sentence
    assert found.caveats == ()


def test_the_sentence_names_the_corrected_p_beside_its_own() -> None:
    """Holm by hand: the smallest of three p values times 3."""
    third = [
        table(32, 26).with_columns(
            pl.col("first", "second", "outcome").str.replace_all("^b$", "c"),
            rater="x" + pl.col("rater"),
        ),
        table(27, 25).with_columns(
            pl.col("first", "second", "outcome").str.replace_all("^a$", "c"),
            rater="y" + pl.col("rater"),
        ),
    ]
    found = from_table(pl.concat([table(31, 25), *third])).conclusions
    least = min(found, key=lambda one: one.p or 1.0)
    assert least.p is not None
    assert least.p_adjusted == pytest.approx(3 * least.p)
    assert f"{p_text(least.p)}, {p_text(3 * least.p, 'adjusted p')} (" in least.sentence


def test_one_order_cannot_separate_preference_from_position() -> None:
    frame = table(40, 20).with_columns(
        first=pl.lit("a"),
        second=pl.lit("b"),
        outcome=pl.Series(["first"] * 40 + ["second"] * 20),
    )
    found = from_table(frame)
    assert found.fitted.order is None
    assert found.caveats[0].startswith("Every pair was always shown in the same order")


def test_even_preferences_are_inconclusive() -> None:
    [conclusion] = from_table(table(26, 24)).conclusions
    assert conclusion.kind == "inconclusive"


def test_one_side_that_always_wins_is_finite_and_said() -> None:
    found = from_table(table(10, 0))
    assert math.isfinite(found.conclusions[0].estimate or math.nan)
    assert any("won every comparison" in caveat for caveat in found.caveats)


def test_a_study_needs_to_be_closed(sqlite_lab: Lab, tmp_path: Path) -> None:
    service, _ = opened(sqlite_lab, parse_study(EVERY_QUESTION))
    for name, chosen in (("a", ("first", "second")), ("b", ("tie", "first"))):
        person, left = someone(service, name), list(chosen)
        while isinstance(page := service.view(person), Page):
            given = careful(service.study, page)
            if page.content.page == "compare":
                given["preference"] = left.pop(0)
            service.submit(person, page.step, given)
    with pytest.raises(InputError, match="still open"):
        from_lab(sqlite_lab)
    lab = str(tmp_path / "lab")
    CliRunner().invoke(app, ["analyze", "preferences", "--lab", lab, "--peek", "a safety check"])
    audit = CliRunner().invoke(app, ["study", "audit", "every-question", "--lab", lab, "--json"])
    [peek] = [entry for entry in json.loads(audit.stdout)["audit"] if entry["action"] == "peek"]
    assert peek["who"].startswith("command line")
    service.actions.close()
    assert from_lab(sqlite_lab).design == {"n": 4, "raters": 2, "situations": 4}
    done = CliRunner().invoke(app, ["analyze", "preferences", "--lab", lab, "--json"])
    assert json.loads(done.stdout)["design"]["n"] == 4
    done = CliRunner().invoke(app, ["analyze", "preferences", "--lab", lab])
    assert "4 comparisons by 2 raters" in done.stdout


def test_an_arm_that_wins_or_ties_but_never_loses_is_estimated_with_a_prior() -> None:
    # The likelihood has no maximum: the arm's strength would grow without end.
    found = from_table(table(3, 0, ties=1))
    [conclusion] = found.conclusions
    assert found.has_prior
    assert conclusion.estimate is not None
    assert 0 < conclusion.estimate < 5


def always_first(raters: int) -> pl.DataFrame:
    """Each rater sees both orders of a pair, and prefers what is shown first."""
    pairs = [("a", "b"), ("b", "a")]
    rows = [(f"r{n}", f"s{n % 7}", *pair, "first") for n in range(raters) for pair in pairs]
    return pl.DataFrame(
        rows, schema=["rater", "situation", "first", "second", "outcome"], orient="row"
    )


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (table(0, 0, ties=20), "the comparisons do not vary"),
        (always_first(10), "the comparisons do not vary"),
        (table(12, 8).with_columns(rater=pl.lit("r")), "all comparisons are by one rater"),
        (table(12, 8).with_columns(situation=pl.lit("s")), "comparisons are of one situation"),
    ],
)
def test_comparisons_that_allow_no_test_prefer_nobody(frame: pl.DataFrame, why: str) -> None:
    [conclusion] = from_table(frame).conclusions
    assert (conclusion.kind, conclusion.p) == ("inconclusive", None)
    assert (conclusion.low, conclusion.high) == (None, None)
    assert "are not clearly preferred to" in conclusion.sentence
    assert "this cannot be tested, because" in conclusion.sentence
    assert why in conclusion.sentence


def test_two_arms_are_chosen_as_often_as_they_won() -> None:
    # Wins of 60 to 20 without ties; the interval is that of the log odds, as proportions.
    found = from_table(table(60, 20, ties=10))
    conclusion, chosen = found.conclusions[0], found.proportions["a"]
    assert chosen.estimate == pytest.approx(0.75, abs=1e-6)
    assert conclusion.low is not None
    assert chosen.low == pytest.approx(1 / (1 + math.exp(-conclusion.low)))
    assert found.proportions["b"].high == pytest.approx(1 - chosen.low)
    assert found.proportions_title == "How often people chose each arm, ties left out"


def test_the_order_effect_of_equal_arms_is_how_often_the_first_was_chosen() -> None:
    # Each arm was shown first in 20 comparisons and chosen in 15 of them.
    rows = [
        (f"r{number}", f"s{number % 7}", *shown, "first" if number % 4 else "second")
        for shown in (("a", "b"), ("b", "a"))
        for number in range(20)
    ]
    columns = ["rater", "situation", "first", "second", "outcome"]
    found = from_table(pl.DataFrame(rows, schema=columns, orient="row"))
    assert found.order_effect.startswith(
        "Order: of two equally strong replies, raters choose the one shown first in 75% of "
        "comparisons (95% CI "
    )
    assert from_table(table(60, 20).with_columns(first=pl.lit("x"))).order_effect == ""


def test_pairs_count_what_was_chosen_in_either_order() -> None:
    [pair] = from_table(table(60, 20, ties=10)).pairs
    assert (pair.first, pair.second) == ("a", "b")
    assert (pair.first_chosen, pair.second_chosen, pair.ties, pair.n) == (60, 20, 10, 90)
    [row] = pair_rows(from_table(table(10, 0)))
    assert (row["preferred"], row["not preferred"], row["ties"]) == ("10", "0", "0")


def test_one_sentence_says_over_which_of_several_arms_the_strongest_is_preferred() -> None:
    def third(frame: pl.DataFrame, name: str) -> pl.DataFrame:
        return frame.with_columns(pl.col("first", "second", "outcome").str.replace_all("^b$", name))

    frames = [table(31, 29), third(table(60, 10), "c")]
    [headline] = headlines(from_table(pl.concat(frames)))
    assert str(headline).startswith(
        "Of 3 arms, replies of a are preferred to c's, not clearly to b's: raters choose a in 86%"
    )
    even = pl.concat([table(31, 29), third(table(31, 30), "c")])
    [headline] = headlines(from_table(even))
    assert str(headline).startswith(
        "It is unclear whose replies of 3 arms people prefer most; the strongest is a, the weakest "
    )


def test_the_arm_human_is_called_people() -> None:
    frame = table(60, 20).with_columns(pl.col("first", "second").str.replace("^b$", "human"))
    [conclusion] = from_table(frame).conclusions
    assert (conclusion.subject, conclusion.reference) == ("a", "human")
    assert conclusion.sentence.startswith(
        "Replies of a are preferred to those of people: raters choose a in 75% of comparisons and "
        "people in 25%; "
    )
