"""What other packages add to EmpathyLab, through entry points.

A package names its parts in its pyproject.toml:

    [project.entry-points."empathylab.scales"]
    mine = "my_package.scales:scales"

Nothing is imported before it is needed. A plugin that fails is named and skipped.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from empathylab.errors import UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS = ("models", "scales", "protocols", "blocks", "judges", "exports")
"""The entry points are called `empathylab.models`, and so on."""

Part = TypeVar("Part")


class BrokenPlugin(UserError):
    """A plugin cannot be imported, or is not what its group needs."""


class PluginWarning(UserWarning):
    """A broken plugin was skipped."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A part that a package adds."""

    group: str
    name: str
    package: str
    version: str
    target: str
    """`module:attribute`"""


def plugins(group: str) -> dict[str, Plugin]:
    """The installed plugins of the group by name; of two with one name the first."""
    return {name: _described(entry, group) for name, entry in _entries(group).items()}


def plugin_part(group: str, name: str, read: Callable[[str, Any], Part]) -> Part:
    """The plugin of that name, imported and read by its group's function."""
    entry = _entries(group)[name]
    try:
        return read(name, entry.load())
    except Exception as error:  # anything can go wrong in other people's code
        message = f"{type(error).__name__}: {error}"
        package = _described(entry, group).package
        raise BrokenPlugin(
            f"the plugin {name!r} ({group}) of the package {package} is broken",
            got=str(error) if isinstance(error, UserError) else message,
            remedy=f"Update or fix it, or run: pip uninstall {package}",
        ) from error


def plugin_parts(group: str, read: Callable[[str, Any], Part]) -> dict[str, Part]:
    """All plugins of the group by name; a broken one is named in a warning and skipped."""
    found = {}
    for name in _entries(group):
        try:
            found[name] = plugin_part(group, name, read)
        except BrokenPlugin as error:
            warnings.warn(f"Skipped: {error}", PluginWarning, stacklevel=2)
    return found


def require_new(name: str, known: Iterable[str]) -> None:
    """Raises where a plugin has the name of something that EmpathyLab ships."""
    if name in known:
        raise ValueError(f"EmpathyLab itself has a {name!r}; choose another name")


def require_function(name: str, part: Any) -> Any:
    """The part itself, which must be a function."""
    if not callable(part):
        raise TypeError(f"{name!r} must be a function, not {type(part).__name__}")
    return part


@functools.cache
def _entries(group: str) -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # too slow for every --help

    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=f"empathylab.{group}")):
        found.setdefault(entry.name, entry)
    return found


def _described(entry: EntryPoint, group: str) -> Plugin:
    package, version = "unknown", ""
    if entry.dist is not None:
        package, version = entry.dist.name, entry.dist.version
    return Plugin(group, entry.name, package, version, entry.value)
