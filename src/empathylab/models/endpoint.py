"""Any OpenAI-compatible endpoint as a model."""

from __future__ import annotations

import asyncio
import email.utils
import json
import re
import time
from typing import TYPE_CHECKING, Any

from empathylab.errors import (
    EndpointUnreachable,
    ModelSetup,
    ModelUnavailable,
    RateLimited,
    RequestRejected,
)
from empathylab.models.interface import (
    Completion,
    Message,
    Parameters,
    TokenAlternatives,
    Usage,
)

# aiohttp is imported where somebody is asked: reports and analyses, who ask nobody, need it not.
if TYPE_CHECKING:
    import aiohttp

_CONNECT_SECONDS = 15.0


class EndpointModel:
    """A model behind `{base_url}/chat/completions`."""

    def __init__(
        self,
        name: str,
        *,
        model: str,
        base_url: str,
        key: str | None = None,
        key_env: str | None = None,
        concurrency: int = 16,
        max_tokens_field: str = "max_tokens",
    ) -> None:
        self.name = name
        self.model = model
        self.base_url = base_url.rstrip("/")
        self.concurrency = concurrency
        self._key = key
        self._key_env = key_env
        self._max_tokens_field = max_tokens_field
        self._session: aiohttp.ClientSession | None = None

    @property
    def identity(self) -> str:
        return f"{self.name} at {self.base_url}"

    def __repr__(self) -> str:
        return f"EndpointModel({self.name!r}, base_url={self.base_url!r})"

    async def start(self) -> None:
        import aiohttp

        if self._session is not None:
            return
        # The runner limits how many requests are under way, so the connector does not.
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            headers=headers | {"Content-Type": "application/json"},
            timeout=aiohttp.ClientTimeout(total=None, connect=_CONNECT_SECONDS),
            # A slow trickle of cookies or redirects to elsewhere has no business here.
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def complete(
        self, messages: tuple[Message, ...], parameters: Parameters, *, timeout: float
    ) -> Completion:
        import aiohttp

        await self.start()
        assert self._session is not None  # noqa: S101 - start() has set it
        body = json.dumps(self._payload(messages, parameters))
        try:
            async with asyncio.timeout(timeout):
                async with self._session.post(
                    f"{self.base_url}/chat/completions", data=body, allow_redirects=False
                ) as reply:
                    content = await reply.read()
                    status, headers = reply.status, reply.headers
        except TimeoutError as error:
            raise ModelUnavailable(f"no answer within {timeout:g} s", "time-out") from error
        except aiohttp.ClientConnectorError as error:
            raise ModelUnavailable(self._without_key(str(error)), "unreachable") from error
        except aiohttp.InvalidURL as error:
            raise EndpointUnreachable(
                "the model's address is not a URL",
                where=self.name,
                got=self.base_url,
                remedy="Give --base-url as http://HOST:PORT/v1.",
            ) from error
        except (aiohttp.ClientError, ConnectionError, ValueError) as error:
            raise ModelUnavailable(
                self._without_key(f"connection broke: {error}"), "broken connection"
            ) from error
        if status != 200:
            raise self._failure(status, content, headers.get("Retry-After"))
        return self._read(content)

    async def list_models(self, *, timeout: float) -> list[str]:
        """The ids that the endpoint says it serves."""
        import aiohttp

        await self.start()
        assert self._session is not None  # noqa: S101 - start() has set it
        try:
            async with asyncio.timeout(timeout):
                async with self._session.get(f"{self.base_url}/models") as reply:
                    content = await reply.read()
                    status, headers = reply.status, reply.headers
        except (TimeoutError, aiohttp.ClientError, ConnectionError, ValueError) as error:
            raise ModelUnavailable(self._without_key(f"{error}"), "unreachable") from error
        if status != 200:
            raise self._failure(status, content, headers.get("Retry-After"))
        try:
            return [str(entry["id"]) for entry in json.loads(content)["data"]]
        except (ValueError, TypeError, KeyError) as error:
            raise ModelUnavailable("the list of models is unreadable", "broken answer") from error

    def _payload(self, messages: tuple[Message, ...], parameters: Parameters) -> dict[str, Any]:
        payload: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": m.role, "content": m.content} for m in messages],
        }
        for name in ("temperature", "top_p", "seed"):
            if (value := getattr(parameters, name)) is not None:
                payload[name] = value
        if parameters.max_tokens is not None:
            payload[self._max_tokens_field] = parameters.max_tokens
        if parameters.top_logprobs is not None:
            payload |= {"logprobs": True, "top_logprobs": parameters.top_logprobs}
        if parameters.schema is not None:
            payload["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": parameters.schema},
            }
        return payload

    def _failure(self, status: int, content: bytes, retry_after: str | None) -> Exception:
        said = self._without_key(_error_message(content))
        described = f"HTTP {status}: {said}" if said else f"HTTP {status}"
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
                f"the endpoint knows no such model or address ({described})",
                where=self.name,
                got=f"{self.model} at {self.base_url}",
                remedy="Check the model's name and --base-url.",
            )
        if 300 <= status < 400:
            return ModelSetup(
                f"the endpoint points elsewhere ({described})",
                where=self.name,
                got=self.base_url,
                remedy="Give the final address with --base-url.",
            )
        if status == 429:
            return RateLimited(described, _seconds(retry_after))
        if status in (408, 409, 425) or status >= 500:
            return ModelUnavailable(described, f"HTTP {status}", _seconds(retry_after))
        return RequestRejected(described)

    def _read(self, content: bytes) -> Completion:
        try:
            body = json.loads(content)
            choice = body["choices"][0]
            message = choice.get("message") or {}
            text = message.get("content")
            usage = body.get("usage") or {}
            return Completion(
                text=_plain_text(text),
                finish_reason=choice.get("finish_reason"),
                usage=Usage(
                    int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
                ),
                logprobs=_logprobs(choice.get("logprobs")),
                reported_model=body.get("model"),
                refusal=message.get("refusal") or None,
            )
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise ModelUnavailable(
                f"the answer is not a chat completion ({error.__class__.__name__})",
                "broken answer",
            ) from error

    def _without_key(self, text: str) -> str:
        """Some endpoints echo the key they were sent; it must reach no log and no lab."""
        if self._key:
            text = text.replace(self._key, "[key]")
        # OpenAI-like masked echoes still show the key's ends.
        return re.sub(r"\b(sk|gsk|key)-[\w*.…-]{8,}", "[key]", text)


def _plain_text(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, list):  # parts, as some endpoints send them
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return str(content)


def _logprobs(block: dict[str, Any] | None) -> tuple[TokenAlternatives, ...] | None:
    if not block or not block.get("content"):
        return None
    return tuple(
        TokenAlternatives(
            token=entry["token"],
            logprob=float(entry["logprob"]),
            top={top["token"]: float(top["logprob"]) for top in entry.get("top_logprobs") or ()},
        )
        for entry in block["content"]
    )


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


def _seconds(retry_after: str | None) -> float | None:
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
