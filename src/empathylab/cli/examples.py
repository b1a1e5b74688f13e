"""The examples at the end of a command's help."""

from __future__ import annotations


def examples(*lines: tuple[str, str]) -> str:
    """Commands, each after what it does, one below the other."""
    listed = [f"{what[0].upper()}{what[1:].rstrip('.')}: `{command}`" for command, what in lines]
    return "\n\n".join(["Examples:", *listed])
