"""From names to models, and what is said where that fails."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from empathylab.errors import InputError, ModelSetup, UnknownName
from empathylab.models import (
    PROVIDERS,
    EndpointModel,
    LocalModel,
    ScriptedModel,
    embedded_reachability,
    open_model,
    provider_reachability,
)
from tests.helpers.endpoint import Served


def test_every_named_provider_can_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        if provider.key_env:
            monkeypatch.setenv(provider.key_env, "a-key")
        model = open_model(provider.example)
        assert isinstance(model, EndpointModel)
        assert model.base_url == provider.base_url
        assert model.name == provider.example


def test_the_ten_providers_of_the_documentation_are_there() -> None:
    expected = "anthropic google groq llama-cpp mistral ollama openai openrouter together vllm"
    assert sorted(PROVIDERS) == expected.split()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("opnai/gpt-4o", "there is no provider 'opnai'. Did you mean 'openai'"),
        (
            "smollm2",
            (
                "a model must be written as provider/name; got 'smollm2'. "
                "Did you mean 'local/smollm2'?"
            ),
        ),
        ("local/smolm2", "there is no embedded model 'smolm2'. Did you mean 'smollm2'?"),
        ("local/nowhere.gguf", "there is no such model file; got 'nowhere.gguf'"),
        ("openai/gpt-4o", "the environment variable OPENAI_API_KEY is not set"),
        ("openai", "a model must be written as provider/name"),
        ("scripted/nowhere.txt", "cannot be read"),
        ("scripted/nowhere:function", "cannot be imported"),
    ],
)
def test_a_name_that_cannot_be_opened_is_one_sentence(name: str, sentence: str) -> None:
    with pytest.raises((UnknownName, ModelSetup, InputError)) as caught:
        open_model(name)
    assert sentence in str(caught.value)


def test_any_name_works_with_an_address() -> None:
    model = open_model("mine/some/model", base_url="http://127.0.0.1:9/v1")
    assert isinstance(model, EndpointModel)
    assert (model.model, model.base_url) == ("some/model", "http://127.0.0.1:9/v1")


@pytest.mark.parametrize("address", ["http://me:secret@127.0.0.1/v1", "http://x/v1?key=secret"])
def test_an_address_with_a_key_in_it_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="--api-key-env") as caught:
        open_model("mine/model", base_url=address)
    assert "secret" not in str(caught.value)


def test_a_script_that_is_no_list_is_refused(tmp_path: Path) -> None:
    (tmp_path / "n.json").write_text("3")
    with pytest.raises(ModelSetup, match="must be a JSON list"):
        open_model(f"scripted/{tmp_path / 'n.json'}")


def test_a_providers_key_is_not_sent_to_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    model = open_model("openai/gpt-4o", base_url="http://127.0.0.1:9/v1")
    assert isinstance(model, EndpointModel)
    assert model._key is None


def test_a_key_variable_of_ones_own_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "mine")
    model = open_model("x/y", base_url="http://127.0.0.1:9/v1", api_key_env="MY_KEY")
    assert isinstance(model, EndpointModel)
    assert model._key == "mine"


def test_a_key_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(ModelSetup, match="MY_KEY is not set"):
        open_model("x/y", base_url="http://127.0.0.1:9/v1", api_key_env="MY_KEY")


def test_ones_own_server_can_be_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9/v1")
    model = open_model("ollama/llama3.2")
    assert isinstance(model, EndpointModel)
    assert model.base_url == "http://127.0.0.1:9/v1"


def test_any_gguf_file_is_a_local_model(tmp_path: Path) -> None:
    file = tmp_path / "own.gguf"
    file.write_bytes(b"GGUF")
    model = open_model(f"local/{file}")
    assert isinstance(model, LocalModel)
    assert "own.gguf, 4 bytes, " in model.identity


def test_the_embedded_model_without_weights_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMPATHYLAB_CACHE", str(tmp_path))
    with pytest.raises(ModelSetup, match="empathylab models install smollm2"):
        open_model("local/smollm2")
    [state] = embedded_reachability()
    assert not state.ready
    assert "models install smollm2" in state.detail


def test_scripted_answers_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "a.json").write_text('["three"]')
    for name in ("a.txt", "a.json"):
        assert isinstance(open_model(f"scripted/{tmp_path / name}"), ScriptedModel)


def test_a_provider_without_its_key_says_which_to_set() -> None:
    state = asyncio.run(provider_reachability(PROVIDERS["mistral"], timeout=1))
    assert (state.ready, state.detail) == (False, "set MISTRAL_API_KEY")


def test_a_server_that_runs_is_ready(endpoint: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", endpoint.base_url)
    state = asyncio.run(provider_reachability(PROVIDERS["vllm"], timeout=60))
    assert state.ready
    assert "2 models" in state.detail


def test_a_server_that_does_not_run_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:1/v1")
    state = asyncio.run(provider_reachability(PROVIDERS["vllm"], timeout=5))
    assert not state.ready
    assert "no server at http://127.0.0.1:1/v1; start it, or set VLLM_BASE_URL" in state.detail
