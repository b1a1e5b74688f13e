"""The rater's pages of a study with people: a web app that works without scripts."""

from empathylab.study.web.app import create_app
from empathylab.study.web.recruitment import invitation, visit_token
from empathylab.study.web.serving import ServerSettings, server_settings
from empathylab.study.web.site import RaterService

__all__ = [
    "RaterService",
    "ServerSettings",
    "create_app",
    "invitation",
    "server_settings",
    "visit_token",
]
