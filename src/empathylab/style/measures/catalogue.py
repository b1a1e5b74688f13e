"""The features by name: what each one counts or measures."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Literal, NamedTuple

Kind = Literal["count", "measure"]


class Feature(NamedTuple):
    """What a feature is."""

    kind: Kind
    """A count is given per response and per 100 words; a measure has a mean only."""
    meaning: str


_FILE = files("empathylab.style.measures") / "features.toml"
FEATURES = {
    name: Feature(**row) for name, row in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()
}
"""Every feature that `features` gives without a user's lexicon, in order."""
