"""What tokens cost, by a table that the user can override."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from empathylab.errors import InputError
from empathylab.models.interface import Usage
from empathylab.models.providers import PROVIDERS


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    prompt: float
    completion: float

    def cost(self, usage: Usage) -> float:
        """What that many tokens cost, in dollars."""
        return (
            usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion
        ) / 1_000_000


FREE = Price(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Prices:
    """A table of prices by model name."""

    table: dict[str, Price]
    as_of: str

    def of(self, model: str) -> Price | None:
        """The model's price; models on one's own machines are free; None where unknown."""
        if model in self.table:
            return self.table[model]
        family = model.partition("/")[0]
        own = family in PROVIDERS and PROVIDERS[family].is_own_server
        return FREE if own or family in ("local", "scripted") else None

    @classmethod
    def load(cls, override: Path | None = None) -> Prices:
        """The built-in table, with the user's entries over it."""
        shipped = files("empathylab.models") / "prices.toml"
        prices = _read(shipped.read_text(encoding="utf-8"), "prices.toml")
        if override is None:
            return prices
        try:
            text = override.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                "the price file cannot be read",
                where=str(override),
                got=str(error),
                remedy="Check --prices.",
            ) from error
        own = _read(text, str(override))
        return cls(prices.table | own.table, own.as_of or prices.as_of)


def _read(text: str, where: str) -> Prices:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            "this is not valid TOML", where=where, got=str(error), remedy="Fix the file."
        ) from error
    rows = data.get("prices", {})
    if not isinstance(rows, dict):
        raise InputError("'prices' must be a table", where=where, remedy=_FORMAT)
    return Prices(
        {model: _price(row, where=f"{where}, {model}") for model, row in rows.items()},
        str(data.get("as_of", "")),
    )


_FORMAT = 'Write: "provider/name" = { prompt = 0.15, completion = 0.60 } under [prices].'


def _price(row: Any, *, where: str) -> Price:
    try:
        price = Price(float(row["prompt"]), float(row["completion"]))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            "a price needs numbers for 'prompt' and 'completion'",
            where=where,
            got=row,
            remedy=_FORMAT,
        ) from error
    if price.prompt < 0 or price.completion < 0:
        raise InputError("a price cannot be negative", where=where, got=row, remedy=_FORMAT)
    return price
