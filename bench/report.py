"""The report of a lab with the published Welivita and EmotionBench files: its time and size.

Prints `name value` lines: the seconds that writing the report takes once the lab is filled, with
the chart script already in the user's cache, and how many of them the analysis takes; the file's
megabytes; how many charts and situations it shows; the page's height on a desktop and on a phone
before anything is opened. Reads the folder that EMPATHYLAB_SHARED_DATA names, or ../shared/data;
without the published files it says so and ends. `report` is the first of its process, of a lab that
keeps no results yet; `report_again` reads the results that the lab kept. Importing the package and
the files is left out. A busy machine makes it longer: the processor's seconds say so.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

from empathylab.analysis.overview import from_lab
from empathylab.report import write_report
from empathylab.report.sections import report_sections
from empathylab.report.vega import vega_bundle
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab
from empathylab.store.imports.emotionbench import import_emotionbench
from empathylab.store.imports.releases import import_release
from empathylab.tables import read_table

DEFAULT = Path(__file__).parents[1] / ".." / "shared" / "data"


def main() -> None:
    folder = Path(os.environ.get("EMPATHYLAB_SHARED_DATA", DEFAULT))
    released = folder / "welivita" / "dataset_and_ratings.csv"
    if not (released.is_file() and (folder / "emotionbench").is_dir()):
        print("# left out: the published files are not here")
        return
    people = [
        (path.name, read_table(path)) for path in sorted(released.parent.glob("demographics_*.csv"))
    ]
    release = read_release(read_table(released), where=released.name, people=people)
    vega_bundle()
    with tempfile.TemporaryDirectory() as place, Lab.open(Path(place)) as lab:
        import_release(lab, release, kind="welivita", source=released.name, fingerprint="1")
        import_emotionbench(lab, folder / "emotionbench")
        for name in ("report", "report_again"):
            begun, worked = time.perf_counter(), time.process_time()
            data = from_lab(lab)
            print(f"{name}_analysis_seconds {time.perf_counter() - begun:.2f}")
            path = write_report(data, lab.reports)
            print(f"{name}_seconds {time.perf_counter() - begun:.2f}")
            print(f"{name}_processor_seconds {time.process_time() - worked:.2f}")
        print(f"report_mb {path.stat().st_size / 1e6:.2f}")
        print(f"charts {sum(len(section.figures()) for section in report_sections(data))}")
        for name, size in (("desktop", (1280, 800)), ("phone", (390, 844))):
            print(f"height_{name}_px {_height(path, *size)}")
        print(f"situations {len(data.situations)}")


def _height(report: Path, width: int, height: int) -> int:
    """The height of the page in a browser before anything is opened, in pixels."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(report.as_uri())
        page.wait_for_function(
            "[...document.querySelectorAll('.chart')]"
            ".filter((chart) => !chart.closest('details:not([open])'))"
            ".every((chart) => chart.dataset.drawn === 'yes')"
        )
        found: int = page.evaluate("document.documentElement.scrollHeight")
        browser.close()
    return found


if __name__ == "__main__":
    main()
