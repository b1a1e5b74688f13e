"""Published files into the lab."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from empathylab.situations.sources.released import Release
    from empathylab.store import Lab
    from empathylab.store.imports.files import ImportedFile
    from empathylab.store.imports.releases import ImportedRelease


def read_welivita(
    path: Path,
    demographics: Sequence[Path] = (),
    name: str = "welivita-2024",
    respondents: Mapping[str, str] | None = None,
    emotions: Mapping[str, str] | None = None,
) -> Release:
    """The rated replies of Welivita & Pu 2024: situations, replies, raters, ratings."""
    from empathylab.situations.sources.tables import check_set_id
    from empathylab.situations.sources.welivita import read_release
    from empathylab.tables import read_table

    check_set_id(name, path.name)
    return read_release(
        read_table(path),
        where=path.name,
        people=[(file.name, read_table(file)) for file in demographics],
        emotions=emotions or {},
        respondents=respondents or {},
        name=name,
    )


def store_release(
    lab: Lab,
    release: Release,
    kind: str,
    path: Path,
    *,
    replace: bool = False,
    tick: Callable[[int], None] = lambda rows: None,
) -> ImportedRelease:
    """Stores what a file brought; what is already there changes nothing."""
    from empathylab.store.imports.releases import content_hash, import_release

    # Two files of one name are two sources where they belong to different sets or studies.
    name = release.study.name if release.study else release.situation_set.id
    return import_release(
        lab,
        release,
        kind=kind,
        source=f"{name}/{path.name}",
        fingerprint=content_hash(release),
        replace=replace,
        tick=tick,
    )


class LabImports:
    """Imports published files into a lab, as `lab.imports`; existing data stay as they are."""

    def __init__(self, store: Callable[[], Lab]) -> None:
        self._store = store

    def welivita(
        self,
        path: str | Path,
        demographics: Sequence[str | Path] = (),
        *,
        name: str = "welivita-2024",
        replace: bool = False,
    ) -> ImportedRelease:
        """The rated replies of Welivita & Pu 2024, with the platform's files about the raters."""
        release = read_welivita(Path(path), [Path(file) for file in demographics], name)
        return store_release(self._store(), release, "welivita", Path(path), replace=replace)

    def emotionbench(self, path: str | Path) -> list[ImportedFile]:
        """EmotionBench's files: situations, questionnaires, results, people."""
        from empathylab.store.imports.emotionbench import import_emotionbench

        return list(import_emotionbench(self._store(), Path(path)))
