"""The options of every call that asks models: what is sent, how fast, and at what cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from empathylab.errors import InputError, UnknownName

if TYPE_CHECKING:
    from empathylab.models import Model, Prices
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
class RunOptions:
    """How models are asked."""

    temperature: float | None = None
    """The model's temperature. Default: 0 for scales and judges, 0.7 for replies."""
    seed: int = 1
    """Seed of every shuffle, and of the model."""
    fresh: bool = False
    """Ask everything again, instead of resuming or reusing answers at temperature 0."""
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

    def open_models(self, models: Sequence[str | Model], *, need_keys: bool = True) -> list[Model]:
        """The models of those names, each once; one that is open already stays as it is."""
        from empathylab.models import RequestOptions, open_model

        if not models:
            raise InputError("no model is named", remedy="Name one, such as local/smollm2.")
        self._check_base_url(models)
        options = RequestOptions(
            self.max_tokens, self.reasoning_effort, dict(self.param), frozenset(self.omit)
        )
        return [
            open_model(
                model,
                base_url=self.base_url,
                api_key_env=self.api_key_env,
                api=self.api,
                options=options,
                need_key=need_keys,
            )
            if isinstance(model, str)
            else model
            for model in dict.fromkeys(models)
        ]

    def _check_base_url(self, models: Sequence[str | Model]) -> None:
        """Refuses an address that none of the models would use."""
        families = {model.partition("/")[0] for model in models if isinstance(model, str)}
        if self.base_url is not None and families <= {"local", "scripted"}:
            raise InputError(
                "a model that runs on this machine has no address",
                where="--base-url",
                got=self.base_url,
                remedy="Remove --base-url, or name a model of that server, such as mine/chat.",
            )

    def open_judge(self, name: str, base_url: str | None, judged: Sequence[str]) -> Model:
        """The judge at its own address; at that of the models where it is of their provider."""
        from empathylab.models import open_model

        providers = {model.partition("/")[0] for model in judged}
        if base_url is None and name.partition("/")[0] in providers:
            base_url = self.base_url
        return open_model(name, base_url=base_url, api_key_env=self.api_key_env)

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
