"""Studies served by the real command, in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from empathylab.store import Lab
from empathylab.study import Study, parse_study
from tests.study.examples import BETWEEN
from tests.study.service_examples import furnish
from tests.study.web.raters import Read, filled


@dataclass
class Serving:
    """A running `empathylab study serve`."""

    process: subprocess.Popen[str]
    links: dict[str, Any]
    said: list[str] = field(default_factory=list)
    """Lines of its stderr so far."""
    reader: threading.Thread | None = None

    @property
    def address(self) -> str:
        return str(self.links["address"])

    def stop(self, number: int, seconds: float = 90) -> int:
        """The exit code after this signal."""
        self.process.send_signal(number)
        return self.wait(seconds)

    def wait(self, seconds: float = 90) -> int:
        code = self.process.wait(seconds)
        if self.reader is not None:
            self.reader.join(5)
        return code

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What the log says of requests."""
        lines = [json.loads(line) for line in self.said if line.startswith("{")]
        return [line for line in lines if "route" in line]


@contextlib.contextmanager
def serving(*arguments: str | Path, **environment: str) -> Iterator[Serving]:
    """The command `study serve`, once it has printed its links; on any free port."""
    command = [sys.executable, "-m", "empathylab", "study", "serve", "--port", "0", "--json"]
    process = subprocess.Popen(
        [*command, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Nobody's own token may reach the real Prolific.
        env=os.environ | {"NO_COLOR": "1", "PROLIFIC_API_TOKEN": ""} | environment,
    )
    said: list[str] = []
    assert process.stderr is not None
    errors = process.stderr
    reader = threading.Thread(target=lambda: said.extend(errors), daemon=True)
    reader.start()
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, "".join(said) or process.wait(5)
        yield Serving(process, json.loads(line), said, reader)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)
        reader.join(5)
        assert process.stdout is not None
        process.stdout.close()
        errors.close()


def furnished(folder: Path, database: str | None = None) -> Study:
    """The small study between subjects, and a lab that has all it needs, not launched."""
    study = parse_study(BETWEEN)
    with Lab.open(folder, database=database) as lab:
        furnish(lab, *(arm.respondent for arm in study.arms.values()))
    return study


def study_file(folder: Path, text: str = BETWEEN, **changes: str) -> Path:
    """The study's file, with some of its lines changed by key."""
    for key, value in changes.items():
        text = re.sub(rf"^{key}:.*$", f"{key}: {value}", text, flags=re.MULTILINE)
    path = folder / "small.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def visit(client: httpx.Client, study: Study, link: str, until: str = "") -> httpx.Response:
    """The last page that a careful rater sees, or the first whose step begins so."""
    page = client.get(link)
    for _ in range(100):
        step = Read(page.text).fields.get("step")
        if step is None or (until and step.value.startswith(until)):
            return page
        page = client.post(str(client.base_url.join("page")), data=form(study, page))
        assert page.status_code == 200, page.text
    raise AssertionError("the study has no end")


def form(study: Study, page: httpx.Response) -> dict[str, str]:
    """What a careful rater sends of a page."""
    fields = {name: one.value for name, one in Read(page.text).fields.items() if one.value}
    return fields | {f"answer-{name}": one for name, one in filled(study, page).items()}
