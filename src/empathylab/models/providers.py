"""The services that are known by name: where they are, which key they want, what they speak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from empathylab.files import packaged_table

ApiName = Literal["openai", "anthropic", "gemini"]


@dataclass(frozen=True, slots=True)
class Provider:
    """A service that answers chats."""

    name: str
    base_url: str
    key_env: str | None = None
    """The environment variable that holds the key; None where no key is needed."""
    base_url_env: str | None = None
    """A variable that moves the address, for servers that users run themselves."""
    max_tokens_field: str = "max_tokens"
    seed_field: str = "seed"
    example: str = ""
    api: ApiName = "openai"
    """The API it speaks: the OpenAI-compatible one, or its own."""
    batches: bool = False
    """Whether it takes many requests at once, at a lower price, within a day."""

    @property
    def is_own_server(self) -> bool:
        """Whether the user runs it, rather than buys it."""
        return self.key_env is None


PROVIDERS: dict[str, Provider] = {
    name: Provider(name, **row)
    for name, row in packaged_table("empathylab.models", "providers.toml").items()
}
