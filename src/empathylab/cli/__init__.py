"""The command line: one file per command group."""

from empathylab.cli.app import app, main

__all__ = ["app", "main"]
