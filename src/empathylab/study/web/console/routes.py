"""All that the console answers, with the least role that each needs."""

from __future__ import annotations

from empathylab.study.web.console.access import Rule
from empathylab.study.web.console.actions import close, manage, show_manage
from empathylab.study.web.console.alerts import send_test, show_alerts
from empathylab.study.web.console.conversations import (
    list_conversations,
    read_conversation,
    show_conversation,
)
from empathylab.study.web.console.decisions import act_on_participant, find_participant, review
from empathylab.study.web.console.downloads import (
    download,
    download_identities,
    peek_download,
    show_downloads,
)
from empathylab.study.web.console.overview import show_overview
from empathylab.study.web.console.participants import (
    list_comments,
    list_participants,
    show_participant,
)
from empathylab.study.web.console.records import (
    change_account,
    invite,
    show_accounts,
    show_audit,
)
from empathylab.study.web.console.results import peek, show_results
from empathylab.study.web.console.sign_in.login import (
    change_language,
    change_password,
    change_second_factor,
    give_second_factor,
    log_in,
    log_out,
    make_account,
    show_account,
    show_login,
    show_second_factor,
    show_welcome,
)

# No path holds a participant's key: servers and proxies log paths.
RULES: tuple[Rule, ...] = (
    Rule("GET", "/console/login", "anyone", show_login),
    Rule("POST", "/console/login", "anyone", log_in),
    Rule("GET", "/console/welcome", "anyone", show_welcome),
    Rule("POST", "/console/welcome", "anyone", make_account, "/console/welcome?link={link}"),
    Rule("GET", "/console/second-factor", "anyone", show_second_factor),
    Rule("POST", "/console/second-factor", "anyone", give_second_factor),
    Rule("POST", "/console/language", "anyone", change_language),
    Rule("POST", "/console/logout", "viewer", log_out),
    Rule("GET", "/console/account", "viewer", show_account),
    Rule("POST", "/console/account", "viewer", change_password, "/console/account"),
    Rule(
        "POST",
        "/console/account-second-factor",
        "viewer",
        change_second_factor,
        "/console/account",
    ),
    Rule("GET", "/console", "viewer", show_overview),
    Rule("GET", "/console/participants", "viewer", list_participants),
    Rule("GET", "/console/participant", "viewer", show_participant),
    Rule(
        "POST",
        "/console/participant",
        "researcher",
        act_on_participant,
        "/console/participant?key={key}",
    ),
    Rule("POST", "/console/review", "researcher", review),
    Rule("POST", "/console/find", "researcher", find_participant),
    Rule("GET", "/console/conversations", "researcher", list_conversations),
    Rule("GET", "/console/conversation", "researcher", show_conversation),
    Rule(
        "POST",
        "/console/conversation",
        "researcher",
        read_conversation,
        "/console/conversation?key={key}",
    ),
    Rule("GET", "/console/comments", "viewer", list_comments),
    Rule("GET", "/console/manage", "researcher", show_manage),
    Rule("POST", "/console/manage", "researcher", manage, "/console/manage"),
    Rule("POST", "/console/close", "owner", close, "/console/manage"),
    Rule("GET", "/console/alerts", "viewer", show_alerts),
    Rule("POST", "/console/alerts", "owner", send_test),
    Rule("GET", "/console/results", "viewer", show_results),
    Rule("POST", "/console/peek", "owner", peek, "/console/results"),
    Rule("GET", "/console/downloads", "researcher", show_downloads),
    Rule("POST", "/console/downloads", "researcher", download, "/console/downloads"),
    Rule("POST", "/console/peek-download", "owner", peek_download, "/console/downloads"),
    Rule("POST", "/console/identities", "owner", download_identities, "/console/downloads"),
    Rule("GET", "/console/audit", "viewer", show_audit),
    Rule("GET", "/console/accounts", "owner", show_accounts),
    Rule("POST", "/console/accounts", "owner", change_account, "/console/accounts"),
    Rule("POST", "/console/invite", "owner", invite, "/console/accounts"),
)
