"""Dockerfile, compose.yaml and the proxy's file: read, and their commands run without Docker."""

from __future__ import annotations

import re
import shlex
import socket
import tomllib
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.helpers.studies import furnished, serving, study_file
from tests.test_study_docs import block

ROOT = Path(__file__).parents[1]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
PROXY = (ROOT / "deploy" / "nginx.conf.template").read_text(encoding="utf-8")


def test_the_image_holds_extras_that_exist_and_does_not_run_as_root() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = re.findall(r"\[([a-z,]+)\]'", DOCKERFILE)
    assert len(asked) == 2
    assert len(set(asked)) == 1
    assert set(asked[0].split(",")) <= set(known["optional-dependencies"])
    assert DOCKERFILE.index("\nUSER empathylab") < DOCKERFILE.index("\nENTRYPOINT")
    copied = shlex.split(re.findall(r"^COPY (.+) \./$", DOCKERFILE, re.MULTILINE)[0])
    needed = {known["readme"], *known["license-files"], "pyproject.toml"}
    assert set(copied) == needed
    kept = (ROOT / ".dockerignore").read_text()
    assert all(f"!{name}\n" in kept for name in (*copied, "src"))


def test_the_services_fit_together() -> None:
    services = COMPOSE["services"]
    assert set(services) == {"app", "database", "proxy"}
    assert 'ENTRYPOINT ["empathylab"]' in DOCKERFILE  # so that the command is one of ours
    command = services["app"]["command"]
    port = command[command.index("--port") + 1]
    assert f"proxy_pass http://app:{port}/;" in PROXY
    subnet = COMPOSE["networks"]["inside"]["ipam"]["config"][0]["subnet"]
    assert command[command.index("--proxy") + 1] == subnet
    database = services["database"]["environment"]
    url = services["app"]["environment"]["EMPATHYLAB_DATABASE_URL"]
    assert url.startswith(f"postgresql://{database['POSTGRES_USER']}:")
    assert url.endswith(f"@database/{database['POSTGRES_DB']}")
    mounted = [volume.split(":")[1] for volume in services["app"]["volumes"]]
    assert {"/lab", command[2]} == set(mounted)
    assert "ports" not in services["app"]
    assert "ports" not in services["database"]
    for service in services.values():
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert source.startswith("./deploy/") or source in COMPOSE["volumes"]


def test_the_proxy_is_that_of_the_documentation() -> None:
    there = PROXY.partition("\n")[2]
    for own, documented in (
        ("${STUDY_HOST}", "lab.example.org"),
        ("/etc/nginx/tls/", "/etc/letsencrypt/live/lab.example.org/"),
        ("/dev/stderr", "/var/log/nginx/study.log"),
        ("http://app:8000/", "http://127.0.0.1:8000/"),
    ):
        assert own in there
        there = there.replace(own, documented)
    assert there == block("nginx")


@pytest.mark.postgres
@pytest.mark.slow
def test_the_apps_command_serves_the_study(tmp_path: Path, postgres_url: str) -> None:
    url = postgres_url.replace("postgresql+psycopg", "postgresql")
    furnished(tmp_path / "lab", database=url)
    file = study_file(tmp_path)
    command = [
        word.replace("${STUDY_HOST:?set the name of the host}", "lab.example.org")
        for word in COMPOSE["services"]["app"]["command"]
    ]
    assert command[:3] == ["study", "serve", "/study/study.yaml"]
    # The same words, but for this machine's file, a port that is free, and no other addresses.
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    changed = {"--host": "127.0.0.1", "--port": port, "--proxy": "127.0.0.1"}
    for option, value in changed.items():
        command[command.index(option) + 1] = value
    environment = {"EMPATHYLAB_DATABASE_URL": url, "EMPATHYLAB_LAB": str(tmp_path / "lab")}
    with serving(file, *command[3:], **environment) as server:
        assert server.address == "https://lab.example.org/study"
        inside = f"http://127.0.0.1:{port}"
        forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}
        page = httpx.get(f"{inside}/", headers=forwarded, timeout=60)
        assert "Strict-Transport-Security" in page.headers
        assert httpx.get(f"{inside}/ready", timeout=60).status_code == 200
