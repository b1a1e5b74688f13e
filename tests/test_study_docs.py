"""The commands and settings that the how-to pages on studies show are ones that work."""

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

HOW_TO = Path(__file__).parents[1] / "docs" / "how-to"
SERVE = (HOW_TO / "serve-a-study.md").read_text(encoding="utf-8")
DEPLOY = (HOW_TO / "deploy-a-study.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The page's only example in that language."""
    [example] = re.findall(rf"```{language}\n(.*?)```", DEPLOY, re.DOTALL)
    return str(example)


def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(block("ini"))
    return parser


def test_every_command_of_the_pages_is_one_that_the_program_takes() -> None:
    group = typer.main.get_command(study.app)
    commands = re.findall(r"^empathylab study (.+)$", SERVE + DEPLOY, re.MULTILINE)
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


def setting(name: str) -> str:
    """The value of a setting that the example has once."""
    [found] = re.findall(rf"^ *{name} (.+);$", block("nginx"), re.MULTILINE)
    return str(found)


@pytest.mark.parametrize(
    "name",
    ["client_header_timeout", "client_body_timeout", "send_timeout", "keepalive_timeout"],
)
def test_the_proxy_is_no_more_patient_than_the_server(name: str) -> None:
    from empathylab.study.web.forms import MOST_SECONDS

    assert 0 < int(setting(name).removesuffix("s")) <= MOST_SECONDS


def test_the_proxy_limits_what_one_address_may_ask_for() -> None:
    for kind, zone in (("conn", "study_connections"), ("req", "study_requests")):
        assert setting(f"limit_{kind}_zone").startswith(f"$binary_remote_addr zone={zone}:")
        assert zone in setting(f"limit_{kind}")
        # Anyone who meets a limit is told calmly that nothing is lost.
        assert setting(f"limit_{kind}_status") in setting("error_page")


def test_the_proxy_lets_every_form_through_that_the_server_takes() -> None:
    from empathylab.study.web.forms import MOST_BYTES

    assert int(setting("client_max_body_size").removesuffix("m")) * 2**20 > MOST_BYTES


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


STUDIES = (Path(__file__).parents[1] / "docs" / "how-to" / "run-a-study.md").read_text(
    encoding="utf-8"
)


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
    named = set(re.findall(r"`(?:empathylab )?study ([a-z-]+)", STUDIES + SERVE + DEPLOY))
    assert named <= set(group.commands)  # type: ignore[attr-defined]
