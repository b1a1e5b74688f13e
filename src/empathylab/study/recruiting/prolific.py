"""Prolific's API, as far as a study needs it: submissions, messages, approval, codes, groups.

Addresses and fields after docs.prolific.com (API reference: "List study submissions", "Send a
message", "Approve or reject a submission", "Update study", "Participant groups"). The token comes
from the environment, goes to Prolific's address alone, and is in no message, log or file.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

import aiohttp

from empathylab.errors import InputError, UserError
from empathylab.models.endpoint import seconds_to_wait
from empathylab.models.http import is_this_machine

TOKEN = "PROLIFIC_API_TOKEN"  # noqa: S105 - the name of the variable
BASE_URL = "https://api.prolific.com/api/v1"
BASE_URL_VARIABLE = "PROLIFIC_BASE_URL"

_PAGE = 200
_MOST_PAGES = 500
_MOST_BYTES = 32 * 1024 * 1024
_TOKEN = re.compile(r"[!-~]{8,1000}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_NOBODY = 0
"""In place of a status: no answer came."""
_PASSING = frozenset({_NOBODY, 408, 425, 429, 500, 502, 503, 504})
_WHERE = "Prolific"


@dataclass(frozen=True, slots=True)
class Submission:
    """One person's try at a study, as Prolific sees it."""

    participant: str
    """PROLIFIC_PID of the link; empty where Prolific no longer says who it was."""
    status: str
    """As it was written."""
    id: str = ""
    """SESSION_ID of the link."""
    started_at: str = ""
    """As it was written; these sort by time."""
    code: str = ""
    """The completion code that the person gave; empty where none is known."""


class Prolific:
    """The API under one researcher's token."""

    def __init__(
        self,
        token: str,
        *,
        base_url: str = BASE_URL,
        attempts: int = 4,
        timeout: float = 30.0,
        pause: float = 1.0,
        patience: float = 60.0,
    ) -> None:
        """`pause` is the first wait after a failure, `patience` the longest that is granted."""
        self._token = _checked_token(token)
        self.base_url = _checked_address(base_url)
        self._attempts = attempts
        self._timeout = timeout
        self._pause = pause
        self._patience = patience

    def __repr__(self) -> str:
        return f"Prolific(base_url={self.base_url!r})"

    @classmethod
    def from_environment(cls, **options: Any) -> Prolific:
        """The API under the token in PROLIFIC_API_TOKEN."""
        if not configured():
            raise InputError(
                "there is no token for Prolific's API",
                where=TOKEN,
                remedy=f"Set {TOKEN} to a token from Prolific's settings, or pass --csv FILE.",
            )
        address = os.environ.get(BASE_URL_VARIABLE) or BASE_URL
        return cls(os.environ[TOKEN], **{"base_url": address, **options})

    async def submissions(self, study: str) -> list[Submission] | None:
        """All submissions of Prolific's study of that id, each once; None where it knows no such.

        The oldest come first.
        """
        if not _ID.fullmatch(study):
            return None  # such an id could lead to another address
        path = f"studies/{study}/submissions/"
        submissions: dict[str, Submission] = {}
        count: int | None = None
        async with self._session() as session:
            for page in range(_MOST_PAGES):
                query = {
                    "limit": str(_PAGE),
                    "offset": str(page * _PAGE),
                    # New ones come last, so that none is missed between two pages.
                    "ordering": "started_at",
                }
                answer = await self._ask(session, "GET", path, query=query)
                if answer is None:
                    return None
                before = len(submissions)
                rows, count, more = _read_page(answer)
                submissions |= {
                    row.id or f"{row.participant} {row.started_at}": row for row in rows
                }
                if not more or len(submissions) == before:
                    break
        if count is not None and len(submissions) < count:
            raise _broken(f"{len(submissions)} of {count} submissions")
        return list(submissions.values())

    async def send_message(self, study: str, participant: str, text: str) -> None:
        """Sends a participant of the study a message, at most once."""
        body = {"recipient_id": participant, "body": text, "study_id": study}
        about = ("participant", participant)
        # Whether it went out before a failure is not known, and nobody shall get it twice.
        await self._change("POST", "messages/", body, about, repeatable=False)

    async def approve(self, submission: str) -> None:
        """Approves a submission, so that its participant is paid."""
        path = f"submissions/{_checked_id('submission', submission)}/transition/"
        await self._change("POST", path, {"action": "APPROVE"}, ("submission", submission))

    async def set_completion_codes(self, study: str, codes: Sequence[Mapping[str, Any]]) -> None:
        """Replaces the completion codes of a study that is not published yet."""
        path = f"studies/{_checked_id('study', study)}/"
        await self._change("PATCH", path, {"completion_codes": list(codes)}, ("study", study))

    async def create_group(self, name: str, workspace: str) -> str:
        """The id of a new participant group in a workspace."""
        body = {"name": name, "workspace_id": workspace}
        about = ("workspace", workspace)
        # A second try could make a second group.
        created = await self._change("POST", "participant-groups/", body, about, repeatable=False)
        group = created.get("id") if isinstance(created, dict) else None
        if not isinstance(group, str) or not _ID.fullmatch(group):
            raise _broken("a group without an id")
        return group

    async def add_to_group(self, group: str, participants: Sequence[str]) -> None:
        """Adds participants to a group; who is in it already stays."""
        path = f"participant-groups/{_checked_id('participant group', group)}/participants/"
        for first in range(0, len(participants), _PAGE):
            body = {"participant_ids": list(participants[first : first + _PAGE])}
            await self._change("POST", path, body, ("participant group", group))

    async def _change(
        self,
        method: Literal["PATCH", "POST"],
        path: str,
        body: Mapping[str, Any],
        about: tuple[str, str],
        *,
        repeatable: bool = True,
    ) -> Any:
        """What is answered to a change; raises where `about` (what it is, its id) is unknown."""
        async with self._session() as session:
            answer = await self._ask(session, method, path, body=body, repeatable=repeatable)
        if answer is None:
            raise _unknown(*about)
        return answer

    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            headers={"Authorization": f"Token {self._token}"},
            timeout=aiohttp.ClientTimeout(total=self._timeout),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def _ask(
        self,
        session: aiohttp.ClientSession,
        method: Literal["GET", "PATCH", "POST"],
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        repeatable: bool = True,
    ) -> Any:
        """What is answered, tried again where the failure may pass; None: there is no such thing.

        What is not `repeatable` is tried again only where it was certainly not done.
        """
        passing = _PASSING if repeatable else frozenset({429})
        trouble = ""
        for attempt in range(self._attempts):
            status, content, retry_after = await self._once(
                session, method, f"{self.base_url}/{path}", query, body
            )
            if 200 <= status < 300:
                return _decoded(content)
            if status == 404:
                return None
            trouble = f"HTTP {status}" if status else content.decode()
            if status not in passing:
                raise _refusal(status, trouble)
            wait = self._pause * 2**attempt if retry_after is None else retry_after
            if wait > self._patience:
                trouble += f", and asks to wait {wait:.0f} s"
                break
            if attempt + 1 < self._attempts:
                await asyncio.sleep(wait)
        raise _unavailable(trouble)

    async def _once(
        self,
        session: aiohttp.ClientSession,
        method: str,
        address: str,
        query: Mapping[str, str] | None,
        body: Mapping[str, Any] | None,
    ) -> tuple[int, bytes, float | None]:
        """Status, content and wait; the status is 0, and the content why, where nobody answered."""
        try:
            async with session.request(
                method, address, params=query, json=body, allow_redirects=False
            ) as reply:
                content = await reply.content.read(_MOST_BYTES + 1)
                while len(content) <= _MOST_BYTES and (more := await reply.content.read(65536)):
                    content += more
                if len(content) > _MOST_BYTES:
                    raise _broken("more than 32 MB")
                return reply.status, content, seconds_to_wait(reply.headers.get("Retry-After"))
        except TimeoutError:
            return _NOBODY, f"no answer within {self._timeout:g} s".encode(), None
        except (aiohttp.ClientError, OSError) as error:
            # What the library says of an error may quote the request.
            return _NOBODY, f"no connection: {type(error).__name__}".encode(), None


def configured() -> bool:
    """Whether the environment holds a token."""
    return bool(os.environ.get(TOKEN, "").strip())


def _checked_id(kind: str, given: str) -> str:
    """The id; another text could lead to another address."""
    if not _ID.fullmatch(given):
        raise _unknown(kind, given)
    return given


def _checked_token(token: str) -> str:
    plain = token.strip()
    if not _TOKEN.fullmatch(plain):
        raise InputError(
            "this is not a token for Prolific's API",
            where=TOKEN,
            remedy="Copy the whole token from Prolific's settings, without quotes or line breaks.",
        )
    return plain


def _checked_address(address: str) -> str:
    parts = urlsplit(address)
    plain = parts.scheme == "http" and is_this_machine(parts.hostname or "")
    if not (parts.hostname and (parts.scheme == "https" or plain)) or parts.username:
        raise InputError(
            "the address of Prolific's API must begin with https://",
            where=BASE_URL_VARIABLE,
            got=address,
            remedy=f"Unset it; the usual one is {BASE_URL}.",
        )
    return address.rstrip("/")


def _decoded(content: bytes) -> Any:
    if not content.strip():
        return {}
    try:
        read = json.loads(content)
    except (ValueError, RecursionError):
        raise _broken("no JSON") from None
    if read is None:
        raise _broken("nothing")
    return read


def _read_page(answer: Any) -> tuple[list[Submission], int | None, bool]:
    """The page's submissions, how many there are in all if that is said, whether more follow."""
    rows = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _broken("no list of submissions")
    read = [_submission(row) for row in rows]
    meta, links = answer.get("meta"), answer.get("_links")
    count = meta.get("count") if isinstance(meta, dict) else None
    following = links.get("next") if isinstance(links, dict) else None
    address = following.get("href") if isinstance(following, dict) else following
    # Where nothing is said of a next page, a full one may have a successor.
    more = bool(address) if isinstance(links, dict) else len(rows) >= _PAGE
    return read, count if isinstance(count, int) else None, more


def _submission(row: Mapping[str, Any]) -> Submission:
    participant, status = row.get("participant_id", False), row.get("status")
    if not isinstance(participant, str | None) or not isinstance(status, str):
        raise _broken("a submission without a participant or a status")
    number, started_at = str(row.get("id") or ""), str(row.get("started_at") or "")
    code = str(row.get("study_code") or row.get("entered_code") or "")
    return Submission(participant or "", status, number, started_at, code)


def _refusal(status: int, trouble: str) -> UserError:
    if status in (401, 403):
        return InputError(
            f"the API refuses the token ({trouble})",
            where=_WHERE,
            remedy=f"Create a new token in Prolific's settings and set {TOKEN}.",
        )
    if status == _NOBODY:
        return _unavailable(trouble)
    return UserError(
        f"the API did not accept the request ({trouble})",
        where=_WHERE,
        remedy="See the study's page on Prolific.",
    )


def _unavailable(trouble: str) -> UserError:
    return UserError(
        f"the API does not respond as expected ({trouble})",
        where=_WHERE,
        remedy="Nothing was changed here; try again later, or pass --csv FILE.",
    )


def _unknown(kind: str, given: str) -> InputError:
    return InputError(
        f"there is no such {kind} under this token",
        where=_WHERE,
        got=given,
        remedy="Check the id on the study's page on Prolific.",
    )


def _broken(got: str) -> UserError:
    return UserError(
        "the API's answer cannot be read",
        where=_WHERE,
        got=got,
        remedy="Nothing was changed here; try again later, or pass --csv FILE.",
    )
