"""Any endpoint that answers chats over HTTP as a model."""

from __future__ import annotations

import asyncio
import dataclasses
import email.utils
import json
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from empathylab.errors import (
    EndpointUnreachable,
    ModelSetup,
    ModelUnavailable,
    RateLimited,
    RequestRejected,
)
from empathylab.models.adjustments import Adjustments
from empathylab.models.apis import ChatApi, OpenAiChat
from empathylab.models.families import UNKNOWN_FAMILY, family_of
from empathylab.models.http import Answer, BrokenConnection, CannotConnect, HttpClient
from empathylab.models.interface import UNLIMITED_ANSWER, Completion, Message, Parameters
from empathylab.models.request_options import RequestOptions

_MOST_ADJUSTMENTS = 8


class EndpointModel:
    """A model behind an HTTP address, OpenAI-compatible unless another API is given."""

    def __init__(
        self,
        name: str,
        *,
        model: str,
        base_url: str,
        key: str | None = None,
        key_env: str | None = None,
        concurrency: int = 16,
        api: ChatApi | None = None,
        options: RequestOptions | None = None,
    ) -> None:
        self.name = name
        self.model = model
        self.base_url = base_url.rstrip("/")
        self.concurrency = concurrency
        self.api: ChatApi = api or OpenAiChat()
        self.options = options or RequestOptions()
        self.adjustments = Adjustments()
        self._key = key
        self._key_env = key_env
        self._family = family_of(model)
        self._altered = self._family != UNKNOWN_FAMILY or self.options != RequestOptions()
        self._omitted = self._names_of(self._family.omit | self.options.omit)
        self._client: HttpClient | None = None

    @property
    def identity(self) -> str:
        described = str(self.options)
        return f"{self.name} at {self.base_url}" + (f" with {described}" if described else "")

    def __repr__(self) -> str:
        return f"EndpointModel({self.name!r}, base_url={self.base_url!r})"

    @property
    def adjusted(self) -> str:
        return str(self.adjustments)

    def output_limit(self, parameters: Parameters) -> int:
        return self._limit(parameters) or UNLIMITED_ANSWER

    async def start(self) -> None:
        if self._client is not None:
            return
        address = urlsplit(self.base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise EndpointUnreachable(
                "the model's address is not a URL",
                where=self.name,
                got=self.base_url,
                remedy="Give --base-url as http://HOST:PORT/v1.",
            )
        try:
            self._client = HttpClient(address, self.api.headers(self._key))
        except ValueError as error:
            raise ModelSetup(
                "requests cannot be sent",
                where=self.name,
                got=str(error),
                remedy="Check the key, and HTTP_PROXY and HTTPS_PROXY.",
            ) from error

    async def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
            await asyncio.sleep(0)  # connections end in the next round of the event loop

    async def complete(
        self, messages: tuple[Message, ...], parameters: Parameters, *, timeout: float
    ) -> Completion:
        payload = self.api.payload(self.model, messages)
        settings = self.settings(parameters)
        address = self.api.address(self.base_url, self.model)
        for attempt in range(_MOST_ADJUSTMENTS):
            sent = self.adjustments.apply(settings)
            body = json.dumps(self.api.with_settings(payload, sent)).encode()
            status, headers, content = await self.post(address, body, timeout=timeout)
            if status == 200:
                return self._noted(self._read(content, headers), parameters, sent)
            last = attempt + 1 == _MOST_ADJUSTMENTS
            if last or status not in (400, 422) or not self._adjusted(content, settings, sent):
                raise self.failure(status, content, headers.get("retry-after"))
        raise AssertionError("the last attempt returns or raises")

    def adjusts(self, content: bytes, parameters: Parameters, since: str) -> bool:
        """Whether a request that was refused with that content is sent otherwise from now on.

        `since` is what `adjusted` was when the request was sent.
        """
        if self.adjusted != since:
            return True
        return self.adjustments.learn(content, self.adjustments.apply(self.settings(parameters)))

    def body(self, messages: tuple[Message, ...], parameters: Parameters) -> dict[str, Any]:
        """The request as it is sent now."""
        payload = self.api.payload(self.model, messages)
        return self.api.with_settings(payload, self.adjustments.apply(self.settings(parameters)))

    def read_body(self, body: dict[str, Any], parameters: Parameters) -> Completion:
        """The answer in a body that came by another way than `complete`."""
        sent = self.adjustments.apply(self.settings(parameters))
        content = json.dumps(body).encode()
        return self._noted(self._read(content, {}), parameters, sent)

    def _adjusted(self, content: bytes, settings: dict[str, Any], sent: dict[str, Any]) -> bool:
        """Whether the request would now be sent otherwise than it was."""
        # Another request may have been refused for the same reason in the meantime.
        if self.adjustments.apply(settings) != sent:
            return True
        return self.adjustments.learn(content, sent)

    def _noted(
        self, completion: Completion, parameters: Parameters, sent: dict[str, Any]
    ) -> Completion:
        """The answer with what was really sent, where that is not what the protocol asked for."""
        if not (self._altered or self.adjustments):
            return completion
        plain = self.api.settings(parameters, parameters.max_tokens, None, UNKNOWN_FAMILY)
        return completion if sent == plain else dataclasses.replace(completion, sent=sent)

    def settings(self, parameters: Parameters) -> dict[str, Any]:
        """The settings of a request, with the user's own, before any is refused."""
        options = self.options
        effort = options.reasoning_effort
        settings = self.api.settings(parameters, self._limit(parameters), effort, self._family)
        if not self._altered:
            return settings
        kept = {name: value for name, value in settings.items() if name not in self._omitted}
        return kept | options.extra

    def _limit(self, parameters: Parameters) -> int | None:
        """The most tokens of an answer, with room for reasoning where the family needs it."""
        if self.options.max_tokens is not None:
            return self.options.max_tokens
        if parameters.max_tokens is None:
            return None
        asked = self.options.reasoning_effort not in (None, "none")
        room = self._family.room or (self._family.room_if_asked if asked else 0)
        return parameters.max_tokens + room

    def _names_of(self, omitted: frozenset[str]) -> set[str]:
        return {field for name in omitted for field in self.api.fields.get(name, (name,))}

    async def post(
        self, address: str, body: bytes, *, timeout: float, kind: str = "application/json"
    ) -> Answer:
        """The answer to a body of that kind, sent to the address."""
        return await self._exchange("POST", address, body, kind, timeout)

    async def get(self, address: str, *, timeout: float) -> Answer:
        """What the address holds."""
        return await self._exchange("GET", address, b"", "", timeout)

    async def _exchange(
        self, method: str, address: str, body: bytes, kind: str, timeout: float
    ) -> Answer:
        await self.start()
        assert self._client is not None  # noqa: S101 - start() has set it
        try:
            async with asyncio.timeout(timeout):
                return await self._client.request(method, _path(address), body, kind)
        except TimeoutError as error:
            raise ModelUnavailable(f"no answer within {timeout:g} s", "time-out") from error
        except CannotConnect as error:
            raise ModelUnavailable(self._without_key(str(error)), "unreachable") from error
        except (BrokenConnection, OSError) as error:
            raise ModelUnavailable(
                self._without_key(f"connection broke: {error}"), "broken connection"
            ) from error

    async def list_models(self, *, timeout: float) -> list[str]:
        """The ids that the endpoint says it serves."""
        status, headers, content = await self.get(f"{self.base_url}/models", timeout=timeout)
        if status != 200:
            raise self.failure(status, content, headers.get("retry-after"))
        try:
            body = json.loads(content)
            listed = body["data"] if "data" in body else body["models"]
            return [str(entry.get("id") or entry["name"]) for entry in listed]
        except (ValueError, TypeError, KeyError) as error:
            raise ModelUnavailable("the list of models is unreadable", "broken answer") from error

    def failure(self, status: int, content: bytes, retry_after: str | None) -> Exception:
        """The error that an answer other than 200 amounts to."""
        problem = self._without_key(_error_message(content))
        described = f"HTTP {status}: {problem}" if problem else f"HTTP {status}"
        if status in (401, 403):
            remedy = (
                f"Check the key in {self._key_env}."
                if self._key_env
                else "Name the variable that holds the key with --api-key-env."
            )
            return ModelSetup(
                f"the endpoint refuses access ({described})", where=self.name, remedy=remedy
            )
        if status == 404:
            return ModelSetup(
                f"the endpoint does not have this model or address ({described})",
                where=self.name,
                got=f"{self.model} at {self.base_url}",
                remedy="Check the model's name and --base-url; of a judge, --judge-base-url."
                if urlsplit(self.base_url).path
                else f"Most servers need --base-url {self.base_url}/v1.",
            )
        if 300 <= status < 400:
            return ModelSetup(
                f"the endpoint redirects to another address ({described})",
                where=self.name,
                got=self.base_url,
                remedy="Give the final address with --base-url.",
            )
        if status == 429:
            return RateLimited(described, seconds_to_wait(retry_after))
        if status in (408, 409, 425) or status >= 500:
            return ModelUnavailable(described, f"HTTP {status}", seconds_to_wait(retry_after))
        return RequestRejected(described)

    def _read(self, content: bytes, headers: Mapping[str, str]) -> Completion:
        try:
            streamed = _is_stream(content, headers)
            body = self.api.streamed(_events(content)) if streamed else json.loads(content)
            return self.api.read(body)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            begins = self._without_key(" ".join(content[:80].decode("utf-8", "replace").split()))
            raise ModelUnavailable(
                f"the answer is not a chat completion; it begins with {begins!r}", "broken answer"
            ) from error

    def _without_key(self, text: str) -> str:
        """Some endpoints echo the key they were sent; it must reach no log and no lab."""
        if self._key:
            text = text.replace(self._key, "[key]")
        # OpenAI-like masked echoes still show the key's ends.
        return re.sub(r"\b(sk|gsk|key)-[\w*.…-]{8,}", "[key]", text)


def _error_message(content: bytes) -> str:
    text = content.decode("utf-8", "replace").strip()
    try:
        body = json.loads(text)
    except ValueError:
        return " ".join(text.split())[:200]
    if isinstance(body, list) and body:  # Google wraps its errors in a list
        body = body[0]
    error = body.get("error", body) if isinstance(body, dict) else body
    message = error.get("message") or error.get("detail") if isinstance(error, dict) else error
    return " ".join(str(message or text).split())[:300]


def seconds_to_wait(retry_after: str | None) -> float | None:
    """Retry-After as seconds from now: a number, or an HTTP date."""
    if not retry_after:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        moment = email.utils.parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - time.time())


def _path(address: str) -> str:
    """The part of an address that the request line names."""
    parts = urlsplit(address)
    path = quote(parts.path or "/", safe="/:%@!$&'()*+,;=~-._")
    return f"{path}?{parts.query}" if parts.query else path


def _is_stream(content: bytes, headers: Mapping[str, str]) -> bool:
    """Whether an endpoint answered with a stream of events, as some always do."""
    declared = headers.get("content-type", "").startswith("text/event-stream")
    return declared or content.lstrip().startswith((b"data:", b"event:"))


def _events(content: bytes) -> list[dict[str, Any]]:
    """The JSON of each event of a stream."""
    lines = (line[5:].strip() for line in content.splitlines() if line.startswith(b"data:"))
    return [json.loads(line) for line in lines if line and line != b"[DONE]"]
