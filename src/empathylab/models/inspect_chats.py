"""Any model of Inspect AI as a model: `inspect/PROVIDER/NAME`.

Inspect knows the provider, its key and its settings; EmpathyLab asks, reads and stores as always.
Messages and answers are translated here, also for EmpathyLab's own models when Inspect asks them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from empathylab.errors import MissingExtra, ModelError, ModelSetup, ModelUnavailable, RateLimited
from empathylab.models.interface import (
    UNLIMITED_ANSWER,
    Completion,
    Message,
    Parameters,
    TokenAlternatives,
    Usage,
)
from empathylab.models.request_options import RequestOptions

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, StopReason
    from inspect_ai.model import Model as ChatModel

FAMILY = "inspect"
OWN_API = "empathylab"
"""The provider under which Inspect knows the models of EmpathyLab."""
_KEPT = "empathylab"
_STOPPED: dict[str, StopReason] = {
    "stop": "stop",
    "length": "max_tokens",
    "content_filter": "content_filter",
    "tool_calls": "tool_calls",
}
_CONCURRENCY = 10


def require_inspect(purpose: str) -> None:
    """Raises where the extra is not installed."""
    if importlib.util.find_spec("inspect_ai") is None:
        raise MissingExtra("inspect-ai", "inspect", purpose)


def respondent_name(model: str) -> str:
    """The name of an Inspect model as respondent; one of EmpathyLab's own keeps its name."""
    own = f"{OWN_API}/"
    return model.removeprefix(own) if model.startswith(own) else f"{FAMILY}/{model}"


class InspectModel:
    """A model that Inspect reaches."""

    def __init__(
        self,
        name: str,
        *,
        options: RequestOptions | None = None,
        identity: str | None = None,
    ) -> None:
        self.name = name
        self._identity = identity
        self.concurrency = _CONCURRENCY
        self._chat_model: ChatModel | None = None
        self._options = options or RequestOptions()

    @property
    def identity(self) -> str:
        if self._identity is not None:
            return self._identity
        options = str(self._options)
        return f"{self.name} with {options}" if options else self.name

    @property
    def adjusted(self) -> str:
        return ""

    def output_limit(self, parameters: Parameters) -> int:
        return self._options.max_tokens or parameters.max_tokens or UNLIMITED_ANSWER

    async def start(self) -> None:
        """Looks the model up; Inspect opens its connections with the first request."""
        if self._chat_model is None:
            self._chat_model = _chat_model(self.name)

    async def close(self) -> None:
        """Lets go of the provider's connections."""
        if self._chat_model is not None:
            await self._chat_model.api.aclose()

    async def complete(
        self, messages: tuple[Message, ...], parameters: Parameters, *, timeout: float
    ) -> Completion:
        await self.start()
        assert self._chat_model is not None  # noqa: S101 - it has been started
        config = self._settings(parameters)
        # The runner asks again, after a pause of its own.
        config.max_retries, config.timeout = 0, max(1, int(timeout))
        try:
            output = await self._chat_model.generate(chat_messages(messages), config=config)
        except ModelError:
            raise
        except Exception as error:
            raise _failure(error) from error
        return completion_of(output)

    def _settings(self, parameters: Parameters) -> GenerateConfig:
        options = self._options
        given = chat_settings(parameters).model_dump(exclude_none=True)
        if options.max_tokens:
            given["max_tokens"] = options.max_tokens
        if options.reasoning_effort:
            given["reasoning_effort"] = options.reasoning_effort
        if options.extra:
            given["extra_body"] = options.extra
        kept = {name: value for name, value in given.items() if name not in options.omit}
        return _config(kept)


def _config(given: dict[str, Any]) -> GenerateConfig:
    from inspect_ai.model import GenerateConfig

    return GenerateConfig.model_validate(given)


def _chat_model(name: str) -> ChatModel:
    from inspect_ai.model import get_model

    try:
        return get_model(name.removeprefix(f"{FAMILY}/"), memoize=False)
    except Exception as error:
        raise ModelSetup(
            "Inspect cannot open this model",
            where=name,
            got=str(error),
            remedy="Write inspect/PROVIDER/NAME, and set the provider's key as Inspect asks.",
        ) from error


def _failure(error: Exception) -> ModelError:
    """The error as one of ours: Inspect wraps what the provider said after its last try."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    status = getattr(cause, "status_code", None) or getattr(cause, "code", None)
    if status == 429:
        return RateLimited(str(cause))
    return ModelUnavailable(str(cause) or type(cause).__name__, "inspect")


def chat_messages(messages: Sequence[Message]) -> list[ChatMessage]:
    """The messages as Inspect's."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds = {
        "system": ChatMessageSystem,
        "user": ChatMessageUser,
        "assistant": ChatMessageAssistant,
    }
    return [kinds[message.role](content=message.content) for message in messages]


def plain_messages(messages: Sequence[ChatMessage]) -> tuple[Message, ...]:
    """Inspect's messages as ours; those of tools are left out."""
    roles: dict[str, Literal["system", "user", "assistant"]] = {
        "system": "system",
        "user": "user",
        "assistant": "assistant",
    }
    return tuple(
        Message(roles[message.role], message.text) for message in messages if message.role in roles
    )


def chat_settings(parameters: Parameters) -> GenerateConfig:
    """The parameters as Inspect's settings."""
    from inspect_ai.model import GenerateConfig, ResponseSchema
    from inspect_ai.util import JSONSchema

    schema = parameters.schema
    return GenerateConfig(
        temperature=parameters.temperature,
        top_p=parameters.top_p,
        max_tokens=parameters.max_tokens,
        seed=parameters.seed,
        logprobs=True if parameters.top_logprobs else None,
        top_logprobs=parameters.top_logprobs,
        response_schema=None
        if schema is None
        else ResponseSchema(
            name="answer", json_schema=JSONSchema.model_validate(schema), strict=True
        ),
    )


def parameters_of(config: GenerateConfig) -> Parameters:
    """Inspect's settings as parameters."""
    schema = config.response_schema
    return Parameters(
        temperature=config.temperature,
        top_p=config.top_p,
        max_tokens=config.max_tokens,
        seed=config.seed,
        top_logprobs=config.top_logprobs,
        schema=None if schema is None else schema.json_schema.model_dump(exclude_none=True),
    )


def output_of(completion: Completion, model: str) -> ModelOutput:
    """The answer as Inspect's output; what Inspect has no field for is in its metadata."""
    from inspect_ai.model import (
        ChatCompletionChoice,
        ChatMessageAssistant,
        ContentReasoning,
        ContentText,
        ModelOutput,
        ModelUsage,
    )

    text = completion.text or completion.refusal or ""
    content: Any = text
    if completion.reasoning:
        content = [ContentReasoning(reasoning=completion.reasoning), ContentText(text=text)]
    usage = completion.usage
    choice = ChatCompletionChoice(
        message=ChatMessageAssistant(content=content, model=model, source="generate"),
        stop_reason=_STOPPED.get(completion.finish_reason or "", "unknown"),
        logprobs=None if completion.logprobs is None else _logprobs(completion.logprobs),
    )
    kept = {
        "finish_reason": completion.finish_reason,
        "reported_model": completion.reported_model,
        "refusal": completion.refusal,
        "tool_calls": list(completion.tool_calls),
        "sent": completion.sent,
    }
    return ModelOutput(
        model=completion.reported_model or model,
        choices=[choice],
        usage=ModelUsage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            total_tokens=usage.total_tokens,
            reasoning_tokens=completion.reasoning_tokens,
        ),
        metadata={_KEPT: kept},
    )


def _logprobs(tokens: Sequence[TokenAlternatives]) -> Any:
    from inspect_ai.model import Logprob, Logprobs, TopLogprob

    return Logprobs(
        content=[
            Logprob(
                token=entry.token,
                logprob=entry.logprob,
                top_logprobs=[
                    TopLogprob(token=token, logprob=value) for token, value in entry.top.items()
                ],
            )
            for entry in tokens
        ]
    )


def completion_of(output: ModelOutput) -> Completion:
    """Inspect's output as an answer."""
    choice = output.choices[0] if output.choices else None
    text, reasoning = _parts(choice.message.content if choice else "")
    usage = output.usage
    kept = (output.metadata or {}).get(_KEPT, {})
    stopped: dict[str, str] = {known: reason for reason, known in _STOPPED.items()}
    stopped["model_length"] = "length"
    refusal = kept.get("refusal")
    logprobs = choice.logprobs if choice else None
    return Completion(
        text="" if refusal and text == refusal else text,
        finish_reason=kept.get("finish_reason")
        or stopped.get(choice.stop_reason if choice else ""),
        usage=Usage()
        if usage is None
        else Usage(
            usage.input_tokens
            + (usage.input_tokens_cache_read or 0)
            + (usage.input_tokens_cache_write or 0),
            usage.output_tokens,
        ),
        logprobs=None
        if logprobs is None
        else tuple(
            TokenAlternatives(
                entry.token,
                entry.logprob,
                {
                    top_logprob.token: top_logprob.logprob
                    for top_logprob in entry.top_logprobs or ()
                },
            )
            for entry in logprobs.content
        ),
        reported_model=kept["reported_model"] if kept else output.model or None,
        refusal=refusal,
        reasoning=reasoning or None,
        reasoning_tokens=None if usage is None else usage.reasoning_tokens,
        tool_calls=tuple(kept.get("tool_calls", ()))
        or tuple(call.function for call in (choice and choice.message.tool_calls) or ()),
        sent=kept.get("sent"),
    )


def _parts(content: str | list[Any]) -> tuple[str, str]:
    """The text of a message, and what the model wrote for itself before it."""
    if isinstance(content, str):
        return content, ""
    texts = [part.text for part in content if part.type == "text"]
    thoughts = [part.reasoning for part in content if part.type == "reasoning"]
    return "".join(texts), "\n".join(thoughts)
