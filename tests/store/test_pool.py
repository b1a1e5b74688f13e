"""Connections to PostgreSQL: how many there are, and a replica for what only reads."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from sqlalchemy import make_url, select, text
from sqlalchemy.exc import InternalError

from empathylab.errors import LabError
from empathylab.store import Lab, schema
from empathylab.store.inserts import add_respondent


@pytest.mark.postgres
def test_who_waits_too_long_for_a_connection_is_told_to_try_again(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("empathylab.store.database._POOL_SECONDS", 0.1)
    with Lab.open(tmp_path / "lab", database=postgres_url) as lab:
        with contextlib.ExitStack() as held:
            for _ in range(30):
                held.enter_context(lab.reading())
            with pytest.raises(LabError, match="no connection to the database became free"):
                held.enter_context(lab.reading())
        with lab.reading():
            pass


@pytest.mark.postgres
def test_the_number_of_connections_is_a_setting(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("empathylab.store.database._POOL_SECONDS", 0.1)
    monkeypatch.setenv("EMPATHYLAB_DATABASE_CONNECTIONS", "2")
    with (
        Lab.open(tmp_path / "lab", database=postgres_url) as lab,
        lab.reading(),
        lab.reading(),
        pytest.raises(LabError, match="EMPATHYLAB_DATABASE_CONNECTIONS"),
        lab.reading(),
    ):
        pass
    monkeypatch.setenv("EMPATHYLAB_DATABASE_CONNECTIONS", "none")
    with pytest.raises(LabError, match="a whole number of 1"):
        Lab.open(tmp_path / "lab", database=postgres_url)


@pytest.mark.postgres
def test_analyses_read_from_the_replica_and_write_to_the_lab(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMPATHYLAB_DATABASE_URL", postgres_url)
    Lab.open(tmp_path / "lab").close()
    # Another name for the same database, by which its connections are told apart.
    replica = make_url(postgres_url).update_query_dict({"application_name": "replica"})
    monkeypatch.setenv("EMPATHYLAB_REPLICA_URL", replica.render_as_string(hide_password=False))
    name = text("SELECT current_setting('application_name')")
    with Lab.open_to_analyse(tmp_path / "lab") as lab:
        with lab.reading() as connection:
            assert connection.execute(name).scalar() == "replica"
            with pytest.raises(InternalError, match="read-only"):
                add_respondent(connection, "bot/a", "model")
        with lab.writing() as connection:
            assert connection.execute(name).scalar() != "replica"
            add_respondent(connection, "bot/b", "model")
        with lab.reading() as connection:
            assert connection.execute(select(schema.respondents.c.name)).scalar() == "bot/b"
    with Lab.open_read_only(tmp_path / "lab") as lab, lab.reading() as connection:
        assert connection.execute(name).scalar() == "replica"
    with Lab.open(tmp_path / "lab") as lab, lab.reading() as connection:
        assert connection.execute(name).scalar() != "replica"
    monkeypatch.setenv("EMPATHYLAB_REPLICA_URL", "postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(LabError, match="cannot be reached"):
        Lab.open_to_analyse(tmp_path / "lab")
