"""The rater's pages of a study with people: a web app that works without scripts."""

from empathylab.study.web.app import create_app
from empathylab.study.web.recruitment import visit_token
from empathylab.study.web.serving import server_settings

__all__ = ["create_app", "server_settings", "visit_token"]
