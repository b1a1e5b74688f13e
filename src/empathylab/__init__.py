"""EmpathyLab measures how empathetic a language model is.

`open_lab` opens a lab, in which models are measured, and whose data can be read and analysed.
`from_table` analyses a table of your own. `stats` and `style` are functions on plain frames.

>>> import empathylab as el
>>> el.stats.cronbach_alpha([[4, 5], [2, 2], [3, 4], [1, 2]]).estimate > 0.9
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from empathylab import errors, stats, style
    from empathylab.api import (
        Lab,
        RunOptions,
        Table,
        from_table,
        load_study,
        open_lab,
        to_pandas,
    )

__all__ = [
    "Lab",
    "RunOptions",
    "Table",
    "__version__",
    "errors",
    "from_table",
    "load_study",
    "open_lab",
    "stats",
    "style",
    "to_pandas",
]

__version__ = "0.2.0"

_PACKAGES = ("errors", "stats", "style")


def __getattr__(name: str) -> Any:
    # Loaded when first used: importing the package takes milliseconds.
    if name in _PACKAGES:
        return import_module(f"empathylab.{name}")
    if name in __all__:
        return getattr(import_module("empathylab.api"), name)
    raise AttributeError(f"module 'empathylab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
