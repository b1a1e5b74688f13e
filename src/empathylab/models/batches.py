"""Batch APIs: many requests handed over at once, answered within a day at a lower price."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from empathylab.errors import InputError, ModelError, ModelUnavailable, RequestRejected
from empathylab.models.apis import AnthropicMessages, OpenAiChat
from empathylab.models.endpoint import EndpointModel
from empathylab.models.interface import Completion, Message, Model, Parameters

BATCH_PRICE = 0.5
"""What a request costs in a batch, of its price otherwise."""
MOST_REQUESTS = 10_000

_SECONDS = 120.0


class BatchRequest(NamedTuple):
    """One request of a batch."""

    messages: tuple[Message, ...]
    parameters: Parameters


class Refused(NamedTuple):
    """A request that was not answered."""

    error: ModelError
    content: bytes
    """What the provider said."""


Results = dict[str, Completion | Refused]


class BatchApi(Protocol):
    """Handing over requests, and asking what has become of them."""

    async def submit(self, token: str, requests: Mapping[str, BatchRequest]) -> str:
        """The provider's id of a new batch; requests by an id of letters and digits."""

    async def find(self, token: str) -> str | None:
        """The provider's id of the batch submitted under that token, where it can be found."""

    async def ended(self, batch: str) -> bool:
        """Whether all that will be answered is answered."""

    async def results(self, batch: str, requests: Mapping[str, BatchRequest]) -> Results:
        """What became of each request, by its id."""


def batch_api(model: Model) -> BatchApi:
    """The batch API of the model's provider."""
    if isinstance(model, EndpointModel) and isinstance(model.api, OpenAiChat):
        return OpenAiBatches(model)
    if isinstance(model, EndpointModel) and isinstance(model.api, AnthropicMessages):
        return AnthropicBatches(model)
    raise InputError(
        "this model has no batch API that EmpathyLab knows",
        where="--batch",
        got=model.name,
        remedy="Leave out --batch, or use a model of openai/… or anthropic/….",
    )


async def _send(
    model: EndpointModel, path: str, body: bytes, kind: str = "application/json"
) -> dict[str, Any]:
    address = f"{model.base_url}/{path}"
    status, headers, content = await model.post(address, body, timeout=_SECONDS, kind=kind)
    return _checked(model, status, headers, content)


async def _fetch(model: EndpointModel, path: str) -> dict[str, Any]:
    answer = await model.get(f"{model.base_url}/{path}", timeout=_SECONDS)
    return _checked(model, *answer)


async def _lines(model: EndpointModel, path: str) -> Iterator[dict[str, Any]]:
    status, headers, content = await model.get(f"{model.base_url}/{path}", timeout=_SECONDS)
    if status != 200:
        raise model.failure(status, content, headers.get("retry-after"))
    return (json.loads(line) for line in content.splitlines() if line.strip())


def _checked(
    model: EndpointModel, status: int, headers: Mapping[str, str], content: bytes
) -> dict[str, Any]:
    if status not in (200, 201):
        raise model.failure(status, content, headers.get("retry-after"))
    try:
        body = json.loads(content)
    except ValueError as error:
        raise ModelUnavailable("the batch's state is unreadable", "broken answer") from error
    if not isinstance(body, dict):
        raise ModelUnavailable("the batch's state is unreadable", "broken answer")
    return body


def _answered(
    model: EndpointModel, request: BatchRequest, status: int, body: dict[str, Any]
) -> Completion | Refused:
    content = json.dumps(body).encode()
    if status == 200:
        try:
            return model.read_body(body, request.parameters)
        except ModelUnavailable as error:
            return Refused(error, content)
    failure = model.failure(status, content, None)
    if isinstance(failure, ModelError):
        return Refused(failure, content)
    raise failure


@dataclass(frozen=True, slots=True)
class OpenAiBatches:
    """A file of requests, a batch, and a file of answers."""

    model: EndpointModel

    async def submit(self, token: str, requests: Mapping[str, BatchRequest]) -> str:
        lines = [
            json.dumps(
                {
                    "custom_id": name,
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": self.model.body(*request),
                }
            )
            for name, request in requests.items()
        ]
        content, kind = _form("\n".join(lines).encode() + b"\n")
        file = await _send(self.model, "files", content, kind)
        order = {
            "input_file_id": file["id"],
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {"empathylab": token},
        }
        return str((await _send(self.model, "batches", json.dumps(order).encode()))["id"])

    async def find(self, token: str) -> str | None:
        for batch in (await _fetch(self.model, "batches?limit=100")).get("data") or ():
            if (batch.get("metadata") or {}).get("empathylab") == token:
                return str(batch["id"])
        return None

    async def ended(self, batch: str) -> bool:
        status = (await _fetch(self.model, f"batches/{batch}")).get("status")
        return status in ("completed", "failed", "expired", "cancelled")

    async def results(self, batch: str, requests: Mapping[str, BatchRequest]) -> Results:
        state = await _fetch(self.model, f"batches/{batch}")
        results: Results = {}
        for name in ("output_file_id", "error_file_id"):
            if not state.get(name):
                continue
            for line in await _lines(self.model, f"files/{state[name]}/content"):
                if line.get("custom_id") in requests:
                    results[line["custom_id"]] = self._result(requests[line["custom_id"]], line)
        message = ((state.get("errors") or {}).get("data") or [{}])[0].get("message")
        problem = f"the batch {state.get('status')}" + (f": {message}" if message else "")
        for name in requests:
            results.setdefault(name, Refused(ModelUnavailable(problem, "batch"), problem.encode()))
        return results

    def _result(self, request: BatchRequest, line: dict[str, Any]) -> Completion | Refused:
        response = line.get("response") or {}
        if response.get("body") is not None:
            status = int(response.get("status_code") or 200)
            return _answered(self.model, request, status, response["body"])
        problem = json.dumps(line.get("error"))
        return Refused(ModelUnavailable(f"the batch says {problem}", "batch"), problem.encode())


def _form(content: bytes) -> tuple[bytes, str]:
    """A form with the file of requests, and its kind."""
    edge = f"empathylab-{secrets.token_hex(12)}"
    head = (
        f'--{edge}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="requests.jsonl"\r\n'
        "Content-Type: application/jsonl\r\n\r\n"
    )
    body = head.encode() + content + f"\r\n--{edge}--\r\n".encode()
    return body, f"multipart/form-data; boundary={edge}"


@dataclass(frozen=True, slots=True)
class AnthropicBatches:
    """Message Batches. They carry no note of ours, so one that was sent in the very moment of a
    kill is not found again and its requests are asked again."""

    model: EndpointModel

    async def submit(self, token: str, requests: Mapping[str, BatchRequest]) -> str:
        order = {
            "requests": [
                {"custom_id": name, "params": self.model.body(*request)}
                for name, request in requests.items()
            ]
        }
        sent = await _send(self.model, "messages/batches", json.dumps(order).encode())
        return str(sent["id"])

    async def find(self, token: str) -> str | None:
        return None

    async def ended(self, batch: str) -> bool:
        state = await _fetch(self.model, f"messages/batches/{batch}")
        return state.get("processing_status") == "ended"

    async def results(self, batch: str, requests: Mapping[str, BatchRequest]) -> Results:
        results: Results = {}
        for line in await _lines(self.model, f"messages/batches/{batch}/results"):
            request = requests.get(line.get("custom_id", ""))
            if request is not None:
                results[line["custom_id"]] = self._result(request, line.get("result") or {})
        problem = "the batch contains no result"
        for name in requests:
            results.setdefault(name, Refused(ModelUnavailable(problem, "batch"), problem.encode()))
        return results

    def _result(self, request: BatchRequest, result: dict[str, Any]) -> Completion | Refused:
        if result.get("type") == "succeeded":
            return _answered(self.model, request, 200, result["message"])
        error = (result.get("error") or {}).get("error") or result.get("error") or {}
        problem = f"{result.get('type')}: {error.get('message') or error.get('type') or ''}".strip()
        content = json.dumps({"error": error}).encode()
        if error.get("type") == "invalid_request_error":
            return Refused(RequestRejected(problem), content)
        return Refused(ModelUnavailable(problem, "batch"), content)
