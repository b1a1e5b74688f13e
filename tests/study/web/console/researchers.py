"""Researchers at the console, and studies for them to watch."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import httpx

from empathylab.store import Lab
from empathylab.study import Study
from empathylab.study.session.service import StudyService
from empathylab.study.web.console import first_link, invite_link
from tests.study.service_examples import Clock, opened, someone, step_on, walk
from tests.study.web.raters import ORIGIN, Visitor, app_of

PASSWORD = "seven quiet herons at dusk"


class Researcher(Visitor):
    """One browser at the console of a study."""

    def token(self, path: str = "/console/account") -> str:
        """What the forms of a page carry."""
        found = re.search(r'name="form" value="([^"]+)"', self.get(path).text)
        return found[1] if found else ""

    def post(self, path: str, **fields: str) -> httpx.Response:
        """The answer to a form that a page of the console would send."""
        given = {"form": self.token(), **fields}
        return self.ask("POST", path, data=given)

    def shown(self, path: str, **fields: str) -> httpx.Response:
        """The page that an accepted form leads to, so that Back sends nothing again."""
        answer = self.post(path, **fields)
        assert answer.status_code == 303
        return self.ask("GET", answer.headers["location"])

    def refused(self, path: str, **fields: str) -> httpx.Response:
        """The page that a refused form leads to, which says what is wrong."""
        page = self.shown(path, **fields)
        assert page.status_code == 200
        assert 'role="alert"' in page.text
        return page

    def log_in(self, name: str, password: str = PASSWORD) -> httpx.Response:
        """The answer to the login form."""
        form = self.token("/console/login")
        return self.ask(
            "POST", "/console/login", data={"form": form, "name": name, "password": password}
        )

    def accept(self, link: str, name: str, password: str = PASSWORD) -> httpx.Response:
        """The answer to the form of a one-time link."""
        token = parse_qs(urlsplit(link).query)["link"][0]
        form = self.token(f"/console/welcome?link={token}")
        fields = {"name": name, "password": password, "again": password}
        return self.ask("POST", "/console/welcome", data={"form": form, "link": token, **fields})


@contextlib.contextmanager
def at_console(
    service: StudyService, role: str | None = "owner", **settings: object
) -> Iterator[Researcher]:
    """A researcher of that role who has signed in; nobody where the role is None."""
    visitor = Researcher(app_of(service, **settings))
    if role is not None:
        join(service, visitor, role)
    yield visitor
    visitor.close()


def join(service: StudyService, visitor: Researcher, role: str, name: str = "") -> None:
    """Makes an account of that role and signs in."""
    first = first_link(service.lab, ORIGIN, clock=service.now)
    if first is not None and role != "owner":
        other = Researcher(app_of(service))
        assert other.accept(first, "first owner").status_code == 303
        other.close()
        first = None
    link = first or invite_link(service.lab, ORIGIN, role, clock=service.now)  # type: ignore[arg-type]
    assert visitor.accept(link, name or f"some {role}").status_code == 303


def busy(lab: Lab, study: Study | None = None, people: int = 4) -> tuple[StudyService, Clock]:
    """A study with people who finished, one who is at it, one who left and one who only came."""
    service, clock = opened(lab, study)
    for number in range(people):
        walk(service, someone(service, f"finished {number}"))
    walk(service, someone(service, "at it"), until="rate")
    left = someone(service, "left")
    walk(service, left, until="rate")
    service.leave(left, delete=False)
    someone(service, "came")
    tester = someone(service, "tester", world="test")
    step_on(service, tester)
    walk(service, someone(service, "bot", world="simulated"))
    return service, clock
