"""Prints the frozen numbers of tests/stats/test_prediction_powered.py.

Made with ppi-python 0.2.3, in an environment of its own:
    pip install ppi-python && python tests/reference/prediction_powered.py
"""

import sys

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

RATED = np.arange(40)
UNRATED = np.arange(40, 400)


def people(i: np.ndarray) -> np.ndarray:
    return 1.0 + (i * 7 + i // 5) % 5


def judge(i: np.ndarray) -> np.ndarray:
    return np.clip(people(i) + (i * 3) % 4 - 1, 1, 5).astype(float)


def _say(*parts: object) -> None:
    sys.stdout.write(" ".join(str(part) for part in parts) + "\n")


def main() -> None:
    y, f, unrated = people(RATED), judge(RATED), judge(UNRATED)
    for trust in (0, 0.5, 1, None):
        point = ppi_mean_pointestimate(y, f, unrated, lam=trust)
        low, high = ppi_mean_ci(y, f, unrated, alpha=0.05, lam=trust)
        _say(trust, float(point[0]), float(low[0]), float(high[0]))


main()
