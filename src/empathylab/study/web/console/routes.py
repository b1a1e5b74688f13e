"""All that the console answers, with the least role that each needs."""

from __future__ import annotations

from empathylab.study.web.console import (
    actions,
    alerts,
    conversations,
    decisions,
    downloads,
    overview,
    participants,
    records,
    results,
)
from empathylab.study.web.console.access import Rule
from empathylab.study.web.console.sign_in import login

# No path holds a participant's key: servers and proxies log paths.
RULES: tuple[Rule, ...] = (
    Rule("GET", "/console/login", "anyone", login.show_login),
    Rule("POST", "/console/login", "anyone", login.log_in),
    Rule("GET", "/console/welcome", "anyone", login.show_welcome),
    Rule("POST", "/console/welcome", "anyone", login.make_account, "/console/welcome?link={link}"),
    Rule("GET", "/console/second-factor", "anyone", login.show_second_factor),
    Rule("POST", "/console/second-factor", "anyone", login.give_second_factor),
    Rule("POST", "/console/language", "anyone", login.change_language),
    Rule("POST", "/console/logout", "viewer", login.log_out),
    Rule("GET", "/console/account", "viewer", login.show_account),
    Rule("POST", "/console/account", "viewer", login.change_password, "/console/account"),
    Rule(
        "POST",
        "/console/account-second-factor",
        "viewer",
        login.change_second_factor,
        "/console/account",
    ),
    Rule("GET", "/console", "viewer", overview.show_overview),
    Rule("GET", "/console/participants", "viewer", participants.list_participants),
    Rule("GET", "/console/participant", "viewer", participants.show_participant),
    Rule(
        "POST",
        "/console/participant",
        "researcher",
        decisions.act_on_participant,
        "/console/participant?key={key}",
    ),
    Rule("POST", "/console/review", "researcher", decisions.review),
    Rule("POST", "/console/find", "researcher", decisions.find_participant),
    Rule("GET", "/console/conversations", "researcher", conversations.list_conversations),
    Rule("GET", "/console/conversation", "researcher", conversations.show_conversation),
    Rule(
        "POST",
        "/console/conversation",
        "researcher",
        conversations.read_conversation,
        "/console/conversation?key={key}",
    ),
    Rule("GET", "/console/comments", "viewer", participants.list_comments),
    Rule("GET", "/console/manage", "researcher", actions.show_manage),
    Rule("POST", "/console/manage", "researcher", actions.manage, "/console/manage"),
    Rule("POST", "/console/close", "owner", actions.close, "/console/manage"),
    Rule("GET", "/console/alerts", "viewer", alerts.show_alerts),
    Rule("POST", "/console/alerts", "owner", alerts.send_test),
    Rule("GET", "/console/results", "viewer", results.show_results),
    Rule("POST", "/console/peek", "owner", results.peek, "/console/results"),
    Rule("GET", "/console/downloads", "researcher", downloads.show_downloads),
    Rule("POST", "/console/downloads", "researcher", downloads.download, "/console/downloads"),
    Rule("POST", "/console/peek-download", "owner", downloads.peek_download, "/console/downloads"),
    Rule(
        "POST", "/console/identities", "owner", downloads.download_identities, "/console/downloads"
    ),
    Rule("GET", "/console/audit", "viewer", records.show_audit),
    Rule("GET", "/console/accounts", "owner", records.show_accounts),
    Rule("POST", "/console/accounts", "owner", records.change_account, "/console/accounts"),
    Rule("POST", "/console/invite", "owner", records.invite, "/console/accounts"),
)
