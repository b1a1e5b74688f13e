"""Importing the published EmotionBench folder, and analysing one model's PANAS file after that.

Prints `name value` lines; the analysis is the best of five. Reads the folder that
EMPATHYLAB_SHARED_DATA names, or ../shared/data; without the published files it says so and ends.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from empathylab.analysis.appraisal.analysis import estimate_appraisals
from empathylab.analysis.appraisal.self_reports import self_reports
from empathylab.store import Lab
from empathylab.store.administrations import read_appraisals
from empathylab.store.imports.emotionbench import import_emotionbench

DEFAULT = Path(__file__).parents[1] / ".." / "shared" / "data"


def main() -> None:
    folder = Path(os.environ.get("EMPATHYLAB_SHARED_DATA", DEFAULT)) / "emotionbench"
    if not folder.is_dir():
        print("# left out: the published files are not here")
        return
    with tempfile.TemporaryDirectory() as place, Lab.open(Path(place)) as lab:
        begun = time.perf_counter()
        import_emotionbench(lab, folder)
        print(f"import_seconds {time.perf_counter() - begun:.2f}")
        taken = []
        for _ in range(5):
            begun = time.perf_counter()
            read = read_appraisals(lab, respondent="gpt-3.5-turbo", scale="panas")
            estimate_appraisals(read)
            taken.append(time.perf_counter() - begun)
        print(f"analysis_seconds {min(taken):.3f}")
        begun = time.perf_counter()
        self_reports(lab, read_appraisals(lab))
        print(f"validity_of_all_seconds {time.perf_counter() - begun:.2f}")


if __name__ == "__main__":
    main()
