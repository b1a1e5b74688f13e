"""An OpenAI-compatible endpoint, asked for real on loopback."""

from __future__ import annotations

import asyncio
import time
from email.utils import formatdate

import pytest

from empathylab.errors import (
    EndpointUnreachable,
    ModelSetup,
    ModelUnavailable,
    RateLimited,
    RequestRejected,
)
from empathylab.models import Completion, EndpointModel, Message, Parameters, Usage
from empathylab.models.apis import AnthropicMessages, GeminiContent, OpenAiChat
from empathylab.models.endpoint import seconds_to_wait
from tests.helpers.endpoint import Served, served


def ask(
    base_url: str,
    text: str,
    parameters: Parameters | None = None,
    *,
    key: str | None = None,
    timeout: float = 5,
    api: OpenAiChat | None = None,
) -> Completion:
    async def once() -> Completion:
        model = EndpointModel(
            "test/one",
            model="one",
            base_url=base_url,
            key=key,
            api=api,
        )
        try:
            return await model.complete(
                (Message("user", text),), parameters or Parameters(), timeout=timeout
            )
        finally:
            await model.close()

    return asyncio.run(once())


def test_an_answer_comes_with_its_usage_and_the_reported_version(endpoint: Served) -> None:
    answer = ask(endpoint.base_url, "hello")
    assert answer.text == "Answer to: hello"
    assert answer.finish_reason == "stop"
    assert answer.reported_model == "one-2026-01-01"
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (10, 3)


def test_only_settings_that_were_made_are_sent(endpoint: Served) -> None:
    ask(endpoint.base_url, "hello")
    assert set(endpoint.counts()["last"]) == {"model", "messages"}


def test_all_settings_are_sent(endpoint: Served) -> None:
    schema = {"type": "object"}
    wanted = Parameters(
        temperature=0.5, top_p=0.9, max_tokens=7, seed=3, top_logprobs=5, schema=schema
    )
    ask(endpoint.base_url, "hello", wanted, api=OpenAiChat("max_completion_tokens"))
    sent = endpoint.counts()["last"]
    assert (sent["temperature"], sent["top_p"], sent["seed"]) == (0.5, 0.9, 3)
    assert (sent["logprobs"], sent["top_logprobs"]) == (True, 5)
    assert sent["max_completion_tokens"] == 7
    assert sent["response_format"]["json_schema"]["schema"] == schema


def test_a_refusal_that_the_endpoint_marks_is_kept_apart(endpoint: Served) -> None:
    answer = ask(endpoint.base_url, "[refuse]")
    assert (answer.text, answer.refusal) == ("", "I will not.")


@pytest.mark.parametrize(
    ("order", "error", "sentence"),
    [
        ("[fail 401]", ModelSetup, "refuses access"),
        ("[fail 403]", ModelSetup, "refuses access"),
        ("[fail 404]", ModelSetup, "does not have this model"),
        ("[fail 400]", RequestRejected, "asked to fail with 400"),
        ("[fail 503]", ModelUnavailable, "HTTP 503"),
        ("[truncate]", ModelUnavailable, "not a chat completion"),
        ("[drop]", ModelUnavailable, "connection broke"),
    ],
)
def test_failures_become_errors_of_the_tree(
    endpoint: Served, order: str, error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        ask(endpoint.base_url, order)


def test_a_rate_limit_carries_how_long_to_wait(endpoint: Served) -> None:
    with pytest.raises(RateLimited) as caught:
        ask(endpoint.base_url, "[limit 17]")
    assert caught.value.retry_after == 17


def test_a_date_to_retry_after_is_read_as_seconds() -> None:
    assert seconds_to_wait(formatdate(time.time() + 30, usegmt=True)) == pytest.approx(30, abs=2)
    assert seconds_to_wait("soon") is None
    assert seconds_to_wait(None) is None


def test_a_stall_ends_at_the_time_out(endpoint: Served) -> None:
    with pytest.raises(ModelUnavailable, match="no answer within 0.3 s"):
        ask(endpoint.base_url, "[stall]", timeout=0.3)


def test_nobody_there_is_said(endpoint: Served) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        ask("http://127.0.0.1:1/v1", "hello")
    assert caught.value.kind == "unreachable"


def test_an_address_that_is_no_url_is_the_users_to_fix() -> None:
    with pytest.raises(EndpointUnreachable, match="--base-url"):
        ask("not a url", "hello")


def test_the_key_is_sent_and_never_shown() -> None:
    with served(key="s3cret-key") as endpoint:
        assert ask(endpoint.base_url, "hello", key="s3cret-key").text
        with pytest.raises(ModelSetup) as caught:
            ask(endpoint.base_url, "hello", key="another-s3cret")
    assert "s3cret" not in str(caught.value)
    assert "[key]" in str(caught.value)
    model = EndpointModel("test/one", model="one", base_url="http://x", key="s3cret-key")
    assert "s3cret" not in repr(model) + model.identity


def test_the_list_of_models_is_read(endpoint: Served) -> None:
    async def listed() -> list[str]:
        model = EndpointModel("test/one", model="one", base_url=endpoint.base_url)
        try:
            return await model.list_models(timeout=60)
        finally:
            await model.close()

    assert asyncio.run(listed()) == ["one", "two"]


def test_gemini_counts_thoughts_as_written_tokens() -> None:
    body = {
        "candidates": [{"content": {"parts": [{"text": "Hello."}]}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": 25,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 100,
        },
    }
    read = GeminiContent().read(body)
    assert (read.usage, read.reasoning_tokens) == (Usage(25, 120), 100)


def test_anthropic_counts_cached_tokens_as_read() -> None:
    usage = {"input_tokens": 5, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 200}
    body = {"content": [{"type": "text", "text": "Hello."}], "usage": usage | {"output_tokens": 7}}
    assert AnthropicMessages().read(body).usage == Usage(235, 7)
