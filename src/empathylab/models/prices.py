"""What tokens cost, by a table that the user can override."""

from __future__ import annotations

import math
import os
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import platformdirs

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
        """The built-in table, with the one that was installed and the user's entries over it."""
        shipped = files("empathylab.models") / "prices.toml"
        prices = _read(shipped.read_text(encoding="utf-8"), "prices.toml")
        own = [installed_prices()] if installed_prices().is_file() else []
        for file in [*own, *([override] if override else [])]:
            over = _read_file(file)
            prices = cls(prices.table | over.table, over.as_of or prices.as_of)
        return prices


def installed_prices() -> Path:
    """Where `models update-prices` keeps a table."""
    chosen = os.environ.get("EMPATHYLAB_CONFIG")
    folder = Path(chosen) if chosen else platformdirs.user_config_path("empathylab")
    return folder / "prices.toml"


def install_prices(file: Path) -> Prices:
    """The table of that file, checked and kept for all later commands."""
    prices = _read_file(file)
    if not prices.table or not prices.as_of:
        raise InputError(
            "the table needs prices and their date",
            where=str(file),
            remedy=f'Write as_of = "2026-11-01" at the top. {_FORMAT}',
        )
    target = installed_prices()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(".part")
        part.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
        part.replace(target)
    except OSError as error:
        raise InputError(
            "the price table cannot be saved",
            where=str(target),
            got=error.strerror,
            remedy="Set EMPATHYLAB_CONFIG to a folder you can write to, or use --prices.",
        ) from error
    return prices


def _read_file(file: Path) -> Prices:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            "the price file cannot be read",
            where=str(file),
            got=str(error),
            remedy="Check the path, such as that of --prices.",
        ) from error
    return _read(text, str(file))


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
    if not all(0 <= dollars < math.inf for dollars in (price.prompt, price.completion)):
        raise InputError(
            "a price must be a number and cannot be negative",
            where=where,
            got=row,
            remedy=_FORMAT,
        )
    return price
