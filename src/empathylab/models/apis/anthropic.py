"""Anthropic's Messages API: a schema through a tool, and thinking in blocks of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from empathylab.models.apis.interface import answer_tokens, parted
from empathylab.models.families import Family
from empathylab.models.interface import Completion, Message, Parameters, Usage

_VERSION = "2023-06-01"
_LIMIT = 1024  # the API wants a number
_TOOL = "answer"
_LEAST_BUDGET = 1024
_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 4096, "high": 8192}
_FINISHED = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


@dataclass(frozen=True, slots=True)
class AnthropicMessages:
    """`{base_url}/messages`."""

    @property
    def fields(self) -> dict[str, tuple[str, ...]]:
        return {
            "temperature": ("temperature",),
            "top_p": ("top_p",),
            "max_tokens": (),
            "schema": ("tools", "tool_choice"),
        }

    def headers(self, key: str | None) -> dict[str, str]:
        return {"anthropic-version": _VERSION} | ({"x-api-key": key} if key else {})

    def address(self, base_url: str, model: str) -> str:
        return f"{base_url}/messages"

    def payload(self, model: str, messages: tuple[Message, ...]) -> dict[str, Any]:
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        turns = [
            {"role": message.role, "content": message.content}
            for message in messages
            if message.role != "system"
        ]
        payload: dict[str, Any] = {"model": model, "messages": turns}
        return payload | ({"system": system} if system else {})

    def settings(
        self, parameters: Parameters, limit: int | None, effort: str | None, family: Family
    ) -> dict[str, Any]:
        chosen: dict[str, Any] = {"max_tokens": limit or _LIMIT}
        thinking = effort not in (None, "none")
        if thinking and family.thinking == "budget":
            budget = max(_LEAST_BUDGET, min(_BUDGETS[effort or "low"], chosen["max_tokens"] - 1))
            chosen["max_tokens"] = max(chosen["max_tokens"], budget + 1)
            chosen["thinking"] = {"type": "enabled", "budget_tokens": budget}
        elif thinking:
            chosen["thinking"] = {"type": "adaptive"}
            chosen["output_config"] = {"effort": "low" if effort == "minimal" else effort}
        # With thinking, the API allows no other temperature than its own.
        if not thinking:
            for name in ("temperature", "top_p"):
                if (value := getattr(parameters, name)) is not None:
                    chosen[name] = value
        if parameters.schema is not None:
            about = "Gives the answer."
            tool = {"name": _TOOL, "description": about, "input_schema": parameters.schema}
            forced = {"type": "auto"} if thinking else {"type": "tool", "name": _TOOL}
            chosen |= {"tools": [tool], "tool_choice": forced}
        return chosen

    def with_settings(self, payload: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
        return payload | settings

    def read(self, body: dict[str, Any]) -> Completion:
        blocks = body["content"]
        texts, thoughts, tools = [], [], []
        structured: str | None = None
        for block in blocks:
            kind = block["type"]
            if kind == "text":
                texts.append(block["text"])
            elif kind == "thinking":
                thoughts.append(block.get("thinking") or "")
            elif kind == "tool_use" and block.get("name") == _TOOL:
                structured = json.dumps(block["input"], ensure_ascii=False)
            elif kind == "tool_use":
                tools.append(str(block.get("name")))
        text, reasoning = parted("".join(texts), "\n".join(thoughts))
        usage = body.get("usage") or {}
        read = sum(
            int(usage.get(name) or 0)
            for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        )
        reason = body.get("stop_reason")
        hidden = any(block["type"] == "redacted_thinking" for block in blocks)
        details = usage.get("output_tokens_details") or {}
        return Completion(
            text=text if structured is None else structured,
            finish_reason=_FINISHED.get(reason, reason) if reason else None,
            usage=Usage(read, int(usage.get("output_tokens") or 0)),
            reported_model=body.get("model"),
            refusal=(text or "declined by the safety rules") if reason == "refusal" else None,
            reasoning=reasoning,
            reasoning_tokens=answer_tokens(
                reasoning or ("?" if hidden else None), details.get("thinking_tokens")
            ),
            tool_calls=tuple(dict.fromkeys(tools)),
        )

    def streamed(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        body: dict[str, Any] = {}
        blocks: dict[int, dict[str, Any]] = {}
        for event in events:
            kind = event.get("type")
            if kind == "error":
                raise ValueError(str(event.get("error")))
            if kind == "message_start":
                body |= event["message"]
            elif kind == "content_block_start":
                blocks[event["index"]] = dict(event["content_block"])
            elif kind == "content_block_delta":
                _extend(blocks[event["index"]], event["delta"])
            elif kind == "message_delta":
                body |= event.get("delta") or {}
                body["usage"] = (body.get("usage") or {}) | (event.get("usage") or {})
        for block in blocks.values():
            if "partial" in block:
                block["input"] = json.loads(block.pop("partial") or "{}")
        return body | {"content": [blocks[index] for index in sorted(blocks)]}


def _extend(block: dict[str, Any], delta: dict[str, Any]) -> None:
    for source, target in (
        ("text", "text"),
        ("thinking", "thinking"),
        ("partial_json", "partial"),
    ):
        if source in delta:
            block[target] = (block.get(target) or "") + delta[source]
