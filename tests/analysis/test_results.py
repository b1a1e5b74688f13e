"""Every topic's entry returns a frozen result of the shared shape."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

from empathylab.analysis import (
    agreement,
    appraisal,
    benchmark,
    drift,
    judges,
    overview,
    pairs,
    preferences,
    ratings,
    style,
)
from empathylab.analysis.results import AnalysisResult, Conclusion, ModelChoice
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.store.inserts import now
from empathylab.tables import read_table
from tests.helpers.labs import filled
from tests.helpers.welivita import write_release
from tests.report.style_frames import responses

QUICK = style.Depth(predict=False, permutations=99)
WRITERS = {"human": 0.0, "gpt": 0.6, "llama": -0.5, "new/model": 0.3}


def ratings_table() -> pl.DataFrame:
    """Three people and a judge rate four respondents; people rate only three of them."""
    draw = random.Random(5)
    rows = []
    for number in range(60):
        for writer, level in WRITERS.items():
            quality = 3 + level + draw.gauss(0, 0.7)
            raters = {"judge/m": "model"}
            if writer != "new/model":
                raters |= dict.fromkeys(("ann", "ben", "cem"), "person")
            for rater, kind in raters.items():
                value = min(5, max(1, round(quality + draw.gauss(0, 0.4))))
                rows.append((f"s{number}", writer, rater, kind, value))
    columns = ["situation", "respondent", "rater", "rater_kind", "rating"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def by_people() -> pl.DataFrame:
    return ratings_table().filter(rater_kind="person").drop("rater_kind")


def comparisons() -> pl.DataFrame:
    """Six people choose between two respondents, of whom the first is better, in both orders."""
    draw = random.Random(6)
    rows = []
    for number in range(30):
        for rater in range(6):
            pair = ("human", "gpt") if (number + rater) % 2 else ("gpt", "human")
            better = pair.index("human") == 0
            outcome = "first" if better == (draw.random() < 0.7) else "second"
            rows.append((f"r{rater}", f"s{number}", *pair, outcome))
    columns = ["rater", "situation", "first", "second", "outcome"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def scores_table(shift: float, seed: int = 7) -> pl.DataFrame:
    draw = random.Random(seed)
    rows = [
        ("m", "panas", "negative", phase, "anger", f"s{number}", level + draw.gauss(0, 2))
        for phase, level in (("default", 12.0), ("evoked", 20.0 + shift))
        for number in range(30)
    ]
    columns = ["respondent", "scale", "subscale", "phase", "emotion", "situation", "score"]
    return pl.DataFrame(rows, schema=columns, orient="row")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    write_release(folder / "r.csv", raters=12, per_rater=6)
    release = read_release(read_table(folder / "r.csv"), where="r.csv")
    with Lab.open(folder / "lab") as opened:
        import_release(opened, release, kind="welivita", source="r.csv", fingerprint="1")
        filled(opened, situations=1)
    return folder / "lab"


LAB_ENTRIES: Mapping[str, Callable[[Lab], AnalysisResult]] = {
    "appraisal": appraisal.from_lab,
    "style": lambda opened: style.from_lab(opened, depth=QUICK),
    "judges": lambda opened: judges.from_lab(opened, plan=judges.CalibrationPlan(resamples=0)),
    "benchmark": lambda opened: benchmark.from_lab(opened, "gpt", judge="style"),
    "leaderboard": benchmark.leaderboard_from_lab,
    "drift": lambda opened: drift.from_lab(opened, now() + timedelta(days=1)),
    "overview": overview.from_lab,
}
TABLE_ENTRIES: Mapping[str, Callable[[], AnalysisResult]] = {
    "appraisal": lambda: appraisal.from_table(scores_table(0)),
    "style": lambda: style.from_table(responses(), depth=QUICK),
    "agreement": lambda: agreement.from_table(by_people(), arm="respondent", bootstrap=50),
    "judges": lambda: judges.from_table(ratings_table()),
    "pairs": lambda: pairs.from_table(
        by_people(), "gpt", "human", unit="situation", group="respondent", value="rating"
    ),
    "preferences": lambda: preferences.from_table(comparisons()),
    "ratings": lambda: ratings.from_table(by_people().rename({"respondent": "arm"})),
    "benchmark": lambda: benchmark.from_table(ratings_table(), "new/model", judge="judge/m"),
    "drift of scores": lambda: drift.from_tables(scores_table(0), scores_table(6)),
    "drift of replies": lambda: drift.from_tables(
        responses(), responses().with_columns(pl.col("text") + " Please tell me more!")
    ),
}


def check(result: AnalysisResult) -> None:
    assert isinstance(result, AnalysisResult)
    assert dataclasses.is_dataclass(result)
    for field in dataclasses.fields(result):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(result, field.name, None)
    assert result.model is None or isinstance(result.model, ModelChoice)
    assert result.conclusions
    for conclusion in result.conclusions:
        assert isinstance(conclusion, Conclusion)
        assert conclusion.sentence.strip()
        assert conclusion.subject
    assert len({conclusion.sentence for conclusion in result.conclusions}) == len(
        result.conclusions
    ), "two conclusions with the same sentence"
    assert all(isinstance(frame, pl.DataFrame) for frame in result.tables.values())
    assert isinstance(result.to_frame(), pl.DataFrame)
    json.dumps(dict(result.design), allow_nan=False)
    document = result.to_dict()
    json.dumps(document, allow_nan=False, default=str)
    said = [conclusion["sentence"] for conclusion in document["conclusions"]]
    assert said == [conclusion.sentence for conclusion in result.conclusions]
    assert document["caveats"] == list(result.caveats)
    for sentence in (*(str(conclusion) for conclusion in result.conclusions), *result.caveats):
        assert sentence in result.summary()


@pytest.mark.parametrize("topic", LAB_ENTRIES)
def test_a_labs_result_has_the_shared_shape(topic: str, lab: Path) -> None:
    with Lab.open(lab, create=False) as opened:
        check(LAB_ENTRIES[topic](opened))


@pytest.mark.parametrize("topic", TABLE_ENTRIES)
def test_a_tables_result_has_the_shared_shape(topic: str) -> None:
    check(TABLE_ENTRIES[topic]())


def test_a_judge_alone_puts_a_new_model_near_its_true_level() -> None:
    result = benchmark.from_table(ratings_table(), "new/model", judge="judge/m")
    mean = result.measurement.estimate("mean")
    assert mean is not None
    assert result.measurement.basis == "judge"
    assert mean.low <= 3.3 <= mean.high
    assert mean.estimate == pytest.approx(3.3, abs=0.3)


def test_the_change_of_a_table_is_the_difference_of_its_means() -> None:
    scores = scores_table(0)
    [headline] = appraisal.from_table(scores).conclusions
    evoked, baseline = (
        scores.filter(phase=phase)["score"].to_numpy().mean() for phase in ("evoked", "default")
    )
    assert headline.estimate == pytest.approx(evoked - baseline)
    assert (headline.kind, headline.n) == ("different", 30)


def test_a_shift_of_scores_between_two_tables_is_found() -> None:
    before, after = scores_table(0), scores_table(6, seed=8)
    result = drift.from_tables(before, after)
    evoked = next(row for row in result.to_dict()["scores"] if row["measure"] == "evoked")
    means = [frame.filter(phase="evoked")["score"].to_numpy().mean() for frame in (before, after)]
    assert evoked["difference"] == pytest.approx(means[1] - means[0])
    assert result.conclusions[0].kind == "different"
    same = drift.from_tables(scores_table(0), scores_table(0))
    assert same.scores == ()
    assert any("count once" in caveat for caveat in same.caveats)
