"""`empathylab study bots`: what it prints, what it refuses."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

import pytest

from empathylab.store import Lab
from empathylab.study.session.service import StudyService
from empathylab.study.web import visit_token
from tests.helpers.command_line import empathylab
from tests.study.service_examples import opened
from tests.study.web.serving import served

run = functools.partial(empathylab, "study", "bots")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Lab.open(tmp_path / "lab") as lab:
        opened(lab)
    return tmp_path / "lab"


def test_a_crowd_of_its_own_server_is_summed_up(folder: Path) -> None:
    code, out, err = run("small", "--n", 4, "--behaviour", "careful", "--lab", folder, "--json")
    assert code == 0, err
    report = json.loads(out)
    assert report["bots"] == 4
    assert report["behaviours"] == {"careful": 4}
    assert report["lost"] == 0
    assert report["errors"] == {}
    assert sum(report["arms"].values()) == report["finished"] >= 2
    assert {block["block"] for block in report["blocks"]} >= {"consent", "rate", "comment", "end"}
    assert "4 of 4" in err


def test_the_table_says_what_was_met_and_that_nothing_counts(folder: Path) -> None:
    code, out, err = run("small", "--n", 3, "--behaviour", "dropout", "--lab", folder)
    assert code == 0, err
    assert "3 simulated raters" in out
    summary = " ".join(out.split())
    ended = re.search(
        r"(\d+) finished, (\d+) ended early or found the study full, (\d+) dropped out, (\d+) fail",
        summary,
    )
    assert ended is not None
    assert sum(map(int, ended.groups())) == 3
    assert ended[3] != "0"
    assert "(dropped out)" in out
    assert "simulated completions" in out
    assert "not part of any result" in err


def test_a_server_that_runs_already_is_walked_by_its_address(folder: Path) -> None:
    with Lab.open(folder) as lab:
        service = StudyService(lab, "small")
        with served(service) as address:
            code, _, err = run("small", "--n", 1, "--url", address, "--lab", folder)
            assert code == 0, err
            link = f"{address}/?visit={visit_token('simulated', service.secret)}"
            code, out, err = run(link, "--n", 1, "--json")
        assert code == 0, err
        assert json.loads(out)["finished"] is None
        assert service.actions.status().simulated == 2


def test_an_address_whose_visitors_would_count_is_refused() -> None:
    code, out, err = run("http://127.0.0.1:9/")
    assert (code, out) == (2, "")
    assert "is not a link for simulated raters" in err


def test_a_study_that_nobody_launched_is_named_with_the_remedy(folder: Path) -> None:
    code, _, err = run("smal", "--lab", folder)
    assert code == 2
    assert "Did you mean 'small'?" in err
