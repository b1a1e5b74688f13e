"""`empathylab study demo` as a real process, visited over HTTP."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from empathylab.cli.study.demo import demo
from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.study.demo import demo_study
from empathylab.study.session.service import StudyService
from tests.helpers.studies import visit

COMMAND = "import typer; from empathylab.cli.study.demo import demo; typer.run(demo)"


@pytest.mark.slow
def test_the_demo_is_served_filled_and_kept(tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "--port", "0", "--json", "--lab", str(lab)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    )
    try:
        assert process.stdout is not None
        links = json.loads(process.stdout.readline())
        with httpx.Client(base_url=links["address"], follow_redirects=True) as client:
            end = visit(client, demo_study(), links["rater_link"])
            assert "Thank you" in end.text
            assert client.get(links["console_link"]).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)
        if process.stdout is not None:
            process.stdout.close()
    with Lab.open(lab, create=False) as opened:
        assert StudyService(opened, "demo").actions.status().outcomes == {"completed": 1}


def test_a_port_that_is_taken_is_said_before_a_lab_is_made(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match="another program already"):
            demo(port=taken.getsockname()[1], lab=tmp_path / "lab")
    assert not (tmp_path / "lab").exists()
