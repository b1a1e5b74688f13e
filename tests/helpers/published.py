"""A lab with the published files, as a user would have it after the first report."""

from __future__ import annotations

from pathlib import Path

from empathylab.analysis.overview import from_lab
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab
from empathylab.store.imports.emotionbench import import_emotionbench
from empathylab.store.imports.releases import import_release
from empathylab.tables import read_table


def fill_published(folder: Path, shared_data: Path) -> None:
    """Makes the lab and computes what its report shows; the lab keeps these results."""
    files = shared_data / "welivita"
    people = [(path.name, read_table(path)) for path in sorted(files.glob("demographics_*.csv"))]
    table = read_table(files / "dataset_and_ratings.csv")
    release = read_release(table, where="dataset_and_ratings.csv", people=people)
    with Lab.open(folder) as lab:
        import_release(lab, release, kind="welivita", source="the release", fingerprint="1")
        import_emotionbench(lab, shared_data / "emotionbench")
        from_lab(lab)
