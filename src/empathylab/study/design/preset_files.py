"""Study files to begin with."""

from __future__ import annotations

from importlib.resources import files

from empathylab.errors import UnknownName

PRESETS = (
    "appraisal",
    "between-subjects",
    "chat",
    "norming",
    "peer",
    "recipient",
    "within-subjects",
)


def preset_text(name: str) -> str:
    """The YAML text of a preset, comments and all, to be written into the user's folder."""
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    folder = files("empathylab.study") / "presets"
    return (folder / f"{name}.yaml").read_text(encoding="utf-8")
