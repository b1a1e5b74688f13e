"""`study forget` and `study retention` on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from empathylab.cli import study
from empathylab.errors import InputError, UnknownName, UserError
from empathylab.store import Lab, schema
from empathylab.study.archives import pack_study, unpack_study
from empathylab.study.design.definition import Retention
from empathylab.study.exports.folders import export_study
from tests.study.archived import finished
from tests.study.examples import between
from tests.study.service_examples import rows_of


def ran(*arguments: object) -> Result:
    """The command's result; its errors are raised."""
    result = CliRunner().invoke(study.app, [str(argument) for argument in arguments])
    if isinstance(result.exception, UserError):
        raise result.exception
    return result


def said(*arguments: object) -> Any:
    """What the command prints as JSON."""
    return json.loads(ran(*arguments, "--json").stdout)


def test_forget_names_what_was_exported_before(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    with Lab.open(folder) as lab:
        _, clock = finished(lab)
        export_study(lab, "small", tmp_path / "out", identities=True, now=clock(), who="eva")
    done = ran("forget", "small", "--platform-id", "person 1", "--yes", "--lab", folder)
    assert done.stdout == "Deleted: 1 slot emptied.\n"
    assert "may still contain this person" in done.stderr
    assert "export identities, by eva" in done.stderr
    told = json.loads(
        ran(
            "forget", "small", "--platform-id", "person 2", "--yes", "--json", "--lab", folder
        ).stdout
    )
    assert [export["what"] for export in told["earlier_exports"]] == ["export identities", "export"]


def test_a_rater_of_an_imported_study_is_forgotten_by_their_key(tmp_path: Path) -> None:
    with Lab.open(tmp_path / "origin") as origin:
        finished(origin)
        archive = pack_study(origin, "small")
    folder = tmp_path / "lab"
    with Lab.open(folder) as lab:
        unpack_study(lab, archive)
        key = rows_of(lab, schema.raters)[0]["name"]
    with pytest.raises(InputError, match="without platform IDs"):
        ran("forget", "small", "--platform-id", "person 1", "--yes", "--lab", folder)
    assert said("forget", "small", "--person", key, "--yes", "--lab", folder)["places"] == 1
    with pytest.raises(InputError, match="no participant has this ID"):
        ran("forget", "small", "--person", key, "--yes", "--lab", folder)


def test_retention_needs_no_server(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    with Lab.open(folder) as lab:
        finished(lab, study=between(retention=Retention(platform_ids=0)))
    assert said("retention", "--lab", folder) == [
        {"study": "small", "version": 1, "platform_ids": 6, "comments": 0}
    ]
    line = "small, version 1: deleted 0 platform ids and 0 comments\n"
    assert ran("retention", "small", "--lab", folder).stdout == line
    with pytest.raises(UnknownName, match="smal"):
        ran("retention", "smal", "--lab", folder)
