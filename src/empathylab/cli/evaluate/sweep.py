"""`empathylab evaluate sweep.yaml`: many ways of asking many models, from one file."""

from __future__ import annotations

import dataclasses
from itertools import product
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from empathylab.api.evaluation.gates import GateOptions
from empathylab.api.evaluation.measurement import Combination, JudgeOptions
from empathylab.api.run_options import RunOptions
from empathylab.cli.evaluate.gate_options import proportion
from empathylab.file_models import FileModel, Number, Whole, Words, validate, wrong
from empathylab.files import read_text
from empathylab.yaml_documents import read_yaml

_LIMITS = (
    *("base_url", "api_key_env", "max_tokens", "reasoning_effort"),
    *("concurrency", "requests_per_minute", "tokens_per_minute", "max_total_tokens", "max_cost"),
)


class SweepModel(FileModel):
    """A model, its address and what it may use."""

    name: Words
    base_url: Words | None = None
    api_key_env: Words | None = None
    max_tokens: Whole | None = Field(default=None, ge=1)
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high"] | None = None
    concurrency: Whole | None = Field(default=None, ge=1)
    requests_per_minute: Number | None = None
    tokens_per_minute: Number | None = None
    max_total_tokens: Whole | None = Field(default=None, ge=1)
    max_cost: Number | None = None

    def options(self, shared: RunOptions) -> RunOptions:
        """The command's options, with what the file says of this model in their place."""
        own = {name: getattr(self, name) for name in _LIMITS}
        if self.base_url not in (None, shared.base_url):
            # The command's key is for the command's address, not for another one.
            shared = dataclasses.replace(shared, api_key_env=None)
        return dataclasses.replace(shared, **{k: v for k, v in own.items() if v is not None})


class SweepGates(FileModel):
    """The conditions of a release gate, as in the options of the same names."""

    fail_under: dict[str, Number] = Field(default_factory=dict)
    max_unusable: Words | None = None
    baseline: Words | None = None
    no_worse_than: Number | None = None
    allow_missing_baseline: bool = False


class Sweep(FileModel):
    """The file: every model is asked in every combination of the lists."""

    models: tuple[SweepModel, ...] = Field(min_length=1)
    scales: tuple[Words, ...] = Field(default=("panas",), min_length=1)
    templates: tuple[Words, ...] = ()
    """Of replies; the usual one if left out."""
    modes: tuple[Literal["structured", "free", "logprob"], ...] = Field(
        default=("structured",), min_length=1
    )
    temperatures: tuple[Number, ...] = ()
    """For scales and replies; 0 and 0.7 if left out."""
    seeds: tuple[Whole, ...] = Field(default=(1,), min_length=1)
    situations: Whole = Field(default=3, ge=1)
    """To imagine before a scale, for each emotion."""
    replies: Whole = Field(default=1, ge=1)
    """Situations to reply to, for each emotion."""
    language: Words | None = None
    """Of prompts, situations and scales; English if left out."""
    judge: Words | None = None
    judge_base_url: Words | None = None
    judge_api_key_env: Words | None = None
    gates: SweepGates = SweepGates()

    @field_validator("models", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        """A model may be its name alone."""
        if not isinstance(value, list):
            return value
        return [{"name": entry} if isinstance(entry, str) else entry for entry in value]

    @field_validator("models")
    @classmethod
    def _once(cls, models: tuple[SweepModel, ...]) -> tuple[SweepModel, ...]:
        names = [model.name for model in models]
        for place, name in enumerate(names):
            if name in names[:place]:
                raise wrong("a model that is listed once", "Remove one of the two.", got=name)
        return models

    @field_validator("temperatures")
    @classmethod
    def _warm(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        if any(value < 0 for value in values):
            raise wrong("a list of numbers from 0 up")
        return values

    def combinations(self) -> list[Combination]:
        """Every way of asking."""
        temperatures: tuple[float | None, ...] = self.temperatures or (None,)
        templates: tuple[str | None, ...] = self.templates or (None,)
        return [
            Combination(
                self.situations,
                mode,
                scale,
                temperature,
                seed,
                template,
                self.language,
                self.replies,
            )
            for scale, template, mode, temperature, seed in product(
                self.scales, templates, self.modes, temperatures, self.seeds
            )
        ]

    def gate_options(self) -> GateOptions:
        """The gates as options."""
        gates, unusable = self.gates, self.gates.max_unusable
        return GateOptions(
            gates.fail_under,
            None if unusable is None else proportion(unusable),
            gates.baseline,
            gates.no_worse_than,
            gates.allow_missing_baseline,
        )

    def judge_options(self, planted: int | None) -> JudgeOptions:
        """Who scores the replies."""
        return JudgeOptions(self.judge, self.judge_base_url, planted, self.judge_api_key_env)


def read_sweep(path: Path) -> Sweep:
    """The sweep in a YAML file, checked; errors name the line."""
    text = read_text(path)
    return validate(
        Sweep, read_yaml(text, file=path.name, what="sweep file", empty="List models in it.")
    )
