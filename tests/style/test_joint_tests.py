"""Many slopes on the same ratings, corrected together."""

from __future__ import annotations

import numpy as np
import pytest

from empathylab.style.clustered import clustered_slope
from empathylab.style.joint_tests import _deviations, _p_values, jointly_corrected

SOURCE = np.random.default_rng(11)
RATER = np.repeat(np.arange(25), 12)
# Replies 2s and 2s + 1 belong to situation s, so that a rater can rate a situation twice.
REPLY = np.concatenate([SOURCE.choice(50, 12, replace=False) for _ in range(25)])
SITUATION = REPLY // 2
CONTROLS = np.column_stack([np.ones(300), SOURCE.normal(size=50)[REPLY], REPLY % 2])
FEATURES = SOURCE.poisson(0.8, (50, 4)).astype(float)[REPLY]
FEATURES[REPLY > 44, 3] = np.nan
RATINGS = (
    SOURCE.normal(0, 0.7, 25)[RATER]
    + SOURCE.normal(0, 0.5, 25)[SITUATION]
    + SOURCE.normal(size=300)
)


def _slopes(y: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    found = []
    for column in x.T:
        rows = ~np.isnan(column)
        labels = [SITUATION[rows], RATER[rows]]
        found.append(clustered_slope(y[rows], column[rows], CONTROLS[rows], labels))
    return np.array([one.p for one in found]), np.array([one.df for one in found])


@pytest.mark.parametrize("ways", [1, 2])
def test_p_of_simulated_ratings_are_those_of_the_single_test(ways: int) -> None:
    y = SOURCE.normal(size=(300, 3)) + SOURCE.normal(size=(25, 3))[SITUATION]
    clusters = [SITUATION, RATER][:ways]
    expected = np.empty((4, 3))
    df = np.empty(4)
    for feature, column in enumerate(FEATURES.T):
        rows = ~np.isnan(column)
        labels = [codes[rows] for codes in clusters]
        for draw in range(3):
            found = clustered_slope(y[rows, draw], column[rows], CONTROLS[rows], labels)
            expected[feature, draw], df[feature] = found.p, found.df
    assert _p_values(y, FEATURES, CONTROLS, clusters, df) == pytest.approx(expected, rel=1e-9)


def test_variances_are_those_that_made_the_ratings() -> None:
    rater, reply = np.divmod(np.arange(200 * 60), 60)
    situation = reply // 2
    made = (0.7, 0.5, 0.4, 1.0)
    residual = SOURCE.normal(0, made[3], len(rater))
    for codes, deviation in zip((rater, situation, reply), made, strict=False):
        residual += SOURCE.normal(0, deviation, codes.max() + 1)[codes]
    found = _deviations(residual - residual.mean(), [rater, situation, reply])
    assert found == pytest.approx(made, rel=0.25)


def test_a_feature_given_three_times_is_corrected_as_if_given_once() -> None:
    same = FEATURES[:, [0, 0, 0]]
    p, df = _slopes(RATINGS, same)
    sources = [SITUATION, RATER, REPLY]
    alone = jointly_corrected(RATINGS, same[:, :1], CONTROLS, sources[:2], sources, p[:1], df[:1])
    thrice = jointly_corrected(RATINGS, same, CONTROLS, sources[:2], sources, p, df)
    assert thrice == pytest.approx([alone[0]] * 3, abs=1e-9)
    assert alone[0] == pytest.approx(p[0], abs=0.05)


def test_the_correction_is_that_of_a_plain_count_over_simulated_ratings() -> None:
    p, df = _slopes(RATINGS, FEATURES)
    clusters, sources = [SITUATION, RATER], [SITUATION, RATER, REPLY]
    found = jointly_corrected(RATINGS, FEATURES, CONTROLS, clusters, sources, p, df)
    again = jointly_corrected(RATINGS, FEATURES, CONTROLS, clusters, sources, p, df)
    assert (found == again).all()
    # The deviations that made the ratings, and the definition without any of the shortcuts.
    draws = []
    for _ in range(400):
        simulated = SOURCE.normal(size=300) + SOURCE.normal(0, 0.5, 25)[SITUATION]
        draws.append(_slopes(simulated + SOURCE.normal(0, 0.7, 25)[RATER], FEATURES)[0])
    order = np.argsort(p)
    expected, so_far = np.empty(4), 0.0
    for step, feature in enumerate(order):
        reached = sum(min(draw[order[step:]]) <= p[feature] for draw in draws)
        so_far = max(so_far, reached / 400)
        expected[feature] = so_far
    assert found == pytest.approx(expected, abs=0.09)
    assert (found > p).all()


def test_a_larger_p_stays_larger_and_none_is_below_one_in_a_thousand() -> None:
    _, df = _slopes(RATINGS, FEATURES)
    clusters, sources = [SITUATION, RATER], [SITUATION, RATER, REPLY]
    p = np.array([0.3, 0.31, 0.0, 0.32])
    found = jointly_corrected(RATINGS, FEATURES, CONTROLS, clusters, sources, p, df)
    assert found[2] == 0.001
    # 0.31 and 0.32 are corrected over fewer features than 0.3, which alone would make them smaller.
    assert found[0] == found[1] == found[3] > 0.5
