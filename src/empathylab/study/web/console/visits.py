"""One request to the console, once it has come through the gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from empathylab.errors import InputError
from empathylab.store.studies.researchers import ROLES, Role
from empathylab.study.blocks.forms import clean_text
from empathylab.study.web.console.context import Console
from empathylab.study.web.console.flashes import SECONDS, Flash
from empathylab.study.web.console.sign_in.accounts import Researcher
from empathylab.study.web.console.sign_in.sessions import ConsoleSession, begin, form_token
from empathylab.study.web.console.texts import console_language, translated

Least = Role | Literal["anyone"]
PASSWORDS = frozenset({"password", "again", "old"})
"""The fields that hold one."""
_NOT_KEPT = PASSWORDS | {"form", "code"}


@dataclass
class Visit:
    """One request that has come through the gate."""

    console: Console
    request: Request
    session: ConsoleSession
    researcher: Researcher | None
    form: Mapping[str, str] = field(default_factory=dict)
    renewed: ConsoleSession | None = None
    """What the cookie is to hold from now on, where that changes."""
    flash: Flash | None = None
    """What became of the form that was sent before this page was asked for."""
    next_flash: Flash | None = None
    """What the next page is to show once."""

    @property
    def who(self) -> str:
        """The name that goes into the audit log."""
        return "" if self.researcher is None else self.researcher.name

    @property
    def root(self) -> str:
        """The path under which the app is served."""
        return str(self.request.scope.get("root_path", ""))

    @property
    def here(self) -> str:
        """The address of the page below the root, with its query."""
        query = self.request.url.query
        path = self.request.url.path.removeprefix(self.root)
        return f"{path}?{query}" if query else path

    @property
    def token(self) -> str:
        """What the page's forms carry."""
        return form_token(self.renewed or self.session, self.console.secret)

    @property
    def address(self) -> str:
        """The browser's address; behind a trusted proxy the one that the proxy names."""
        return self.request.client.host if self.request.client else ""

    @property
    def language(self) -> str:
        """The language of the console's pages."""
        return console_language(self.request)

    def translated(self, words: str, **values: object) -> str:
        """The words in the language of the console's pages."""
        return translated(self.language, words, **values)

    def may(self, least: Least) -> bool:
        """Whether the researcher's role is enough."""
        if least == "anyone":
            return True
        return self.researcher is not None and ROLES.index(self.researcher.role) >= ROLES.index(
            least
        )

    def asked(self, name: str) -> str:
        """A parameter of the address, empty where it is missing."""
        return clean_text(self.request.query_params.get(name, "")[:200])

    def asked_number(self, name: str) -> int:
        """A whole number of the address; 0 where it is none."""
        asked = self.asked(name)
        return int(asked) if asked.isascii() and asked.isdecimal() and len(asked) <= 7 else 0

    @property
    def error(self) -> str:
        """Why the form on this page was refused; empty where it was not."""
        return "" if self.flash is None else self.flash.error

    def typed(self, name: str, act: str | None = None) -> str:
        """What was typed into a field of the refused form; of several forms, of that one."""
        fields = {} if self.flash is None else self.flash.fields
        return fields.get(name, "") if act in (None, fields.get("act")) else ""

    def refuse(self, page: str, error: str) -> Response:
        """The way back to the page of a form, which will say why and still hold what was typed."""
        kept = {name: text for name, text in self.form.items() if name not in _NOT_KEPT}
        self.next_flash = Flash((self.renewed or self.session).nonce, page, error, kept)
        return self.to(page)

    def show_once(self, page: str, **results: str) -> Response:
        """The way to a page that will show these results of the form, once."""
        nonce = (self.renewed or self.session).nonce
        self.next_flash = Flash(nonce, page, "", results=results)
        return self.to(page)

    def result(self, name: str) -> str:
        """A result of the form that led to this page; empty where there is none."""
        return "" if self.flash is None else self.flash.results.get(name, "")

    def is_recent(self, name: str) -> bool:
        """Whether a result is a moment that has just been; a kept cookie shows nothing later."""
        at = self.result(name)
        long = timedelta(seconds=SECONDS)
        return bool(at) and self.console.clock() - datetime.fromisoformat(at) < long

    def reason_for_record(self, problem: str, remedy: str) -> str:
        """The reason that the form gives, for the audit log; refuses one that says too little."""
        reason = clean_text(self.form.get("reason", ""))
        if not 10 <= len(reason) <= 500:
            raise InputError(problem, remedy=remedy)
        return reason

    def to(self, path: str) -> Response:
        """The way to another page of the console."""
        return RedirectResponse(f"{self.root}{path}", status_code=303)

    def sign_in(self, researcher: Researcher) -> None:
        """Begins a session of the researcher in this browser."""
        self.researcher = researcher
        self.renewed = begin(researcher.id, self.console.clock())

    def ask_for_code(self, researcher: Researcher) -> None:
        """Begins a session of nobody that may give the researcher's second factor."""
        self.renewed = begin(0, self.console.clock(), pending=researcher.id)

    def sign_out(self) -> None:
        """Begins a session of nobody."""
        self.researcher = None
        self.renewed = begin(0, self.console.clock())
