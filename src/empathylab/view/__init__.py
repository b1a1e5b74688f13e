"""The viewer: a local web app that shows everything in a lab and changes nothing."""

from empathylab.view.app import create_app

__all__ = ["create_app"]
