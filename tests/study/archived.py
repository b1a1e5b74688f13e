"""Labs with a study that people have finished, to be exported, archived and joined."""

from __future__ import annotations

from pathlib import Path

from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.study import Study
from empathylab.study.session.service import Finished, StudyService
from empathylab.tables import read_table
from tests.helpers.welivita import write_people, write_release
from tests.study.service_examples import Clock, opened, someone, walk


def rate_all(service: StudyService, person: str, value: str) -> None:
    """Goes to the end and rates everything alike."""
    while True:
        page = walk(service, person, until="rate")
        if isinstance(page, Finished):
            return
        service.submit(person, page.step, {"empathy": value}, {"losses": 2})


def finished(
    lab: Lab, people: int = 4, study: Study | None = None, *, close: bool = True
) -> tuple[StudyService, Clock]:
    """A study that so many people have finished, and a simulated and a test visitor with them."""
    service, clock = opened(lab, study)
    for number in range(people):
        rate_all(service, someone(service, f"person {number}"), str(1 + number % 3))
    rate_all(service, someone(service, "robot", world="simulated"), "3")
    rate_all(service, someone(service, "trial", world="test"), "3")
    if close:
        service.actions.close()
    return service, clock


def released(lab: Lab, folder: Path, *, name: str = "welivita-2024", dated: bool = True) -> None:
    """A study whose ratings come from a file in the form of the published release."""
    write_release(folder / "release.csv", raters=6)
    people = []
    for arm in ("human", "gpt"):
        write_people(folder / f"{arm}.csv", arm, 6)
        table = read_table(folder / f"{arm}.csv")
        if dated:
            day = "2023-11-20" if arm == "human" else "2023-11-21"
            moments = [f"{day}T10:0{number}:00.000000Z" for number in range(table.height)]
            table = table.with_columns(
                table["Status"].alias("Completed at").scatter(range(table.height), moments)
            )
        people.append((f"{arm}.csv", table))
    release = read_release(
        read_table(folder / "release.csv"), where="release.csv", people=people, name=name
    )
    import_release(lab, release, kind="welivita", source="release.csv", fingerprint="1")
