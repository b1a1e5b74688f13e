"""Studies with people: a study file read, checked, and piloted by simulated raters."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from empathylab.api.actor import operator
from empathylab.errors import MissingExtra

if TYPE_CHECKING:
    import polars as pl

    from empathylab.store import Lab
    from empathylab.study import Study
    from empathylab.study.bots import Behaviour, BotReport, Settings
    from empathylab.study.design.checks import Checked
    from empathylab.study.session.service import StudyService


def load_study(file: str | Path) -> Study:
    """The study in a YAML file, checked; errors name the line.

    >>> from tempfile import TemporaryDirectory
    >>> from empathylab.study import preset_text
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "norming.yaml"
    ...     _ = file.write_text(preset_text("norming"), encoding="utf-8")
    ...     load_study(file).name
    'norming'
    """
    from empathylab.study import read_study

    return read_study(file)


def check_study(study: Study, lab: Lab | None) -> Checked:
    """What the study needs, what stands in its way, and what a rater will see."""
    from empathylab.protocols.reply_templates import prompt_fields
    from empathylab.study.design.checks import check_study as checked

    return checked(study) if lab is None else checked(study, lab, shown_fields=prompt_fields)


@contextlib.contextmanager
def simulated_links(
    lab: Lab, study: str, url: str | None = None
) -> Iterator[tuple[list[str], StudyService]]:
    """The links for simulated raters, at a server of one's own where no address is given."""
    from urllib.parse import urlencode

    from empathylab.study.assignment.quotas import traits_to_fill
    from empathylab.study.bots import served
    from empathylab.study.session.running import require_not_closed
    from empathylab.study.session.service import StudyService

    try:
        import uvicorn  # noqa: F401 - asked for before anybody walks

        from empathylab.study.web import visit_token
    except ModuleNotFoundError as error:
        raise MissingExtra(str(error.name), "study", "A study on the network") from error
    service = StudyService(lab, study)
    with lab.reading() as connection:
        require_not_closed(service, connection)
    token = visit_token("simulated", service.secret)
    with contextlib.nullcontext(url) if url else served(service) as address:
        link = f"{str(address).rstrip('/')}/?visit={token}"
        places = sum(len(slots) for slots in service.launched.slots.values())
        known = traits_to_fill(service.study, places)
        yield [f"{link}&{urlencode(item)}" if item else link for item in known], service


def walked(
    links: Sequence[str],
    service: StudyService | None,
    crowd: Sequence[Behaviour],
    settings: Settings,
    progress: Callable[[int], None] = lambda done: None,
) -> BotReport:
    """What a crowd of simulated raters met, which walked the pages behind the links."""
    from empathylab.study.bots import walk
    from empathylab.study.bots.reports import summed_up

    started = time.perf_counter()
    met = walk(links, crowd, settings, progress)
    seconds = time.perf_counter() - started
    arms = None if service is None else _completions(service, met.people)
    return summed_up(met, crowd, seconds, arms)


def _completions(service: StudyService, people: Sequence[str]) -> dict[str, int]:
    own = set(people)
    done = Counter(
        participant.arm
        for participant in service.actions.participants()
        if participant.person in own
        and participant.world == "simulated"
        and participant.status == "finished"
    )
    return {arm: done[arm] for arm in service.launched.slots}


class LabStudies:
    """The studies of a lab, as `lab.studies`."""

    def __init__(self, folder: Path, store: Callable[..., Lab]) -> None:
        self._folder = folder
        self._store = store

    def list(self) -> pl.DataFrame:
        """The studies of the lab: name, title, design, status and rated dimensions."""
        import polars as pl

        from empathylab.store.ratings import lab_studies

        rows = [
            (
                name,
                study.title,
                study.design,
                study.status,
                [dimension.name for dimension in study.dimensions],
            )
            for name, study in lab_studies(self._store()).items()
        ]
        texts = dict.fromkeys(("study", "title", "design", "status"), pl.String)
        return pl.DataFrame(rows, schema=texts | {"dimensions": pl.List(pl.String)}, orient="row")

    def check(self, study: Study | str | Path) -> Checked:
        """What a study or study file needs, which problems it has, and what a rater will see."""
        from empathylab.store import has_lab

        lab = self._store() if has_lab(self._folder) else None
        return check_study(_read(study), lab)

    def demo(self) -> Study:
        """The demo study; its situations and replies are imported into the lab."""
        from empathylab.study.demo import demo_study, furnish_demo

        furnish_demo(self._store(create=True))
        return demo_study()

    def launch(self, study: Study | str | Path) -> str:
        """Freezes what raters will see, opens the study, and returns its name.

        `empathylab study serve` lets people take part, and simulated raters can pilot it.
        """
        from empathylab.store.inserts import now
        from empathylab.study.admin.launching import launch

        store = self._store(create=True)
        return launch(store, _read(study), now=now(), who=operator("Python"))

    def pilot(
        self, study: str, n: int = 20, *, behaviour: Behaviour | None = None, seed: int = 1
    ) -> BotReport:
        """Sends simulated raters through a launched study's real pages; no result includes them."""
        from empathylab.study.bots import Settings, mixed

        crowd = [behaviour] * n if behaviour else mixed(n, seed)
        with simulated_links(self._store(), study) as (links, service):
            return walked(links, service, crowd, Settings(seed=seed))

    def close(self, study: str) -> None:
        """Closes a study: no one can take part any more, and its results become available."""
        from empathylab.study.session.service import StudyService

        StudyService(self._store(), study).actions.close(who=operator("Python"))


def _read(study: Study | str | Path) -> Study:
    return load_study(study) if isinstance(study, str | Path) else study
