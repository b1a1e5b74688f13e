"""The providers that speak the OpenAI-compatible chat API: where they live, which key they want."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provider:
    """An OpenAI-compatible service."""

    name: str
    base_url: str
    key_env: str | None
    """The environment variable that holds the key; None where no key is needed."""
    base_url_env: str | None = None
    """A variable that moves the address, for servers that users run themselves."""
    max_tokens_field: str = "max_tokens"
    example: str = ""

    @property
    def is_own_server(self) -> bool:
        """Whether the user runs it, rather than buys it."""
        return self.key_env is None


PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider(
            "openai",
            "https://api.openai.com/v1",
            "OPENAI_API_KEY",
            max_tokens_field="max_completion_tokens",
            example="openai/gpt-4o-mini",
        ),
        Provider(
            "anthropic",
            "https://api.anthropic.com/v1",
            "ANTHROPIC_API_KEY",
            example="anthropic/claude-3-5-haiku-latest",
        ),
        Provider(
            "google",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "GEMINI_API_KEY",
            example="google/gemini-2.0-flash",
        ),
        Provider(
            "mistral",
            "https://api.mistral.ai/v1",
            "MISTRAL_API_KEY",
            example="mistral/mistral-small-latest",
        ),
        Provider(
            "groq",
            "https://api.groq.com/openai/v1",
            "GROQ_API_KEY",
            example="groq/llama-3.1-8b-instant",
        ),
        Provider(
            "together",
            "https://api.together.xyz/v1",
            "TOGETHER_API_KEY",
            example="together/meta-llama/Llama-3.3-70B-Instruct-Turbo",
        ),
        Provider(
            "openrouter",
            "https://openrouter.ai/api/v1",
            "OPENROUTER_API_KEY",
            example="openrouter/mistralai/mistral-nemo",
        ),
        Provider(
            "ollama",
            "http://127.0.0.1:11434/v1",
            None,
            base_url_env="OLLAMA_BASE_URL",
            example="ollama/llama3.2",
        ),
        Provider(
            "vllm",
            "http://127.0.0.1:8000/v1",
            None,
            base_url_env="VLLM_BASE_URL",
            example="vllm/Qwen/Qwen2.5-7B-Instruct",
        ),
        Provider(
            "llama-cpp",
            "http://127.0.0.1:8080/v1",
            None,
            base_url_env="LLAMA_CPP_BASE_URL",
            example="llama-cpp/default",
        ),
    )
}
