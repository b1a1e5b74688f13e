"""Which respondents are a judge's own kin."""

from __future__ import annotations

import re
from collections.abc import Iterable

# A word in a model's name, and the family it tells; makers' names stand for their families.
_WORDS = {
    "gpt": "gpt",
    "chatgpt": "gpt",
    "openai": "gpt",
    "claude": "claude",
    "anthropic": "claude",
    "gemini": "gemini",
    "gemma": "gemini",
    "palm": "gemini",
    "google": "gemini",
    "llama": "llama",
    "meta": "llama",
    "mistral": "mistral",
    "mixtral": "mistral",
    "ministral": "mistral",
    "qwen": "qwen",
    "deepseek": "deepseek",
    "smollm": "smollm",
    "phi": "phi",
    "grok": "grok",
    "command": "cohere",
    "cohere": "cohere",
}
# Who serves models that others made, or names that tell nothing.
_HOSTS = {
    *("groq", "local", "llamacpp", "lmstudio", "ollama", "openrouter", "scripted", "together"),
    *("vllm", "fireworks", "azure", "custom"),
}
_GENERIC = {"model", "judge", "llm", "ai", "bot", "assistant", "human", "people", "respondent"}
_PART = re.compile(r"[a-z]+")


def family(name: str) -> str:
    """The family of a model by its name: a known one, else its maker, else its first word.

    Empty where the name tells none.
    """
    lowered = name.lower()
    # The model's own name says more than who serves it.
    for word in [*reversed(_PART.findall(lowered))]:
        if word in _WORDS:
            return _WORDS[word]
    maker, slash, rest = lowered.rpartition("/")
    first = maker.partition("/")[0]
    if slash and first and first not in _HOSTS:
        return first
    words = _PART.findall(rest)
    return words[0] if words and words[0] not in _GENERIC else ""


def own_respondents(judge: str, respondents: Iterable[str]) -> tuple[str, ...]:
    """The respondents that are the judge itself or of its family."""
    kin = family(judge)
    return tuple(
        name
        for name in respondents
        if name == judge or (kin and name.lower() != "human" and family(name) == kin)
    )
