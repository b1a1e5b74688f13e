"""The options of every call that asks models: what is sent, how fast, and at what cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from empathylab.errors import InputError, UnknownName

if TYPE_CHECKING:
    from empathylab.models import Model, Prices, RequestOptions
    from empathylab.runs import Batching, Job, Limits, Plan, Shard

Mode = Literal["structured", "free", "logprob"]
Api = Literal["openai", "anthropic", "gemini"]
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high"]


class RunKeywords(TypedDict, total=False):
    """The same options as keywords; `RunOptions` says what each means."""

    temperature: float | None
    seed: int
    fresh: bool
    base_url: str | None
    api_key_env: str | None
    api: Api | None
    max_tokens: int | None
    reasoning_effort: ReasoningEffort | None
    param: Mapping[str, Any]
    omit: Sequence[str]
    timeout: float
    attempts: int
    batch: bool
    concurrency: int | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    max_total_tokens: int | None
    max_cost: float | None
    prices: str | Path | None
    shard: str | None


@dataclass(frozen=True, slots=True)
class PartnerOptions:
    """Where a judge or a simulator is reached."""

    base_url: str | None = None
    """Default: the models' address, for one from their provider."""
    api_key_env: str | None = None
    """The variable with its key. Default: that of its provider, or of the models' address."""
    as_models: bool = False
    """Whether the models' extra settings are sent to it, too."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How models are asked."""

    temperature: float | None = None
    """The model's temperature. Default: 0 for scales and judges, 0.7 for replies."""
    seed: int = 1
    """Seed of every shuffle, and of the model."""
    fresh: bool = False
    """Ask everything again in new runs, not resuming any or reusing answers at temperature 0."""
    base_url: str | None = None
    """Another OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1."""
    api_key_env: str | None = None
    """The environment variable that holds the API key."""
    api: Api | None = None
    """The API of the endpoint. Default: the OpenAI-compatible one."""
    max_tokens: int | None = None
    """Maximum output tokens, including reasoning."""
    reasoning_effort: ReasoningEffort | None = None
    """How much the model reasons before it answers."""
    param: Mapping[str, Any] = field(default_factory=dict)
    """Extra settings, as the endpoint names them."""
    omit: Sequence[str] = ()
    """Settings not to send, such as seed."""
    timeout: float = 120.0
    """Seconds to wait for an answer."""
    attempts: int = 6
    """Maximum attempts when the endpoint fails."""
    batch: bool = False
    """Send the requests through the provider's batch API: half the price, within a day."""
    concurrency: int | None = None
    """Parallel requests per model."""
    requests_per_minute: float | None = None
    """Maximum requests per minute, per model."""
    tokens_per_minute: float | None = None
    """Maximum tokens per minute, per model."""
    max_total_tokens: int | None = None
    """Stop before a model's runs use more tokens, including earlier sessions."""
    max_cost: float | None = None
    """Stop before a model's runs cost more dollars, including earlier sessions."""
    prices: str | Path | None = None
    """A price table (TOML) that overrides the built-in one."""
    shard: str | None = None
    """Send only this part of the requests, such as 3/8; other machines send the others."""

    def __post_init__(self) -> None:
        if self.shard is not None:
            self._read_shard()  # wrong ones are refused before a model is opened

    @classmethod
    def of(cls, keywords: Mapping[str, Any]) -> RunOptions:
        """The options that a call was given as keywords."""
        known = {option.name for option in fields(cls)}
        for name in keywords:
            if name not in known:
                raise UnknownName("option", name, known)
        return cls(**keywords)

    def limits(self) -> Limits:
        """What the runner is allowed."""
        from empathylab.runs import Limits

        names = [option.name for option in fields(Limits)]
        return Limits(**{name: getattr(self, name) for name in names})

    def batching(self) -> Batching | None:
        """How batches are waited for, where they are wanted."""
        from empathylab.runs import Batching

        return Batching() if self.batch else None

    def price_table(self) -> Prices:
        """The price table, with the user's file over it."""
        from empathylab.models import Prices

        return Prices.load(None if self.prices is None else Path(self.prices))

    def open_models(
        self,
        models: Sequence[str | Model],
        *,
        partners: Sequence[str] = (),
        need_keys: bool = True,
    ) -> list[Model]:
        """The models of those names, each once; one that is open already stays as it is.

        `partners` are others that may use the same address.
        """
        from empathylab.models import open_model

        if not models:
            raise InputError("no model is named", remedy="Name one, such as local/smollm2.")
        self._check_base_url([*models, *partners])
        self.require_one_address(models)
        return [
            open_model(
                model,
                base_url=self.base_url,
                api_key_env=self.api_key_env,
                api=self.api,
                options=self._request_options(),
                need_key=need_keys,
            )
            if isinstance(model, str)
            else model
            for model in dict.fromkeys(models)
        ]

    def _request_options(self) -> RequestOptions:
        from empathylab.models import RequestOptions

        return RequestOptions(
            self.max_tokens, self.reasoning_effort, dict(self.param), frozenset(self.omit)
        )

    def require_one_address(self, models: Sequence[str | Model]) -> None:
        """Refuses to send the key of `api_key_env` to several providers."""
        from empathylab.models import PROVIDERS

        if self.api_key_env is None or self.base_url is not None:
            return
        families = {_provider(model) for model in models if isinstance(model, str)}
        if len(several := sorted(families & set(PROVIDERS))) > 1:
            raise InputError(
                "one API key cannot be used for several providers",
                where="--api-key-env",
                got=", ".join(several),
                remedy="Leave it out, so that each provider gets the key of its own variable, or "
                "name the models of one provider.",
            )

    def _check_base_url(self, models: Sequence[str | Model]) -> None:
        """Refuses an address that none of the models would use."""
        families = {_provider(model) for model in models if isinstance(model, str)}
        if self.base_url is not None and families <= {"local", "scripted"}:
            raise InputError(
                "a model that runs on this machine has no address",
                where="--base-url",
                got=self.base_url,
                remedy="Remove --base-url, or name a model of that server, such as mine/chat.",
            )

    def open_partner(
        self, name: str, partner: PartnerOptions, models: Sequence[str], *, need_key: bool = True
    ) -> Model:
        """A judge or a simulator, at its own address and with its own key.

        One from the models' provider, or from no known provider, shares the models' address. The
        models' key goes to no other address.
        """
        from empathylab.models import known_families, open_model

        family = _provider(name)
        related = family in map(_provider, models)
        shares = related or family not in known_families()
        base_url = partner.base_url or (self.base_url if shares else None)
        same = related if base_url is None else _same_address(base_url, self.base_url)
        return open_model(
            name,
            base_url=base_url,
            api_key_env=partner.api_key_env or (self.api_key_env if same else None),
            api=self.api if same else None,
            options=self._request_options() if partner.as_models else None,
            need_key=need_key,
        )

    def job(
        self, model: Model, plans: Sequence[Plan], partners: Mapping[str, Model] | None = None
    ) -> Job:
        """The plans for the model, under these options."""
        from empathylab.runs import Job

        return Job(
            model,
            plans,
            limits=self.limits(),
            fresh=self.fresh,
            partners=partners or {},
            batching=None if partners else self.batching(),
            shard=self._read_shard(),
        )

    def _read_shard(self) -> Shard:
        from empathylab.runs import Shard

        if self.shard is None:
            return Shard()
        if self.batch:
            raise InputError(
                "a batch cannot be divided into shards",
                where="--shard",
                got=self.shard,
                remedy="Leave out --batch or --shard.",
            )
        return Shard.read(self.shard)


def _same_address(first: str, second: str | None) -> bool:
    return second is not None and first.rstrip("/") == second.rstrip("/")


def _provider(model: str) -> str:
    return model.partition("/")[0]


def require_at_least(lowest: int, **values: int | None) -> None:
    """Raises InputError for a number below the lowest; the names are those of the arguments."""
    for name, value in values.items():
        if value is not None and value < lowest:
            raise InputError(
                f"the number must be {lowest} or more", where=name, got=value, remedy="Correct it."
            )


def listed(names: str | Sequence[str]) -> tuple[str, ...]:
    """The names, of which one may be given alone."""
    return (names,) if isinstance(names, str) else tuple(names)
