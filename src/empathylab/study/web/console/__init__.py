"""The researcher's console: behind a login, it shows how far a study is and never who leads."""

from empathylab.study.web.console.access import Rule, guarded, guarded_routes
from empathylab.study.web.console.context import Console
from empathylab.study.web.console.rendering import error_page
from empathylab.study.web.console.routes import RULES
from empathylab.study.web.console.sign_in.accounts import first_link, invite_link

__all__ = [
    "RULES",
    "Console",
    "Rule",
    "error_page",
    "first_link",
    "guarded",
    "guarded_routes",
    "invite_link",
]
