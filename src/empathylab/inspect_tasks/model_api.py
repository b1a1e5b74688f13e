"""The models of EmpathyLab for Inspect: `--model empathylab/local/smollm2`."""

from __future__ import annotations

from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from empathylab.errors import ModelUnavailable, RateLimited
from empathylab.models import Model, RequestOptions, open_model
from empathylab.models.inspect_chats import OWN_API, output_of, parameters_of, plain_messages

_SECONDS = 600.0
_LETTERS_PER_TOKEN = 4


class OwnModel(ModelAPI):
    """A model that EmpathyLab asks: embedded, scripted, or at any endpoint it knows."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        options = RequestOptions(extra=dict(model_args))
        self._model: Model = open_model(model_name, base_url=base_url, options=options)

    @property
    def identity(self) -> str:
        """What tells it from every other model in a lab."""
        return self._model.identity

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002 - Inspect names it so
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        await self._model.start()
        timeout = float(config.attempt_timeout or config.timeout or _SECONDS)
        completion = await self._model.complete(
            plain_messages(input), parameters_of(config), timeout=timeout
        )
        return output_of(completion, self.model_name)

    def should_retry(self, ex: BaseException) -> bool:
        return isinstance(ex, RateLimited | ModelUnavailable)

    def max_connections(self) -> int:
        return self._model.concurrency

    def connection_key(self) -> str:
        return self._model.identity

    async def count_text_tokens(self, text: str) -> int:
        """An estimate: the default would fetch a tokeniser from the network."""
        return len(text) // _LETTERS_PER_TOKEN + 1

    async def aclose(self) -> None:
        await self._model.close()


@modelapi(name=OWN_API)
def empathylab_models() -> type[ModelAPI]:
    """The class that Inspect makes models of."""
    return OwnModel
