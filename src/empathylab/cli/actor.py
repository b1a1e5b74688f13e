"""Who uses the command line, as audit logs name them."""

from __future__ import annotations


def operator() -> str:
    """The command line, with the name of the system's user."""
    from empathylab.api.actor import operator as named

    return named("command line")
