"""From a name such as `openai/gpt-4o-mini` to a model that can be asked."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

from empathylab.compute import chosen
from empathylab.errors import InputError, ModelError, ModelSetup, UnknownName, UserError
from empathylab.models.apis import AnthropicMessages, ChatApi, GeminiContent, OpenAiChat
from empathylab.models.endpoint import EndpointModel
from empathylab.models.inspect_chats import FAMILY, InspectModel, require_inspect
from empathylab.models.interface import Model
from empathylab.models.local import LocalModel
from empathylab.models.providers import PROVIDERS, ApiName, Provider
from empathylab.models.replicas import ReplicatedModel
from empathylab.models.request_options import RequestOptions
from empathylab.models.scripted import ScriptedModel
from empathylab.models.weights import KNOWN_WEIGHTS, known_weights
from empathylab.plugins import plugin_part, plugins, require_function, require_new

DEFAULT_MODEL = "local/smollm2"
_FAMILIES = {"local", "scripted", FAMILY, *PROVIDERS}
OpenPlugin = Callable[[str, RequestOptions | None], Model]
"""What a package offers as `empathylab.models`: a model by its whole name, `provider/name`."""


def open_model(
    name: str,
    *,
    base_url: str | None = None,
    api_key_env: str | None = None,
    api: ApiName | None = None,
    options: RequestOptions | None = None,
    need_key: bool = True,
) -> Model:
    """The model of that name; nothing is started and nothing is sent yet.

    Without `need_key` a missing key is no error: enough to say what a run would cost.
    """
    family, _, rest = name.partition("/")
    added = family not in _FAMILIES and base_url is None
    if added and family not in plugins("models"):
        raise _unknown(name)
    if not rest:
        raise InputError(
            "a model must be written as provider/name",
            got=name,
            remedy=f"For example {DEFAULT_MODEL} or {PROVIDERS['openai'].example}.",
        )
    if added:
        return plugin_part("models", family, model_plugin)(name, options)
    if family == "local":
        return _local(name, rest, options)
    if family == "scripted":
        return _scripted(name, rest)
    if family == FAMILY and base_url is None:
        require_inspect(f"a model of Inspect ({name})")
        return InspectModel(name, options=options)
    return _endpoint(name, family, rest, base_url, api_key_env, api, options, need_key)


def model_plugin(name: str, part: OpenPlugin) -> OpenPlugin:
    """The plugin's function that opens a model; an error where it cannot be one."""
    require_new(name, _FAMILIES)
    require_function(name, part)
    return part


def known_families() -> set[str]:
    """What can stand before the slash without an address."""
    return {*_FAMILIES, *plugins("models")}


def _unknown(name: str) -> UserError:
    family, _, rest = name.partition("/")
    known = known_families()
    if not rest and family in KNOWN_WEIGHTS:
        return InputError(
            "a model must be written as provider/name",
            got=name,
            remedy=f"Did you mean 'local/{family}'?",
        )
    return UnknownName(
        "provider",
        family,
        known,
        remedy=(
            "Write a model as provider/name; any other endpoint needs --base-url. See: "
            "empathylab models"
        ),
    )


def _local(name: str, rest: str, options: RequestOptions | None) -> Model:
    """The model on this machine, or copies of it on the Ray cluster that was chosen."""
    engine, copies = chosen()
    here = partial(_on_this_machine, name, rest, options)
    return here(None) if engine == "processes" else ReplicatedModel(here, engine, copies)


def _on_this_machine(
    name: str, rest: str, options: RequestOptions | None, threads: int | None
) -> LocalModel:
    if rest.endswith(".gguf"):
        path = Path(rest).expanduser()
        if not path.is_file():
            raise ModelSetup(
                "there is no such model file", where=name, got=str(path), remedy="Check the path."
            )
        return LocalModel(name, path, options=options, threads=threads)
    if rest not in KNOWN_WEIGHTS:
        raise UnknownName(
            "embedded model", rest, KNOWN_WEIGHTS, remedy="Any other file: local/PATH.gguf"
        )
    weights = known_weights(rest)
    if not weights.installed:
        raise ModelSetup(
            f"the weights of {weights.title} are not installed",
            where=name,
            remedy=f"Run: empathylab models install {rest}",
        )
    return LocalModel(name, weights.path, options=options, threads=threads)


def _endpoint(
    name: str,
    family: str,
    model: str,
    base_url: str | None,
    api_key_env: str | None,
    api: ApiName | None = None,
    options: RequestOptions | None = None,
    need_key: bool = True,
) -> EndpointModel:
    provider = PROVIDERS.get(family)
    address = base_url or (provider and _base_url(provider))
    assert address  # noqa: S101 - an unknown family without an address was refused before
    _check_address(name, address)
    # A provider's own key is never sent to an address that the user gave.
    key_env = api_key_env or (provider.key_env if provider and base_url is None else None)
    key = os.environ.get(key_env, "").strip() if key_env else None
    if key_env and not key and need_key:
        raise ModelSetup(
            f"the environment variable {key_env} is not set",
            where=name,
            remedy=f"Run: export {key_env}=… (EmpathyLab reads keys from the environment only).",
        )
    # An address of the user's own speaks the OpenAI-compatible API unless they say otherwise.
    spoken = api or (provider.api if provider and base_url is None else "openai")
    return EndpointModel(
        name,
        model=model,
        base_url=address,
        key=key,
        key_env=key_env,
        api=_api(spoken, provider),
        options=options,
    )


def _api(name: ApiName, provider: Provider | None) -> ChatApi:
    if name == "anthropic":
        return AnthropicMessages()
    if name == "gemini":
        return GeminiContent()
    if provider is None:
        return OpenAiChat()
    return OpenAiChat(provider.max_tokens_field, provider.seed_field)


def _check_address(name: str, address: str) -> None:
    """Refuses what is no address, and secrets in it: an address is stored and shown."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host:
        local = re.match(r"(localhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\])(:\d+)?(/|$)", address)
        bare = re.match(r"[\w.-]+\.?[\w-]*(:\d+)?(/|$)", address)
        suggested = f"{'http' if local else 'https'}://{address.rstrip('/')}"
        if suggested.count("/") < 3:
            suggested += "/v1"
        raise InputError(
            "the model's address must begin with http:// or https://",
            where="--base-url",
            got=address,
            remedy=f"Write --base-url {suggested}"
            if local or bare
            else "Write it as http://HOST:PORT/v1.",
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            "the address must not contain a user, a key or a query",
            where=name,
            remedy="Give the plain address, and the key with --api-key-env.",
        )


def _base_url(provider: Provider) -> str:
    moved = os.environ.get(provider.base_url_env) if provider.base_url_env else None
    return moved or provider.base_url


def _imported(module: str) -> ModuleType:
    """An installed module, or one in this folder, which an installed command does not search."""
    here = str(Path.cwd())
    sys.path.append(here)
    try:
        return importlib.import_module(module)
    finally:
        sys.path.remove(here)


def _scripted(name: str, rest: str) -> ScriptedModel:
    """Answers from a text file (one per line), a JSON list, or `module:function`."""
    module, _, attribute = rest.partition(":")
    if attribute:
        try:
            return ScriptedModel(getattr(_imported(module), attribute), name=name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ModelSetup(
                "the script cannot be imported",
                where=name,
                got=str(error),
                remedy=f"Write the function {attribute} in {module}.py in this folder.",
            ) from error
    try:
        text = Path(rest).read_text(encoding="utf-8")
        answers = json.loads(text) if rest.endswith(".json") else text.splitlines()
    except (OSError, ValueError) as error:
        raise ModelSetup(
            "the file of scripted answers cannot be read",
            where=name,
            got=str(error),
            remedy="Give a text file with one answer per line, or a JSON list.",
        ) from error
    if not isinstance(answers, list):
        raise ModelSetup("the script must be a JSON list", where=name, remedy='Write ["…"].')
    if not answers:
        raise ModelSetup("the script contains no answers", where=name, remedy="Add one.")
    return ScriptedModel([str(answer) for answer in answers], name=name)


@dataclass(frozen=True, slots=True)
class Reachability:
    """Whether a family of models can be used now, and what to do where not."""

    provider: str
    ready: bool
    detail: str
    example: str


def embedded_reachability() -> list[Reachability]:
    """The embedded models, looked up on disk."""
    states = []
    for weights in KNOWN_WEIGHTS.values():
        name = f"local/{weights.name}"
        if importlib.util.find_spec("xllamacpp") is None:
            state = Reachability(name, False, "run: pip install 'empathylab[local]'", name)
        elif not weights.installed:
            remedy = f"run: empathylab models install {weights.name}"
            state = Reachability(name, False, remedy, name)
        else:
            state = Reachability(name, True, f"{weights.title}, installed", name)
        states.append(state)
    return states


async def provider_reachability(provider: Provider, *, timeout: float) -> Reachability:
    """One provider, asked for its list of models where a key is set."""

    def state(ready: bool, detail: str) -> Reachability:
        return Reachability(provider.name, ready, detail, provider.example)

    if provider.key_env and not os.environ.get(provider.key_env):
        return state(False, f"set {provider.key_env}")
    model = _endpoint(provider.example, provider.name, "any", None, None)
    try:
        served = await model.list_models(timeout=timeout)
    except UserError as error:
        return state(False, f"{error.what}. {error.remedy}")
    except ModelError:
        remedy = (
            f"no server at {model.base_url}; start it, or set {provider.base_url_env}"
            if provider.base_url_env
            else f"no answer from {model.base_url}; check the network"
        )
        return state(False, remedy)
    finally:
        await model.close()
    return state(True, f"{len(served)} models at {model.base_url}")
