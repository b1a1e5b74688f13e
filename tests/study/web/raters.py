"""A rater without scripts: reads a page as it was sent, fills its form, sends it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import httpx
from starlette.applications import Starlette

from empathylab.study import Study
from empathylab.study.blocks.tutorial import Tutorial
from empathylab.study.session.service import StudyService
from empathylab.study.web import create_app
from tests.study.web.desk import Desk

ORIGIN = "http://study.test"


@dataclass
class Field:
    """A field of a form, with what can be chosen."""

    kind: str
    value: str = ""
    options: list[str] = field(default_factory=list)


class Read(HTMLParser):
    """The form of a page, and its links."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, Field] = {}
        self.links: list[str] = []
        self.title = ""
        self._in: list[str] = []
        self._area = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._in.append(tag)
        if tag == "a":
            self.links.append(given["href"])
        if tag == "textarea":
            self._area = given["name"]
            self.fields[self._area] = Field("textarea")
        if tag == "select":
            self._area = given["name"]
            self.fields[self._area] = Field("select")
        if tag == "option" and given["value"]:
            self.fields[self._area].options.append(given["value"])
        if tag == "input":
            one = self.fields.setdefault(given["name"], Field(given["type"]))
            if given["type"] == "radio":
                one.options.append(given["value"])
                one.value = given["value"] if "checked" in given else one.value
            else:
                one.value = given["value"]

    def handle_data(self, data: str) -> None:
        if self._in and self._in[-1] == "h1":
            self.title += data
        if self._in and self._in[-1] == "textarea":
            self.fields[self._area].value += data.removeprefix("\n")

    def handle_endtag(self, tag: str) -> None:
        while self._in and self._in.pop() != tag:
            pass


class Visitor:
    """One browser."""

    def __init__(self, app: Starlette, **headers: str) -> None:
        self._runner = asyncio.Runner()
        transport = httpx.ASGITransport(app=app)
        self.client = httpx.AsyncClient(transport=transport, base_url=ORIGIN, headers=headers)
        self.sent: list[httpx.Response] = []

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """The answer to one request, redirects not followed."""
        response = self._runner.run(self.client.request(method, path, **more))
        self.sent.append(response)
        return response

    def get(self, path: str) -> httpx.Response:
        """The page at the end of all redirects."""
        response = self.ask("GET", path)
        while response.is_redirect:
            response = self.ask("GET", response.headers["location"])
        return response

    def send(self, page: httpx.Response, **answers: str) -> httpx.Response:
        """The page after the form is sent with these answers, dashes written as underscores."""
        fields = {name: one.value for name, one in Read(page.text).fields.items() if one.value}
        fields |= {f"answer-{name.replace('_', '-')}": value for name, value in answers.items()}
        response = self.ask("POST", "/page", data=fields)
        return self.get(response.headers["location"]) if response.is_redirect else response

    def close(self) -> None:
        self._runner.run(self.client.aclose())
        self._runner.close()


@contextlib.contextmanager
def visiting(desk: Desk | StudyService, **settings: Any) -> Iterator[Visitor]:
    """A browser at the pages of the desk's study."""
    visitor = Visitor(app_of(desk, **settings))
    try:
        yield visitor
    finally:
        visitor.close()


def app_of(desk: Desk | StudyService, **settings: Any) -> Starlette:
    """The app of the desk's study."""
    return create_app(lambda: desk, study=desk.study, secret=desk.secret, **settings)


def filled(study: Study, page: httpx.Response) -> dict[str, str]:
    """A careful rater's answers: checks are answered rightly."""
    answers: dict[str, str] = {}
    read = Read(page.text)
    right = right_answers(study)
    for name, one in read.fields.items():
        if not name.startswith("answer-"):
            continue
        bare = name.removeprefix("answer-")
        # Of a ranking, every entry gets a place of its own.
        group = bare.partition(".")[0]
        before = sum(other.startswith(f"{group}.") for other in answers)
        chosen = one.options[before] if one.kind == "select" else (one.options or [""])[0]
        usual = {"radio": chosen, "select": chosen, "textarea": "Words of mine", "text": "30"}
        answers[bare] = right.get((read.fields["step"].value.rpartition("/")[0], bare)) or (
            right.get((read.fields["step"].value, bare)) or usual[one.kind]
        )
    return answers


def right_answers(study: Study) -> dict[tuple[str, str], str]:
    """By step and question, the right answers to the study's checks."""
    right = {}
    for block in study.blocks:
        if block.own_check:
            right[block.id, "question"] = str(block.own_check.right_option)
        if isinstance(block, Tutorial) and block.check:
            for number, one in enumerate(block.check.questions, start=1):
                right[f"{block.id}/check", f"question-{number}"] = str(one.right_option)
    return right


def walk(visitor: Visitor, study: Study, until: str = "") -> httpx.Response:
    """The last page that a careful rater sees, or the first whose step begins so."""
    page = visitor.get("/")
    for _ in range(200):
        step = Read(page.text).fields.get("step")
        if step is None or (until and step.value.startswith(until)):
            return page
        page = visitor.send(page, **filled(study, page))
    raise AssertionError("the study has no end")
