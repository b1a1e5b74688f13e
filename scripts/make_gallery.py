"""Writes the gallery: what EmpathyLab finds in published data, as figures and sentences.

Usage: EMPATHYLAB_SHARED_DATA=FOLDER python scripts/make_gallery.py [LAB]

The folder holds the released files of Welivita & Pu, EmotionBench, SAGE and Yin et al. Figures and
numbers are kept in docs/, texts of situations and replies are not.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import empathylab as el

DOCS = Path(__file__).parents[1] / "docs"
FIGURES = DOCS / "images" / "gallery"
_MARGIN = 24
HEAD = (
    "---\nhide: [navigation]\n---\n\n"
    "# Gallery\n\n<!-- Written by scripts/make_gallery.py; do not edit by hand. -->\n\n"
    "This page shows what EmpathyLab finds in published data. Sentences and figures are those of "
    "one report, made by `empathylab report`."
)


class Section(NamedTuple):
    """One data set: how it is imported, and what of the report the gallery shows."""

    title: str
    about: str
    command: str
    conclusions: str
    """A pattern of the conclusions that are quoted, the first four that match."""
    figures: tuple[str, ...]
    """Titles of the figures."""


SECTIONS = [
    Section(
        "Replies rated by people",
        "400 people rated 4,000 replies by people and by GPT-4, each rater one arm (Welivita & Pu "
        "2024).",
        "data import welivita welivita/dataset_and_ratings.csv",
        "rated higher than people on empathy:",
        ("Replies rated Good", "Good ratings by emotion"),
    ),
    Section(
        "Who wrote it?",
        "The same 4,000 replies, by style alone.",
        "",
        "^The author of a response",
        ("Authors and predicted authors", "Words per reply"),
    ),
    Section(
        "Scales before and after situations",
        "1,266 people and four models answered PANAS at baseline and after situations "
        "(EmotionBench, Huang et al. 2024).",
        "data import emotionbench emotionbench",
        "from people",
        ("PANAS: change from baseline", "Distance from people’s reactions"),
    ),
    Section(
        "Conversations with simulated people",
        "Released conversations of three models with simulated people (SAGE). The same model ends "
        "at different feelings with different simulators.",
        "data import sage sage",
        "^With .* ended at a mean feeling",
        ("Feeling at the end",),
    ),
    Section(
        "People who received the reply",
        "455 people described an experience and rated the reply they got. Its author and its label "
        "were crossed (Yin et al. 2024).",
        "data import recipients recipients/recipients.csv --name yin-2024 --licence MIT",
        "^On feel",
        ("How recipients rated the replies",),
    ),
]


def main() -> None:
    data = Path(os.environ["EMPATHYLAB_SHARED_DATA"])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        lab = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else folder / "lab"
        for section in SECTIONS:
            if section.command:
                _empathylab(*section.command.split(), lab=lab, cwd=data)
        _empathylab("report", "--figures", str(folder / "figures"), lab=lab, cwd=folder)
        opened = el.open_lab(lab, quiet=True)
        results = [opened.analyze.ratings("welivita-2024"), opened.overview()]
        conclusions = [str(entry) for result in results for entry in result.conclusions]
        page = _page(folder / "figures", conclusions)
    (DOCS / "gallery.md").write_text(page, encoding="utf-8")


def _empathylab(*words: str, lab: Path, cwd: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "empathylab", *words, "--lab", lab],
        cwd=cwd,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def _page(figures: Path, conclusions: list[str]) -> str:
    listed = {
        entry["title"]: entry
        for entry in json.loads((figures / "figures.json").read_text(encoding="utf-8"))
    }
    FIGURES.mkdir(parents=True, exist_ok=True)
    parts = [HEAD]
    for section in SECTIONS:
        parts.append(f"## {section.title}\n\n{section.about}")
        quoted = [text for text in conclusions if re.search(section.conclusions, text)][:4]
        parts.append("\n".join(f"- {text}" for text in quoted))
        for title in section.figures:
            entry = listed[title]
            name = re.sub(r"^\d+-", "", entry["file"])
            svg = (figures / entry["file"]).read_text(encoding="utf-8")
            (FIGURES / name).write_text(_wider(svg), encoding="utf-8")
            caption = f"*{title}.* {entry['caption']}".strip()
            parts.append(f"![{title}](images/gallery/{name})\n\n{caption}")
    return "\n\n".join(parts) + "\n"


def _wider(svg: str) -> str:
    """With a margin for the reader's font, which may be wider than the one that was measured."""
    svg = re.sub(r' width="[\d.]+mm" height="[\d.]+mm"', "", svg, count=1)
    found = re.search(r'viewBox="0 0 (\d+) (\d+)"><rect width="\d+"', svg)
    if found is None:
        raise SystemExit("a figure does not begin as expected")
    width = int(found[1]) + 2 * _MARGIN
    box = f'width="{width}" height="{found[2]}" viewBox="{-_MARGIN} 0 {width} {found[2]}"'
    return svg.replace(found[0], f'{box}><rect x="{-_MARGIN}" width="{width}"', 1)


if __name__ == "__main__":
    main()
