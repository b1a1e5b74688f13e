"""Gemini's own API: thoughts as parts of their own, and reasons of safety."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from empathylab.models.apis.interface import answer_tokens, parted
from empathylab.models.families import Family
from empathylab.models.interface import Completion, Message, Parameters, TokenAlternatives, Usage

_FINISHED = {"STOP": "stop", "MAX_TOKENS": "length"}
_BLOCKED = {"SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION", "IMAGE_SAFETY"}
_BUDGETS = {"none": 0, "minimal": 512, "low": 1024, "medium": 4096, "high": 8192}


@dataclass(frozen=True, slots=True)
class GeminiContent:
    """`{base_url}/models/{model}:generateContent`."""

    @property
    def fields(self) -> dict[str, tuple[str, ...]]:
        return {
            "temperature": ("temperature",),
            "top_p": ("topP",),
            "seed": ("seed",),
            "max_tokens": ("maxOutputTokens",),
            "top_logprobs": ("responseLogprobs", "logprobs"),
            "schema": ("responseMimeType", "responseJsonSchema"),
        }

    def headers(self, key: str | None) -> dict[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def address(self, base_url: str, model: str) -> str:
        return f"{base_url}/models/{model}:generateContent"

    def payload(self, model: str, messages: tuple[Message, ...]) -> dict[str, Any]:
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        contents = [
            {
                "role": "model" if message.role == "assistant" else "user",
                "parts": [{"text": message.content}],
            }
            for message in messages
            if message.role != "system"
        ]
        instruction = {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
        return {"contents": contents, **instruction}

    def settings(
        self, parameters: Parameters, limit: int | None, effort: str | None, family: Family
    ) -> dict[str, Any]:
        named = (
            ("temperature", parameters.temperature),
            ("topP", parameters.top_p),
            ("seed", parameters.seed),
            ("maxOutputTokens", limit),
        )
        chosen: dict[str, Any] = {name: value for name, value in named if value is not None}
        if parameters.top_logprobs is not None:
            chosen |= {"responseLogprobs": True, "logprobs": parameters.top_logprobs}
        if parameters.schema is not None:
            chosen["responseMimeType"] = "application/json"
            chosen["responseJsonSchema"] = parameters.schema
        if effort is not None:
            chosen["thinkingConfig"] = {
                "thinkingBudget": _BUDGETS[effort],
                "includeThoughts": effort != "none",
            }
        return chosen

    def with_settings(self, payload: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
        return payload | ({"generationConfig": settings} if settings else {})

    def read(self, body: dict[str, Any]) -> Completion:
        usage = body.get("usageMetadata") or {}
        thought_tokens = int(usage.get("thoughtsTokenCount") or 0)
        used = Usage(
            int(usage.get("promptTokenCount") or 0),
            int(usage.get("candidatesTokenCount") or 0) + thought_tokens,
        )
        blocked = (body.get("promptFeedback") or {}).get("blockReason")
        if blocked and not body.get("candidates"):
            return Completion(
                "",
                finish_reason="content_filter",
                usage=used,
                reported_model=body.get("modelVersion"),
                refusal=f"the prompt was blocked: {blocked}",
            )
        candidate = body["candidates"][0]
        parts = (candidate.get("content") or {}).get("parts") or []
        thoughts = "\n".join(part.get("text") or "" for part in parts if part.get("thought"))
        answer = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
        text, reasoning = parted(answer, thoughts)
        reason = candidate.get("finishReason")
        return Completion(
            text=text,
            finish_reason="content_filter" if reason in _BLOCKED else _FINISHED.get(reason, reason),
            usage=used,
            logprobs=_logprobs(candidate.get("logprobsResult")),
            reported_model=body.get("modelVersion"),
            refusal=f"stopped by the safety rules: {reason}" if reason in _BLOCKED else None,
            reasoning=reasoning,
            reasoning_tokens=answer_tokens(reasoning, thought_tokens),
            tool_calls=tuple(
                str(part["functionCall"].get("name")) for part in parts if "functionCall" in part
            ),
        )

    def streamed(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        body: dict[str, Any] = {}
        parts: list[dict[str, Any]] = []
        candidate: dict[str, Any] = {}
        for event in events:
            body |= event
            for piece in event.get("candidates") or ():
                candidate |= piece
                parts += (piece.get("content") or {}).get("parts") or []
        if candidate:
            body["candidates"] = [candidate | {"content": {"parts": parts}}]
        return body


def _logprobs(block: dict[str, Any] | None) -> tuple[TokenAlternatives, ...] | None:
    if not block or not block.get("chosenCandidates"):
        return None
    weighed = block.get("topCandidates") or [{}] * len(block["chosenCandidates"])
    return tuple(
        TokenAlternatives(
            token=chosen["token"],
            logprob=float(chosen["logProbability"]),
            top={
                candidate["token"]: float(candidate["logProbability"])
                for candidate in others.get("candidates") or ()
            },
        )
        for chosen, others in zip(block["chosenCandidates"], weighed, strict=True)
    )
