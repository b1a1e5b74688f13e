"""Which versions of what made an export: Python and every installed package it stands on."""

from __future__ import annotations

import json
import platform
import re
from importlib import metadata

from empathylab import __version__

_OWN = "empathylab"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Packages of extras that a table can depend on; the others serve the web, models and databases.
_EXTRAS = ("vaderSentiment",)


def installed_packages() -> dict[str, str]:
    """The installed versions of EmpathyLab's packages, and of those that they need in turn."""
    packages: dict[str, str] = {}
    waiting = [_OWN, *_EXTRAS]
    while waiting:
        name = _folded(waiting.pop())
        if name in packages:
            continue
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # for another system, or an extra that is not installed
        packages[name] = package.version
        waiting += [_required(text) for text in package.requires or () if "extra ==" not in text]
    return dict(sorted(packages.items()))


def requirements_file() -> bytes:
    """The packages as pip reads them; EmpathyLab itself is named, and comes from elsewhere."""
    others = {name: version for name, version in installed_packages().items() if name != _OWN}
    head = f"# Python {platform.python_version()}, {_OWN} {__version__}, and the packages they "
    "use:\n"
    return (head + "".join(f"{name}=={version}\n" for name, version in others.items())).encode()


def versions_file() -> bytes:
    """The versions as JSON."""
    document = {
        "empathylab": __version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "packages": installed_packages(),
    }
    return f"{json.dumps(document, indent=1)}\n".encode()


def _required(text: str) -> str:
    match = _NAME.match(text)
    return match.group() if match else text


def _folded(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
