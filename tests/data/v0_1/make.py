"""Makes the lab and the archive in this folder, and their results. Run it with version 0.1 only.

    git worktree add ../v0_1 d1b83cf
    cd ../v0_1
    PYTHONPATH=src:.:THE_OTHER_CHECKOUT python -m tests.data.v0_1.make

It takes 0.1's program and test helpers from the one, and itself and `tests/golden` from the other.

Later versions must open what this version wrote, so the files are never made again. The script
stays to tell what is in them: runs of scripted models, an imported study with invented texts,
judgements of scripted judges, two studies that people finished, one of them also visited by bots,
and a study that is still open.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from empathylab.store import Lab
from empathylab.study import Study, parse_study
from empathylab.study.service import Finished, StudyService, launch
from tests.golden import invented
from tests.golden.lab_cases import (
    CLOSED,
    IMAGINED,
    OPEN,
    RATED,
    archive_cases,
    lab_cases,
    row_counts,
)
from tests.golden.write import write
from tests.helpers.command_line import printed
from tests.helpers.labs import person_like
from tests.study.examples import BETWEEN, appraisal, between
from tests.study.service_examples import Clock, furnish, someone, step_on, walk

HERE = Path(__file__).parent
MODULE = "tests.data.v0_1.make"


def upset(messages: tuple[Any, ...], parameters: Any) -> str:
    """A respondent whom situations upset."""
    return person_like(messages, parameters)


def calm(messages: tuple[Any, ...], parameters: Any) -> str:
    """A respondent who answers a scale the same always, and sometimes not at all."""
    text = messages[-1].content
    items = [line.partition(". ")[0] for line in text.splitlines()]
    numbers = [item for item in items if item.isdigit()]
    if not numbers:
        return "Thank you for telling me. Take a deep breath; it will pass."
    if invented.chance("refuses", text) < 0.1:
        return "I'm sorry, but as an AI I don't have feelings."
    return json.dumps({number: 1 + int(3 * invented.chance("calm", number)) for number in numbers})


def steady_judge(messages: tuple[Any, ...], parameters: Any) -> str:
    """A judge whose ratings depend on the text it is shown."""
    return _judged("steady", messages, parameters)


def fickle_judge(messages: tuple[Any, ...], parameters: Any) -> str:
    """A judge who does not always answer."""
    if invented.chance("refuses", messages[-1].content) < 0.1:
        return "I'm sorry, but I can't rate this reply."
    return _judged("fickle", messages, parameters)


def _judged(name: str, messages: tuple[Any, ...], parameters: Any) -> str:
    text = messages[-1].content
    kind = any(ending[:30] in text for ending in invented.ENDINGS["kind/model"])
    answers = {}
    for key, one in parameters.schema["properties"].items():
        points = sorted(one["enum"], key=str)
        place = invented.chance(name, text) + (0.3 if kind else 0)
        answers[key] = points[min(len(points) - 1, int(place * len(points)))]
    return json.dumps(answers)


def fill_runs(lab: Path) -> None:
    """Runs of scripted models: scales, replies, and judgements of an imported study."""
    at = ("--lab", lab)
    upset_one, calm_one = f"scripted/{MODULE}:upset", f"scripted/{MODULE}:calm"
    printed("appraise", upset_one, calm_one, "--situations", 2, "--default-orders", 3, *at)
    printed("appraise", upset_one, "--situations", 1, "--counterparts", "--mode", "free", *at)
    printed("respond", upset_one, calm_one, "--situations", 1, *at)
    printed("data", "sample", "dialogues", "--count", 16, "--name", "drawn", *at)
    people = invented.write_ratings(lab.parent / "people.csv", judges=False)
    raters = invented.write_raters(lab.parent / "raters.csv")
    points = ("--points", "1,2,3,4,5")
    printed("data", "import", "ratings", people, "--raters", raters, "--study", RATED, *points, *at)
    judges = (f"scripted/{MODULE}:steady_judge", f"scripted/{MODULE}:fickle_judge")
    printed("judge", *judges, "--study", RATED, "--sample", 24, "--orders", 2, *at)
    printed("judge", judges[0], "--study", RATED, "--sample", 8, "--pairs", *at)
    printed("evaluate", calm_one, "--against", RATED, "--judge", "style", *at)
    printed("judge", *judges, "--study", RATED, "--respondent", calm_one, "--sample", 24, *at)


def fill_studies(lab: Path) -> None:
    """Studies in which people took part."""
    clock = Clock()
    more = BETWEEN.replace("ratings_per_response: 2", "ratings_per_response: 4")
    small = parse_study(more, file="small.yaml")
    with Lab.open(lab) as opened:
        furnish(opened, *(arm.respondent for arm in small.arms.values()))
        service = launched(opened, small, clock)
        for number in range(18):
            take_part(service, number)
        take_part(service, 99, world="simulated")
        take_part(service, 100, world="test")
        gone = someone(service, "person who leaves")
        for _ in range(4):
            step_on(service, gone)
        service.leave(gone, delete=False)
        deleted = someone(service, "person who withdraws")
        for _ in range(4):
            step_on(service, deleted)
        service.leave(deleted, delete=True)
        excluded = someone(service, "person 8")
        feelings = launched(opened, appraisal(name=IMAGINED), clock)
        for number in range(12):
            assert isinstance(walk(feelings, someone(feelings, f"person {number}")), Finished)
        feelings.close()
        still_open = launched(opened, between(name=OPEN, seed=8), clock)
        for number in range(5):
            take_part(still_open, number)
        unfinished = someone(still_open, "person under way")
        for _ in range(5):
            step_on(still_open, unfinished)
    printed("study", "exclude", CLOSED, "--person", excluded, "--reason", "a test", "--lab", lab)
    printed("study", "bots", CLOSED, "--n", 3, "--behaviour", "careful", "--lab", lab)
    printed("study", "close", CLOSED, "--yes", "--lab", lab)
    printed("study", "pause", OPEN, "--lab", lab)
    printed("study", "resume", OPEN, "--lab", lab)


def launched(lab: Lab, study: Study, clock: Clock) -> StudyService:
    launch(lab, study, now=clock())
    return StudyService(lab, study.name, clock=clock)


def take_part(service: StudyService, number: int, **options: Any) -> None:
    """A person who goes to the end, with ratings of their own."""
    person = someone(service, f"person {number}", **options)
    for count in range(100):
        page = walk(service, person, until="rate")
        if isinstance(page, Finished):
            return
        value = 1 + int(3 * invented.chance("rates", number, count))
        service.submit(person, page.step, {"empathy": str(value)}, {"losses": number % 3})


def main() -> None:
    """Makes everything in a temporary folder, so that no path of this machine gets in."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.chdir(folder)
        fill_runs(Path("lab"))
        fill_studies(Path("lab"))
        archive = folder / "small.zip"
        printed("study", "export", CLOSED, "--archive", archive, "--lab", "lab")
        connection = sqlite3.connect("lab/lab.sqlite")
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("VACUUM")
        connection.close()
        packed = gzip.compress(Path("lab/lab.sqlite").read_bytes(), mtime=0)
        (HERE / "lab.sqlite.gz").write_bytes(packed)
        shutil.copyfile(archive, HERE / "small.zip")
        counts = row_counts(Path("lab/lab.sqlite"))
        copied = archive_cases(Path("other"), folder, archive)
        for name, compute in [*lab_cases(Path("lab"), folder).items(), *copied.items()]:
            write(name, compute(), HERE / "results")
    write("row_counts", counts, HERE)


if __name__ == "__main__":
    main()
