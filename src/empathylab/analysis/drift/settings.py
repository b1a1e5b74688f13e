"""What differed in how the two occasions measured: models, prompts, scales, situations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from empathylab.analysis.drift.occasions import Occasion

# Named by the run itself, or reported elsewhere.
_NOT_SETTINGS = {"model", "scale_fingerprint"}


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting that was not the same on both occasions."""

    respondent: str
    protocol: str
    """`appraise` or `respond`, with the scale or set; empty for what both protocols use."""
    setting: str
    before: str
    after: str


def setting_changes(before: Occasion, after: Occasion) -> Iterator[SettingChange]:
    """Every setting that differs between runs of the same respondent and instrument."""
    there = _by_instrument(after.runs)
    for key, run in _by_instrument(before.runs).items():
        if key in there:
            yield from _differences(key, run, there[key])
    yield from _versions(before.set_versions, after.set_versions, "set")


def _by_instrument(runs: pl.DataFrame) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Runs by respondent, protocol and instrument, whatever the instrument's version."""
    by_instrument = {}
    for row in runs.iter_rows(named=True):
        settings = json.loads(row["settings"])
        instrument = str(settings.get("scale") or settings.get("situations") or "")
        key = (row["respondent"], row["protocol"], instrument.split(" (")[0])
        by_instrument[key] = {
            **_flat(settings),
            "reported model": row["reported_model"],
            "software": row["software"],
        }
    return by_instrument


def _flat(settings: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if not prefix and name in _NOT_SETTINGS:
            continue
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _differences(
    key: tuple[str, str, str], before: dict[str, Any], after: dict[str, Any]
) -> Iterator[SettingChange]:
    respondent, protocol, instrument = key
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name), after.get(name)
        if one != other:
            which = f"{protocol} {instrument}".strip()
            yield SettingChange(respondent, which, name, *_both(one, other))


def _both(before: Any, after: Any) -> tuple[str, str]:
    """The two values as text; of long lists the length, and how many entries are new or gone."""
    if isinstance(before, list) and isinstance(after, list):
        gone, new = len(set(before) - set(after)), len(set(after) - set(before))
        return f"{len(before)}, {gone} of them gone", f"{len(after)}, {new} of them new"
    return _text(before), _text(after)


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _versions(before: pl.DataFrame, after: pl.DataFrame, what: str) -> Iterator[SettingChange]:
    """Instruments of one name that are not the same in both labs."""
    there = _newest(after, what)
    for name, (version, mark) in _newest(before, what).items():
        other = there.get(name)
        if other is not None and other != (version, mark):
            yield SettingChange(
                "",
                "",
                f"{what} {name}",
                f"version {version} ({mark[:8]})",
                f"version {other[0]} ({other[1][:8]})",
            )


def _newest(frame: pl.DataFrame, what: str) -> dict[str, tuple[int, str]]:
    ordered = frame.sort(what, "version")
    return {
        row[what]: (row["version"], row["fingerprint"]) for row in ordered.iter_rows(named=True)
    }
