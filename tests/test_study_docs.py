"""The commands and settings that docs/studies.md and docs/serving.md show are ones that work."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import typer.main

from empathylab.cli import study
from tests.helpers.proxies import certificate

PAGE = (Path(__file__).parents[1] / "docs" / "serving.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The page's only example in that language."""
    [found] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(block("ini"))
    return parser


def test_every_command_of_the_page_is_one_that_the_program_takes() -> None:
    group = typer.main.get_command(study.app)
    commands = re.findall(r"^empathylab study (.+)$", PAGE, re.MULTILINE)
    commands.append(unit()["Service"]["ExecStart"].partition(" study ")[2])
    assert len(commands) >= 4
    for line in commands:
        name, *arguments = shlex.split(line)
        command = group.commands[name]  # type: ignore[attr-defined]
        command.make_context(name, arguments)


def test_the_proxys_example_hands_on_to_the_services_port() -> None:
    arguments = shlex.split(unit()["Service"]["ExecStart"])
    port = arguments[arguments.index("--port") + 1]
    assert f"proxy_pass http://127.0.0.1:{port}/;" in block("nginx")
    assert arguments[arguments.index("--public-url") + 1].endswith("/study")
    assert "location /study/ {" in block("nginx")


def test_the_service_is_given_longer_to_stop_than_requests_to_finish() -> None:
    from empathylab.study.web import server_settings

    patience = server_settings()["timeout_graceful_shutdown"] + 5
    assert int(unit()["Service"]["TimeoutStopSec"]) > patience


def test_the_proxys_example_is_whole() -> None:
    lines = [line.strip() for line in block("nginx").splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    assert all(line.endswith((";", "{", "}")) for line in lines)
    depth = 0
    for line in lines:
        depth += line.endswith("{")
        depth -= line == "}"
        assert depth >= 0
    assert depth == 0


def test_nginx_takes_the_example(tmp_path: Path) -> None:
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        pytest.skip("there is no nginx here")
    cert, key = certificate(tmp_path)
    text = re.sub(r"ssl_certificate \S+;", f"ssl_certificate {cert};", block("nginx"))
    text = re.sub(r"ssl_certificate_key \S+;", f"ssl_certificate_key {key};", text)
    text = text.replace("/var/log/nginx/study.log", str(tmp_path / "error.log"))
    whole = f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ {text} }}"
    (tmp_path / "nginx.conf").write_text(whole)
    done = subprocess.run(
        [nginx, "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "syntax is ok" in done.stderr


STUDIES = (Path(__file__).parents[1] / "docs" / "studies.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "line", re.findall(r"^empathylab (?:study|analyze) .+$", STUDIES, re.MULTILINE)
)
def test_every_command_of_the_walk_through_is_one_that_the_program_takes(line: str) -> None:
    from empathylab.cli import app

    command = typer.main.get_command(app)
    _, *words = shlex.split(line, comments=True)
    while hasattr(command, "commands"):
        name, *words = words
        command = command.commands[name]
    command.make_context(line, words)


def test_the_walk_through_names_only_commands_that_there_are() -> None:
    group = typer.main.get_command(study.app)
    named = set(re.findall(r"`(?:empathylab )?study ([a-z-]+)", STUDIES + PAGE))
    assert named <= set(group.commands)  # type: ignore[attr-defined]
