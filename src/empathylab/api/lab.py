"""The lab as Python users open it: measure models, read what is there, analyse, report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Self

from empathylab.api import appraise, ask, converse, judge, respond
from empathylab.api.actor import operator
from empathylab.api.evaluation import calls
from empathylab.api.methods import awaitable, method
from empathylab.api.workspace import PYTHON, Workspace

if TYPE_CHECKING:
    import polars as pl

    from empathylab.api.analyses import LabAnalyses
    from empathylab.api.imports import LabImports
    from empathylab.api.studies import LabStudies
    from empathylab.report import LabOverview

DEFAULT_FOLDER = "lab"


def open_lab(
    folder: str | Path | None = None, *, quiet: bool = False, database: str | None = None
) -> Lab:
    """The lab in that folder; it is created when the first model is measured.

    If no folder is given, `EMPATHYLAB_LAB` or `./lab` is used. `quiet` turns off the progress bar.
    `database` is the address of a PostgreSQL database to use instead of the SQLite file.

    >>> lab = open_lab("my-lab", quiet=True)
    >>> lab.folder.name
    'my-lab'
    """
    folder = folder or os.environ.get("EMPATHYLAB_LAB") or DEFAULT_FOLDER
    return Lab(Path(folder), quiet=quiet, database=database)


def _ratings(
    workspace: Workspace, study: str | None = None, *, peek: str | None = None
) -> pl.DataFrame:
    """The ratings of a study, by default of the lab's only study.

    A study that this lab runs must be closed, unless you give a reason to `peek`. The audit log
    records the reason.
    """
    from empathylab.store.ratings import lab_study, ratings_frame
    from empathylab.study.admin.embargo import require_closed

    store = workspace.store()
    chosen = lab_study(store, study)
    require_closed(store, chosen, peek=peek, who=operator(workspace.interface))
    return ratings_frame(store, chosen.name)


class Lab:
    """A lab measures models and stores every answer and result.

    Open it with `open_lab`, as a context manager if you like. Methods that ask models also take
    the keywords of `RunOptions`, such as `max_cost=1`. Each has an async version: `aevaluate`,
    `aappraise`, `arespond`, `aconverse`, `ajudge`, `aevaluate_against`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        quiet: bool = False,
        database: str | None = None,
        interface: str = PYTHON,
    ) -> None:
        self.workspace = Workspace(folder, quiet=quiet, database=database, interface=interface)

    @property
    def folder(self) -> Path:
        """The folder."""
        return self.workspace.folder

    def __repr__(self) -> str:
        return f"<Lab {str(self.folder)!r}>"

    store = method(Workspace.store)

    def close(self) -> None:
        """Closes the database; the lab can be used again."""
        self.workspace.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    evaluate = method(calls.evaluate)
    evaluate_ways = method(calls.evaluate_ways)
    evaluate_against = method(calls.evaluate_against)
    appraise = method(appraise.appraise)
    respond = method(respond.respond)
    converse = method(converse.converse)
    judge = method(judge.judge)
    ask = method(ask.ask)

    aevaluate = awaitable(evaluate)
    aevaluate_against = awaitable(evaluate_against)
    aappraise = awaitable(appraise)
    arespond = awaitable(respond)
    aconverse = awaitable(converse)
    ajudge = awaitable(judge)
    aask = awaitable(ask)

    @property
    def analyze(self) -> LabAnalyses:
        """The analyses, one for each topic: `lab.analyze.ratings()`, `lab.analyze.style()` …"""
        from empathylab.api.analyses import LabAnalyses

        return LabAnalyses(self.store)

    def overview(self) -> LabOverview:
        """The results of all topics, as the report shows them."""
        from empathylab.analysis import overview

        return overview.from_lab(self.store())

    report = method(Workspace.report)

    def runs(self) -> pl.DataFrame:
        """The runs: which model was asked what, with settings, tokens and cost."""
        from empathylab.store import runs_frame

        return runs_frame(self.store())

    def responses(self) -> pl.DataFrame:
        """All responses with the situations they reply to, one row each."""
        from empathylab.store import responses_frame

        return responses_frame(self.store())

    ratings = method(_ratings)

    def administrations(self) -> pl.DataFrame:
        """All administrations of scales, usable or not, one row each."""
        from empathylab.store.administrations import read_appraisals

        return read_appraisals(self.store()).administrations.drop("scale_row")

    def scores(self) -> pl.DataFrame:
        """The scores of usable administrations, one row per subscale.

        `from_table(lab.scores()).analyze.appraisal()` reads them.
        """
        from empathylab.scales.score_frames import score_frame
        from empathylab.store.administrations import read_appraisals

        read = read_appraisals(self.store())
        valid = read.administrations.filter(outcome="valid", counterpart=False)
        rows = valid.select("administration", "scale_row")
        scored = score_frame(read.answers.join(rows, on="administration"), read.scales)
        return valid.drop("scale_row").join(scored, on="administration")

    def conversations(self) -> pl.DataFrame:
        """The conversations that analyses use, one row each."""
        from empathylab.analysis.conversations.frames import lab_frames

        return lab_frames(self.store())[0]

    def turns(self) -> pl.DataFrame:
        """The turns of these conversations, one row each."""
        from empathylab.analysis.conversations.frames import lab_frames

        return lab_frames(self.store())[1]

    @property
    def studies(self) -> LabStudies:
        """Studies with people: `lab.studies.check(study)`, `.launch(study)`, `.pilot(name)` …"""
        from empathylab.api.studies import LabStudies

        return LabStudies(self.folder, self.store)

    @property
    def imports(self) -> LabImports:
        """Published files into the lab: `lab.imports.welivita(file)` …"""
        from empathylab.api.imports import LabImports

        return LabImports(lambda: self.store(create=True))
