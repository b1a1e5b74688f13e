"""The judge that costs nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from empathylab.analysis.judges.analysis import analyse_judged
from empathylab.analysis.judges.frames import judged_from_table
from empathylab.analysis.judges.prose import verdict
from empathylab.analysis.judges.style_judge import as_often, style_judgements
from empathylab.errors import InputError

KIND = "I am so sorry, that sounds hard. How are you feeling now?"
CURT = "ok whatever"


def rated(situations: int = 40, *, telling: bool = True) -> pl.DataFrame:
    """Kind and curt replies, which people rate apart, or by nothing at all."""
    rng = np.random.default_rng(3)
    rows = []
    for number in range(situations):
        for who, text, mean in (("kind", KIND, 2.6), ("curt", CURT, 1.4)):
            seen = (mean if telling else 2.0) + rng.normal(0, 0.4)
            rows.append(
                {
                    "situation": f"s{number}",
                    "respondent": who,
                    "response": f"{who} {number}",
                    "text": f"{text} {'So it goes. ' * (number % 3)}",
                    "rater": f"p{number % 7}",
                    "rater_kind": "person",
                    "rating": float(np.clip(round(seen), 1, 3)),
                }
            )
    return pl.DataFrame(rows)


def test_it_learns_what_people_like_in_replies_to_other_situations() -> None:
    found = rated().join(style_judgements(rated()), on="response", suffix="_told")
    by = {who: rows["expected"].mean() for (who,), rows in found.group_by("respondent")}
    assert by["kind"] > by["curt"] + 0.5


def test_no_reply_is_rated_by_a_judge_that_saw_a_rating_of_its_situation() -> None:
    # One situation's ratings are turned upside down: what is said of it does not change.
    frame = rated()
    turned = frame.with_columns(
        rating=pl.when(pl.col("situation") == "s5").then(4 - pl.col("rating")).otherwise("rating")
    )
    before, after = (
        style_judgements(value).filter(pl.col("response").is_in(["kind 5", "curt 5"]))["expected"]
        for value in (frame, turned)
    )
    assert before.to_list() == pytest.approx(after.to_list(), abs=1e-9)


def test_it_uses_the_points_as_often_as_people_do() -> None:
    frame = rated()
    told = style_judgements(frame)["rating"].value_counts().sort("rating")["count"].to_list()
    people = frame["rating"].value_counts().sort("rating")["count"].to_list()
    assert np.abs(np.array(told) - np.array(people)).max() <= 5


def test_ratings_in_degrees_are_predicted_in_groups() -> None:
    rng = np.random.default_rng(0)
    frame = rated().with_columns(rating=pl.col("rating") * 30 + rng.uniform(0, 9, 80))
    found = style_judgements(frame)
    assert found["rating"].n_unique() <= 10
    assert frame["rating"].min() <= found["expected"].min()
    assert found["expected"].max() <= frame["rating"].max()


def test_where_style_tells_nothing_the_card_does_not_say_that_it_does() -> None:
    analysis = analyse_judged(judged_from_table(rated(telling=False), where="made up"))
    [card] = analysis.cards
    assert card.judge == "style"
    assert card.scores is not None
    assert card.scores.gain.low < 0


def test_too_few_situations_are_refused() -> None:
    with pytest.raises(InputError, match="more situations"):
        style_judgements(rated(5))


def test_a_table_without_texts_has_no_style_judge_and_says_so() -> None:
    frame = pl.concat(
        [rated(), rated().with_columns(rater=pl.lit("m"), rater_kind=pl.lit("model"))]
    ).drop("text")
    analysis = analyse_judged(judged_from_table(frame, where="made up"))
    assert [card.judge for card in analysis.cards] == ["m"]
    assert analysis.notes == ("The style judge is skipped: the replies' texts are not known.",)


def test_points_go_to_scores_in_their_order() -> None:
    from empathylab.analysis.judges.ordinal_ridge import OrdinalRidge

    fitted = OrdinalRidge((1.0, 2.0), (0.0,), np.ones(1), 4)
    told = as_often(fitted, np.array([3.0, -1.0, 0.5, 2.0]), np.array([1.0, 2.0, 2.0, 2.0]))
    assert told.tolist() == [2, 1, 2, 2]


@pytest.mark.shared_data
@pytest.mark.slow
def test_on_the_published_ratings_it_does_a_little_better_than_chance(shared_data: Path) -> None:
    table = pl.read_csv(shared_data / "welivita" / "dataset_and_ratings.csv")
    frame = pl.concat(
        table.select(
            situation="dialog_id",
            emotion="emotion",
            valence="sentiment",
            respondent=pl.lit(arm),
            text=pl.col(f"response_{arm}"),
            rater=pl.col(f"annotator_{arm}").cast(pl.String),
            rater_kind=pl.lit("person"),
            rating=pl.col(f"rating_{arm}"),
        )
        for arm in ("human", "chatgpt_empathy")
    )
    analysis = analyse_judged(judged_from_table(frame, where="published"))
    [card] = analysis.cards
    assert card.n == 4000
    # Frozen from this code: what a model has to beat.
    assert card.spearman.estimate == pytest.approx(0.28, abs=0.02)
    assert card.spearman_within == pytest.approx(0.21, abs=0.02)
    assert card.weighted_kappa.estimate == pytest.approx(0.28, abs=0.03)
    assert card.scores is not None
    assert card.scores.gain.low > 0
    assert card.scores.skill == pytest.approx(0.06, abs=0.02)
    # One person rated each reply, so nobody can say whether it might stand in for people.
    assert card.decision == "cannot tell"
    assert "only one person" in verdict(card)
