"""Which respondents belong to a judge's own family."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

# A word in a model's name, and its family; makers' names count as their families.
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
# Hosts that serve models of other makers, and uninformative names.
_HOSTS = {
    *("groq", "local", "llamacpp", "lmstudio", "ollama", "openrouter", "scripted", "together"),
    *("vllm", "fireworks", "azure", "custom"),
}
_GENERIC = {"model", "judge", "llm", "ai", "bot", "assistant", "human", "people", "respondent"}
_PART = re.compile(r"[a-z]+")


def family(name: str) -> str:
    """The family of a model by its name: a known one, else its maker, else its first word.

    Empty where the name has none, as that of an unknown model behind a host: names there are the
    user's own, and two unrelated ones may begin with the same word.
    """
    lowered = name.lower()
    # The model's own name says more than who serves it.
    for word in [*reversed(_PART.findall(lowered))]:
        if word in _WORDS:
            return _WORDS[word]
    maker, slash, rest = lowered.rpartition("/")
    if slash:
        return next((item for item in maker.split("/") if item and item not in _HOSTS), "")
    words = _PART.findall(rest)
    return words[0] if words and words[0] not in _GENERIC else ""


def own_respondents(judge: str, respondents: Iterable[str]) -> tuple[str, ...]:
    """The respondents that are the judge itself, behind whatever host, or of its family."""
    own, itself = family(judge), _model(judge)
    return tuple(
        name
        for name in respondents
        if _model(name) == itself or (own and name.lower() != "human" and family(name) == own)
    )


def families_of(
    judges: Iterable[str], respondents: Iterable[str], given: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Of each judge the respondents of its own family: as given, else by their names."""
    everybody = list(respondents)
    return {
        judge: tuple(given[judge]) if judge in given else own_respondents(judge, everybody)
        for judge in judges
    }


def _model(name: str) -> str:
    """The name without the hosts before it."""
    parts = name.lower().split("/")
    while len(parts) > 1 and parts[0] in _HOSTS:
        parts = parts[1:]
    return "/".join(parts)
