"""The OpenAI-compatible chat API, which most endpoints speak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from empathylab.models.apis.interface import answer_tokens, parted
from empathylab.models.families import Family
from empathylab.models.interface import Completion, Message, Parameters, TokenAlternatives, Usage


@dataclass(frozen=True, slots=True)
class OpenAiChat:
    """`{base_url}/chat/completions`."""

    max_tokens_field: str = "max_tokens"
    seed_field: str = "seed"

    @property
    def fields(self) -> dict[str, tuple[str, ...]]:
        return {
            "temperature": ("temperature",),
            "top_p": ("top_p",),
            "seed": (self.seed_field,),
            "max_tokens": (self.max_tokens_field,),
            "top_logprobs": ("logprobs", "top_logprobs"),
            "schema": ("response_format",),
        }

    def headers(self, key: str | None) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def address(self, base_url: str, model: str) -> str:
        return f"{base_url}/chat/completions"

    def payload(self, model: str, messages: tuple[Message, ...]) -> dict[str, Any]:
        turns = [{"role": message.role, "content": message.content} for message in messages]
        return {"model": model, "messages": turns}

    def settings(
        self, parameters: Parameters, limit: int | None, effort: str | None, family: Family
    ) -> dict[str, Any]:
        named = (
            ("temperature", parameters.temperature),
            ("top_p", parameters.top_p),
            (self.seed_field, parameters.seed),
            (self.max_tokens_field, limit),
            ("reasoning_effort", effort),
        )
        chosen: dict[str, Any] = {name: value for name, value in named if value is not None}
        if parameters.top_logprobs is not None:
            chosen |= {"logprobs": True, "top_logprobs": parameters.top_logprobs}
        if parameters.schema is not None:
            chosen["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": parameters.schema},
            }
        return chosen

    def with_settings(self, payload: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
        return payload | settings

    def read(self, body: dict[str, Any]) -> Completion:
        choice = body["choices"][0]
        message = choice.get("message") or {}
        usage = body.get("usage") or {}
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        content, thought = _plain_text(message.get("content"))
        reasoning = "\n".join(part for part in (_words(reasoning), thought) if part)
        text, reasoning = parted(content, reasoning)
        details = usage.get("completion_tokens_details") or {}
        counted = details.get("reasoning_tokens") or usage.get("reasoning_tokens")
        return Completion(
            text=text,
            finish_reason=choice.get("finish_reason"),
            usage=Usage(
                int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
            ),
            logprobs=_logprobs(choice.get("logprobs")),
            reported_model=body.get("model"),
            refusal=message.get("refusal") or None,
            reasoning=reasoning,
            reasoning_tokens=answer_tokens(reasoning, counted),
            tool_calls=_tools(message),
        )

    def streamed(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        body: dict[str, Any] = {}
        message: dict[str, Any] = {"content": ""}
        choice: dict[str, Any] = {"message": message}
        for event in events:
            if "error" in event:
                raise ValueError(str(event["error"]))
            body |= {name: event[name] for name in ("model", "usage") if event.get(name)}
            for piece in event.get("choices") or ():
                choice["finish_reason"] = piece.get("finish_reason") or choice.get("finish_reason")
                delta = piece.get("delta") or piece.get("message") or {}
                for name in ("content", "reasoning_content", "reasoning", "refusal"):
                    if delta.get(name):
                        message[name] = (message.get(name) or "") + delta[name]
                if delta.get("tool_calls"):
                    message.setdefault("tool_calls", []).extend(delta["tool_calls"])
        return body | {"choices": [choice]}


def _plain_text(content: object) -> tuple[str, str]:
    """The text, and reasoning that comes as a part of its own."""
    if not isinstance(content, list):
        return ("" if content is None else str(content)), ""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if not isinstance(part, dict):
            continue
        thinking = part.get("type") in ("thinking", "reasoning")
        text = part.get("thinking") or part.get("reasoning") or part.get("text") or ""
        (thoughts if thinking else texts).append(_words(text))
    return "".join(texts), "\n".join(thoughts)


def _words(content: object) -> str:
    """Text, or parts of text, as one."""
    if isinstance(content, list):
        return "".join(_words(part) for part in content)
    if isinstance(content, dict):
        return _words(content.get("text"))
    return "" if content is None else str(content)


def _tools(message: dict[str, Any]) -> tuple[str, ...]:
    calls = message.get("tool_calls") or (
        [{"function": message["function_call"]}] if message.get("function_call") else []
    )
    names = [(call.get("function") or {}).get("name") for call in calls]
    return tuple(dict.fromkeys(str(name) for name in names if name))


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
