"""Walks through the presets with situations in Chromium; audits and pictures their pages.

Run from the repository: `python scripts/walk_presets.py FOLDER [LANGUAGE …]`. It takes some
minutes, so the tests walk a part of it only. Pictures are named by
preset, language, viewport and page.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.sync_api import sync_playwright

from empathylab.store import Lab
from tests.study.web.labs import launched
from tests.study.web.test_browser import KINDS, quick, rating, walked


def main(folder: Path, languages: list[str]) -> None:
    """Prints a line for each walk; the first problem ends it."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for language in languages:
            for name in KINDS:
                with (
                    tempfile.TemporaryDirectory() as lab_folder,
                    Lab.open(Path(lab_folder) / "lab") as lab,
                    rating(browser, launched(lab, quick(name, language)), "phone") as rater,
                ):

                    def picture(way: str, kind: str, before: str = f"{name}-{language}") -> None:
                        page = kind.replace("/", "-") or "end"
                        file = folder / f"{before}-{way}-{page}.png"
                        rater.page.screenshot(path=file, full_page=True)

                    kinds = walked(rater, picture)
                    if kinds != KINDS[name]:
                        raise SystemExit(f"{name} {language}: pages {kinds ^ KINDS[name]}")
                    sys.stdout.write(f"{name}_{language}_pages {len(kinds)}\n")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or ["en", "zh", "ar"])
