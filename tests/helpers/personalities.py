"""Endpoints of many personalities on loopback, each as its documentation or its users describe it.

`/{personality}/v1/chat/completions` speaks the OpenAI-compatible API; `/anthropic/v1/messages` and
`/gemini/v1beta/models/…` the native ones. What each does is said in its method.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from typing import Any

from aiohttp import web

REPLY = "I am so sorry that happened. It must have hurt. How are you holding up today?"
THOUGHT = "The person is sad. I should be warm and brief."
GERMAN = (
    "Das tut mir sehr leid. Es muss wirklich schwer für dich gewesen sein, und ich verstehe, dass "
    "du traurig bist. Wie geht es dir heute damit?"
)


def error(message: str, status: int = 400, **further: Any) -> web.Response:
    return web.json_response({"error": {"message": message} | further}, status=status)


def chat(
    message: dict[str, Any], finish: str = "stop", completion: int = 20, **usage: Any
) -> web.Response:
    used = {"prompt_tokens": 30, "completion_tokens": completion, **usage}
    choice = {"index": 0, "message": {"role": "assistant"} | message, "finish_reason": finish}
    return web.json_response({"model": "m-2026", "choices": [choice], "usage": used})


class Personalities:
    """Answers by personality, and keeps the requests it has accepted."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.accepted: dict[str, dict[str, Any]] = {}
        self.files: dict[str, list[dict[str, Any]]] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.polls: Counter[str] = Counter()

    def app(self) -> web.Application:
        app = web.Application(client_max_size=1 << 24)
        app.router.add_post("/{who}/v1/chat/completions", self.complete)
        app.router.add_post("/anthropic/v1/messages", self.anthropic)
        app.router.add_post("/gemini/v1beta/models/{model}", self.gemini)
        app.router.add_get("/seen/{who}", self.seen)
        app.router.add_post("/{who}/v1/files", self.upload)
        app.router.add_get("/{who}/v1/files/{file}/content", self.download)
        app.router.add_post("/{who}/v1/batches", self.make_batch)
        app.router.add_get("/{who}/v1/batches", self.list_batches)
        app.router.add_get("/{who}/v1/batches/{batch}", self.look_at_batch)
        app.router.add_post("/anthropic/v1/messages/batches", self.anthropic_batch)
        app.router.add_get("/anthropic/v1/messages/batches/{batch}", self.anthropic_state)
        app.router.add_get("/anthropic/v1/messages/batches/{batch}/results", self.anthropic_results)
        return app

    async def seen(self, request: web.Request) -> web.Response:
        who = request.match_info["who"]
        return web.json_response({"calls": self.calls[who], "accepted": self.accepted.get(who)})

    async def complete(self, request: web.Request) -> web.StreamResponse:
        who, body = request.match_info["who"], await request.json()
        self.calls[who] += 1
        answer: web.StreamResponse = await getattr(self, who.replace("-", "_"))(body)
        if answer.status == 200:
            self.accepted[who] = body
        return answer

    async def think_tags(self, _body: dict[str, Any]) -> web.Response:
        return chat({"content": f"<think>\n{THOUGHT}\n</think>\n\n{REPLY}"})

    async def reasoning_content(self, body: dict[str, Any]) -> web.Response:
        """Reasoning eats the budget: an answer comes only if there is room for 1,000 tokens."""
        room = body.get("max_tokens") or 10_000
        if room < 1000:
            counted = {"reasoning_tokens": room}
            message = {"content": "", "reasoning_content": THOUGHT * 9}
            return chat(message, "length", room, completion_tokens_details=counted)
        counted = {"reasoning_tokens": 900}
        message = {"content": REPLY, "reasoning_content": THOUGHT}
        return chat(message, "stop", 950, completion_tokens_details=counted)

    async def o_series(self, body: dict[str, Any]) -> web.Response:
        """Refuses temperature and max_tokens in OpenAI's words."""
        if "max_tokens" in body:
            return error(
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                type="invalid_request_error",
                param="max_tokens",
                code="unsupported_parameter",
            )
        if body.get("temperature", 1) != 1:
            return error(
                "Unsupported value: 'temperature' does not support 0.7 with this model. "
                "Only the default (1) value is supported.",
                type="invalid_request_error",
                param="temperature",
                code="unsupported_value",
            )
        return chat({"content": REPLY})

    async def strict_seed(self, body: dict[str, Any]) -> web.Response:
        """Knows the seed by another name only, and says so as FastAPI does."""
        if "seed" in body:
            detail = {"type": "extra_forbidden", "loc": ["body", "seed"], "input": body["seed"]}
            told = {"detail": [detail | {"msg": "Extra inputs are not permitted"}]}
            return web.json_response(told, status=422)
        return chat({"content": REPLY})

    async def no_seed(self, body: dict[str, Any]) -> web.Response:
        """Takes a seed by no name."""
        for name in ("seed", "random_seed"):
            if name in body:
                return error(f"Unrecognized request argument supplied: {name}")
        return chat({"content": REPLY})

    async def too_much(self, _body: dict[str, Any]) -> web.Response:
        """Names a parameter whose value only the user can correct."""
        return error("max_tokens is too large: it must be at most 16.", param="max_tokens")

    async def tool_calls(self, _body: dict[str, Any]) -> web.Response:
        call = {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
        return chat({"content": None, "tool_calls": [call]}, "tool_calls")

    async def streaming(self, body: dict[str, Any]) -> web.Response:
        """Refuses anything but a stream, and streams reasoning before the answer."""
        if not body.get("stream"):
            return error("This model only supports streaming: 'stream' must be true.")
        pieces: list[dict[str, Any]] = [{"role": "assistant", "reasoning_content": THOUGHT}]
        pieces += [{"content": word + " "} for word in REPLY.split()]
        return self.stream(pieces)

    async def always_streams(self, _body: dict[str, Any]) -> web.Response:
        """Streams whatever it was asked for."""
        return self.stream([{"content": REPLY}])

    def stream(self, pieces: list[dict[str, Any]]) -> web.Response:
        events: list[dict[str, Any]] = [
            {"model": "m-2026", "choices": [{"index": 0, "delta": piece}]} for piece in pieces
        ]
        events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        events.append({"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 20}})
        lines = [f"data: {json.dumps(event)}\n\n" for event in events] + ["data: [DONE]\n\n"]
        return web.Response(text="".join(lines), content_type="text/event-stream")

    async def no_json(self, body: dict[str, Any]) -> web.Response:
        """Has no structured output, and answers scales in words."""
        if "response_format" in body:
            return error("response_format is not supported by this model", param="response_format")
        return chat({"content": "I would rather talk than fill in forms."})

    async def no_logprobs(self, body: dict[str, Any]) -> web.Response:
        """Gives no probabilities, and refuses to be asked for them."""
        if "logprobs" in body or "top_logprobs" in body:
            return error("logprobs are not supported with this model", param="logprobs")
        properties = body["response_format"]["json_schema"]["schema"]["properties"]
        return chat({"content": json.dumps(dict.fromkeys(properties, 3))})

    async def rate_limited(self, _body: dict[str, Any]) -> web.Response:
        """Is busy at first."""
        if self.calls["rate-limited"] <= 3:
            headers = {"Retry-After": "0.1"}
            return web.json_response({"error": "slow down"}, status=429, headers=headers)
        return chat({"content": REPLY})

    async def slow(self, _body: dict[str, Any]) -> web.Response:
        await asyncio.sleep(5)
        return chat({"content": REPLY})

    async def empty(self, _body: dict[str, Any]) -> web.Response:
        return chat({"content": ""}, completion=1)

    async def refusing(self, _body: dict[str, Any]) -> web.Response:
        return chat({"content": None, "refusal": "I cannot help with that."})

    async def german(self, _body: dict[str, Any]) -> web.Response:
        return chat({"content": GERMAN})

    async def web_page(self, _body: dict[str, Any]) -> web.Response:
        return web.Response(text="<html><body>Sign in</body></html>", content_type="text/html")

    # -- batches --------------------------------------------------------------------------------

    async def upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        content = form["file"]
        assert isinstance(content, web.FileField)
        name = f"file-{len(self.files)}"
        lines = content.file.read().decode().splitlines()
        self.files[name] = [json.loads(line) for line in lines]
        return web.json_response({"id": name, "object": "file"})

    async def make_batch(self, request: web.Request) -> web.Response:
        """Answers every request by the personality of the address."""
        who, body = request.match_info["who"], await request.json()
        assert body["endpoint"] == "/v1/chat/completions"
        name, results = f"batch-{len(self.batches)}", []
        for line in self.files[body["input_file_id"]]:
            self.calls["batched"] += 1
            answer = await getattr(self, who.replace("-", "_"))(line["body"])
            response = {"status_code": answer.status, "body": json.loads(answer.text)}
            results.append({"custom_id": line["custom_id"], "response": response, "error": None})
        self.files[f"{name}-output"] = results
        self.batches[name] = {"id": name, "metadata": body["metadata"]}
        return web.json_response(self.batches[name] | {"status": "validating"})

    async def list_batches(self, _request: web.Request) -> web.Response:
        return web.json_response({"data": list(self.batches.values())})

    async def look_at_batch(self, request: web.Request) -> web.Response:
        name = request.match_info["batch"]
        self.polls[name] += 1
        done = self.polls[name] > (10 if request.match_info["who"] == "think-tags" else 2)
        state = {"status": "completed", "output_file_id": f"{name}-output"}
        return web.json_response(
            self.batches[name] | (state if done else {"status": "in_progress"})
        )

    async def download(self, request: web.Request) -> web.Response:
        lines = self.files[request.match_info["file"]]
        # Providers do not keep the order.
        return web.Response(text="\n".join(json.dumps(line) for line in reversed(lines)))

    async def anthropic_batch(self, request: web.Request) -> web.Response:
        results = []
        for entry in (await request.json())["requests"]:
            self.calls["batched"] += 1
            wrong = anthropic_mistake(entry["params"])
            told = {"type": "invalid_request_error", "message": wrong}
            result: dict[str, Any] = {"type": "errored", "error": {"type": "error", "error": told}}
            if not wrong:
                result = {"type": "succeeded", "message": anthropic_message(entry["params"])}
            results.append({"custom_id": entry["custom_id"], "result": result})
        name = f"msgbatch_{len(self.files)}"
        self.files[name] = results
        return web.json_response({"id": name, "processing_status": "in_progress"})

    async def anthropic_state(self, request: web.Request) -> web.Response:
        name = request.match_info["batch"]
        self.polls[name] += 1
        status = "ended" if self.polls[name] > 2 else "in_progress"
        return web.json_response({"id": name, "processing_status": status})

    async def anthropic_results(self, request: web.Request) -> web.Response:
        lines = self.files[request.match_info["batch"]]
        return web.Response(text="\n".join(json.dumps(line) for line in reversed(lines)))

    # -- native APIs ----------------------------------------------------------------------------

    async def anthropic(self, request: web.Request) -> web.Response:
        """The Messages API, by the model's name."""
        body = await request.json()
        self.calls["anthropic"] += 1
        if request.headers.get("x-api-key") != "ant-key":
            told = {"type": "authentication_error", "message": "invalid x-api-key"}
            return web.json_response({"type": "error", "error": told}, status=401)
        assert request.headers["anthropic-version"] == "2023-06-01"
        wrong = anthropic_mistake(body)
        if wrong:
            told = {"type": "invalid_request_error", "message": wrong}
            return web.json_response({"type": "error", "error": told}, status=400)
        self.accepted["anthropic"] = body
        return web.json_response(anthropic_message(body))

    async def gemini(self, request: web.Request) -> web.Response:
        """generateContent, by the model's name."""
        model, _, verb = request.match_info["model"].partition(":")
        body = await request.json()
        self.calls["gemini"] += 1
        if verb != "generateContent" or request.headers.get("x-goog-api-key") != "gem-key":
            told = {"code": 403, "message": "API key not valid", "status": "PERMISSION_DENIED"}
            return web.json_response({"error": told}, status=403)
        unknown = set(body) - {"contents", "systemInstruction", "generationConfig"}
        if unknown or any(turn["role"] not in ("user", "model") for turn in body["contents"]):
            return error(f'Invalid JSON payload received. Unknown name "{unknown}"')
        self.accepted["gemini"] = body
        return web.json_response(gemini_content(model, body.get("generationConfig") or {}))


def anthropic_mistake(body: dict[str, Any]) -> str | None:
    """What the Messages API would refuse."""
    if "max_tokens" not in body:
        return "max_tokens: Field required"
    if any(message["role"] == "system" for message in body["messages"]):
        return 'messages: Unexpected role "system"'
    unknown = set(body) - {
        *("model", "messages", "max_tokens", "system", "temperature", "top_p", "tools"),
        *("tool_choice", "thinking", "output_config"),
    }
    if unknown:
        return f"{min(unknown)}: Extra inputs are not permitted"
    thinking = body.get("thinking") or {}
    if thinking.get("budget_tokens", 0) >= body["max_tokens"]:
        return "`max_tokens` must be greater than `thinking.budget_tokens`"
    if thinking and "temperature" in body:
        return "`temperature` may only be set to 1 when thinking is enabled"
    return None


def anthropic_message(body: dict[str, Any]) -> dict[str, Any]:
    """An answer of the Messages API."""
    content: list[dict[str, Any]] = []
    reason = "end_turn"
    if body.get("thinking"):
        content.append({"type": "thinking", "thinking": THOUGHT, "signature": "sig"})
    if "refuses" in body["model"]:
        reason = "refusal"
    elif "cuts" in body["model"]:
        content, reason = (
            [{"type": "thinking", "thinking": THOUGHT, "signature": "s"}],
            "max_tokens",
        )
    elif "tools" in body:
        tool = body["tools"][0]
        values = dict.fromkeys(tool["input_schema"]["properties"], 3)
        content.append({"type": "tool_use", "id": "1", "name": tool["name"], "input": values})
        reason = "tool_use"
    elif "calls" in body["model"]:
        content.append({"type": "tool_use", "id": "1", "name": "search", "input": {}})
        reason = "tool_use"
    else:
        content.append({"type": "text", "text": REPLY})
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": f"{body['model']}-20260101",
        "content": content,
        "stop_reason": reason,
        "usage": {"input_tokens": 25, "output_tokens": 40},
    }


def gemini_content(model: str, settings: dict[str, Any]) -> dict[str, Any]:
    """An answer of generateContent."""
    used = {"promptTokenCount": 25, "candidatesTokenCount": 20, "thoughtsTokenCount": 100}
    answer: dict[str, Any] = {"usageMetadata": used, "modelVersion": f"{model}-001"}
    if "blocks" in model:
        return answer | {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
    parts: list[dict[str, Any]] = [{"text": THOUGHT, "thought": True}, {"text": REPLY}]
    reason = "STOP"
    if "cuts" in model:
        parts, reason = [], "MAX_TOKENS"
    elif "unsafe" in model:
        parts, reason = [], "SAFETY"
    elif "calls" in model:
        parts = [{"functionCall": {"name": "search", "args": {}}}]
    elif "responseJsonSchema" in settings:
        properties = settings["responseJsonSchema"]["properties"]
        parts = [{"text": json.dumps(dict.fromkeys(properties, 3))}]
    content = {"role": "model", "parts": parts}
    return answer | {"candidates": [{"content": content, "finishReason": reason}]}


class Met:
    """The personalities, in a process of their own."""

    def __init__(self, address: str) -> None:
        self.address = address

    def base_url(self, who: str) -> str:
        return f"{self.address}/{who}/v1" + ("beta" if who == "gemini" else "")

    def seen(self, who: str) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.address}/seen/{who}") as reply:
            content: dict[str, Any] = json.load(reply)
            return content


@contextlib.contextmanager
def personalities() -> Iterator[Met]:
    """Starts them, and ends them afterwards."""
    process = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield Met(process.stdout.readline().strip())
    finally:
        process.communicate(timeout=60)


async def _serve() -> None:
    runner = web.AppRunner(Personalities().app(), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    sys.stdout.write(f"http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(_serve())
