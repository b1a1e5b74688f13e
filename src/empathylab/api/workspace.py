"""What the calls of a lab share: its folder and database, its progress, and the runner."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from empathylab.api.progress import Reporter
from empathylab.api.run_options import RunOptions

if TYPE_CHECKING:
    from empathylab.api.run_results import RunResult
    from empathylab.api.sessions import Sessions
    from empathylab.models import Model
    from empathylab.runs import Job, Plan
    from empathylab.store import Lab as Store

Planner = Callable[["Store", str], Sequence["Plan"]]
"""The requests to the model of that name."""
PYTHON = "Python"
"""The interface of those who import the package."""


class Workspace:
    """A lab's folder, in which models are asked; the database is opened when it is needed."""

    def __init__(self, folder: Path, *, quiet: bool, database: str | None, interface: str) -> None:
        self.folder = folder
        self.interface = interface
        self.reporter = Reporter(quiet=quiet)
        self._database = database
        self._store: Store | None = None

    def store(self, *, create: bool = False) -> Store:
        """The lab's database; an error if it is missing, unless it may be created."""
        if self._store is None:
            from empathylab.store import Lab as Store

            self._store = Store.open(self.folder, create=create, database=self._database)
            weakref.finalize(self, self._store.close)
        return self._store

    def close(self) -> None:
        """Closes the database; the next call opens it again."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def ask(
        self, models: Sequence[str | Model], plan: Planner, options: RunOptions, *, report: bool
    ) -> RunResult:
        """Carries out the plans for each model, and sums up what was measured."""
        import polars as pl

        from empathylab.analysis import overview
        from empathylab.api.run_results import RunResult
        from empathylab.store import responses_frame

        opened = options.open_models(models)
        store = self.store(create=True)
        jobs = [options.job(model, plan(store, model.name)) for model in opened]
        sessions = self.run(jobs, options)
        path = self.report() if report else None
        replies = responses_frame(store).filter(pl.col("run").is_in(sessions.runs))
        return RunResult(sessions, overview.of_runs(store, sessions.runs), replies, path)

    def run(self, jobs: Sequence[Job], options: RunOptions) -> Sessions:
        """What became of the jobs' requests."""
        from empathylab.api.sessions import Sessions
        from empathylab.runs import run

        with self.reporter.runs() as observe:
            store = self.store(create=True)
            tallies = run(store, jobs, prices=options.price_table(), observe=observe)
        return Sessions(tuple(tallies), options)

    def report(self) -> Path:
        """Writes the report, one HTML file, and returns its path."""
        from empathylab.analysis import overview
        from empathylab.report import write_report

        store = self.store()
        return write_report(overview.from_lab(store), store.reports)
