"""Settings that an endpoint refuses: dropped or renamed once, and remembered."""

from __future__ import annotations

import json
import re
from typing import Any

from empathylab.files import packaged_table

# A value out of range names the field, too, but must be fixed by the user.
_UNSUPPORTED = re.compile(
    r"unsupported|not support|n't support|unrecogni[sz]ed|unknown|unexpected|extra inputs|"
    r"extra fields|not permitted|not allowed|not available|not (?:a )?valid (?:field|parameter)|"
    r"no such (?:field|parameter)|cannot find field|only the default|deprecated|"
    r"additional propert|must be (?:set to )?true|is required|extra_forbidden|invalid parameter",
    re.IGNORECASE,
)


class Adjustments:
    """What one endpoint has refused so far, and what is sent instead."""

    def __init__(self) -> None:
        self._instead: dict[str, str | None] = {}
        self._set: dict[str, Any] = {}

    def __bool__(self) -> bool:
        return bool(self._instead or self._set)

    def apply(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The settings as this endpoint takes them."""
        adjusted = dict(settings)
        for name in list(adjusted):
            value = adjusted[name]
            current: str | None = name
            # This ends: `_drop` never renames to a name that has been refused itself.
            while current is not None and current in self._instead:
                current = self._instead[current]
            if current != name:
                del adjusted[name]
                if current is not None:
                    adjusted[current] = value
        return adjusted | self._set

    def learn(self, answer: bytes, settings: dict[str, Any]) -> bool:
        """Whether the refusal names a setting that was sent and can be sent otherwise."""
        text = answer.decode("utf-8", "replace")
        if not _UNSUPPORTED.search(text):
            return False
        rules = packaged_table("empathylab.models", "refused.toml")
        for name, value in rules["required"].items():
            if name not in settings and _names(text, name):
                self._set[name] = value
                return True
        refused = [name for name in settings if name in rules["instead"] and _names(text, name)]
        if not refused:
            return False
        # The field that the endpoint points to, or else the one that its message names first.
        refused.sort(key=lambda name: (name != _pointed_to(text), text.find(name)))
        self._drop(refused[0])
        return True

    def _drop(self, name: str) -> None:
        rules = packaged_table("empathylab.models", "refused.toml")
        for other in rules["instead"][name]:
            if other not in self._instead:
                self._instead[name] = other
                return
        self._instead[name] = None
        together = rules["together"].get(name)
        if together is not None:
            self._instead.setdefault(together, None)

    def __str__(self) -> str:
        parts = [
            f"{name} left out" if other is None else f"{name} sent as {other}"
            for name, other in self._instead.items()
        ]
        parts += [f"{name} set to {json.dumps(value)}" for name, value in self._set.items()]
        return ", ".join(parts)


def _names(text: str, name: str) -> bool:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|_", "[_ ]?", name)
    return re.search(rf"(?<![\w]){spaced}(?![\w])", text, re.IGNORECASE) is not None


def _pointed_to(text: str) -> str | None:
    """The parameter that the error names in a field of its own."""
    try:
        body = json.loads(text)
    except ValueError:
        return None
    error = body.get("error", body) if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return None
    detail = error.get("detail")
    if isinstance(detail, list) and detail and isinstance(detail[0], dict):
        place = detail[0].get("loc")
        return str(place[-1]) if isinstance(place, list) and place else None
    pointed = error.get("param")
    return str(pointed) if pointed else None
