"""A page as someone without scripts sees it: its text, its form, and where its links lead."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Asked:
    """A question of a form."""

    name: str
    kind: str
    """`choice`, `tick`, `rank`, `line`, `number` or `paragraph`."""
    label: str = ""
    options: list[tuple[str, str]] = field(default_factory=list)
    """What can be chosen: what is sent, and what is read."""
    value: str = ""
    required: bool = True
    group: str = ""
    """The question that it is a part of, where an answer has several."""
    bounds: tuple[int, ...] | None = None
    """The least, the most and the step of a slider."""


class ReadPage(HTMLParser):
    """What a rater reads off a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.title = ""
        self.words = ""
        """All that the study says in the middle of the page."""
        self.page = ""
        """What kind of page it is."""
        self.action = ""
        self.hidden: dict[str, str] = {}
        self.asked: dict[str, Asked] = {}
        self.least_seconds = 0
        self.hints = 0
        """Explanations of what was answered wrongly before."""
        self.refused = False
        """Whether it says what is wrong with the answers that were sent."""
        self.waiting = False
        """Whether a reply is on its way, and the page is to be asked for again."""
        self.links: list[str] = []
        self._open: list[str] = []
        self._label_of = ""
        self._option_of = ""
        self._hinting = False
        self._group = self._kind = self._select_of = ""
        self._required = False
        self._bounds: tuple[int, ...] | None = None
        self.feed(page)
        self.close()

    @property
    def step(self) -> str:
        """Which page it is; empty where nothing is asked."""
        return self.hidden.get("step", "")

    @property
    def back(self) -> str | None:
        """Where the way back leads, if there is one."""
        return next((link for link in self.links if "/back?" in link), None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in ("input", "meta", "link", "br", "hr"):
            self._open.append(tag)
        self.refused = self.refused or given.get("id") == "errors"
        self.waiting = self.waiting or given.get("id") == "live"
        if tag == "section":
            self._hinting = "again" in given.get("class", "").split()
        elif tag == "div" and self._hinting and "body" in given.get("class", "").split():
            self.hints += 1
        elif tag == "form":
            self.page = given.get("data-page", "")
            self.action = given.get("action", "")
            self.least_seconds = int(given.get("data-least") or 0)
        elif tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "fieldset":
            self._group, self._kind = given["id"], given.get("data-kind", "choice")
            self._required = given.get("aria-required") == "true" or "data-required" in given
            if self._kind == "choice":
                self.asked[given["id"]] = Asked(given["id"], "choice", required=self._required)
        elif tag == "div" and "data-step" in given:
            self._bounds = tuple(int(given[f"data-{name}"]) for name in ("least", "most", "step"))
        elif tag == "legend":
            self._label_of = self._group if self._kind == "choice" else ""
        elif tag == "select":
            kind = "rank" if given["name"].startswith(f"{self._group}.") else "choice"
            asked = self._named(given["name"], kind)
            asked.kind, asked.required = kind, "required" in given or self._required
            self._select_of = given["name"]
        elif tag == "option":
            self.asked[self._select_of].options.append((given["value"], ""))
            if "selected" in given:
                self.asked[self._select_of].value = given["value"]
        elif tag == "label" and given.get("class") == "question":
            self._label_of = given["for"]
            self.asked[self._label_of] = Asked(self._label_of, "line")
        elif tag == "textarea":
            self._field(given, "paragraph")
        elif tag == "input":
            self._input(given)

    def _input(self, given: dict[str, str]) -> None:
        name = given.get("name", "")
        if given["type"] == "hidden":
            self.hidden[name] = given.get("value", "")
        elif given["type"] in ("radio", "checkbox"):
            self._option_of = name
            asked = self._named(name, "choice" if given["type"] == "radio" else "tick")
            asked.options.append((given["value"], ""))
            if "checked" in given:
                asked.value = given["value"]
        else:
            self._field(given, "number" if "inputmode" in given else "line")

    def _named(self, name: str, kind: str) -> Asked:
        return self.asked.setdefault(
            name, Asked(name, kind, required=self._required, group=self._group)
        )

    def _field(self, given: dict[str, str], kind: str) -> None:
        question = self.asked.setdefault(given["name"], Asked(given["name"], kind))
        question.kind, question.value = kind, given.get("value", "")
        question.required = "required" in given
        question.bounds, self._bounds = self._bounds, None

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside == "h1":
            self.title += data
        if self._option_of:
            if inside != "kbd":
                options = self.asked[self._option_of].options
                options[-1] = (options[-1][0], (options[-1][1] + data).strip())
        elif inside == "option":
            options = self.asked[self._select_of].options
            options[-1] = (options[-1][0], data.strip())
        elif self._label_of:
            self.asked[self._label_of].label += data
        elif inside == "textarea" and self.asked:
            self.asked[next(reversed(self.asked))].value += data.removeprefix("\n")
        elif "main" in self._open:
            self.words += f" {data.strip()}"

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self._hinting = False
        if tag == "label":
            self._option_of = ""
        if tag == "fieldset":
            self._group = self._kind = ""
            self._required = False
        if tag in ("legend", "label"):
            self._label_of = ""
        while self._open and self._open.pop() != tag:
            pass


def filled(page: ReadPage, answers: dict[str, str]) -> dict[str, str]:
    """What the browser sends: hidden fields, and the answers that are not empty or text."""
    sent = {
        name: answers.get(name, question.value)
        for name, question in page.asked.items()
        if answers.get(name, question.value) or question.kind not in ("choice", "tick", "rank")
    }
    return page.hidden | sent
