"""Who may see the viewer, and what its pages may load."""

from __future__ import annotations

from urllib.parse import quote

from empathylab.store import Lab
from tests.view.viewing import COOKIE, TOKEN, Visitor, viewing


def test_the_link_lets_a_browser_in_by_a_strict_cookie(sqlite_lab: Lab) -> None:
    with viewing(sqlite_lab) as visitor:
        visitor.cookies = {}
        assert visitor.get("/runs").status_code == 403
        entry = visitor.get(f"/?token={TOKEN}")
        assert entry.status_code == 200
        cookie = entry.headers["set-cookie"]
        assert cookie.startswith(f"{COOKIE}={TOKEN};")
        assert "httponly" in cookie.lower()
        assert "samesite=strict" in cookie.lower()
        visitor.cookies = {COOKIE: TOKEN}
        assert visitor.get("/runs").status_code == 200


def test_without_the_right_token_there_is_a_plain_page(sqlite_lab: Lab) -> None:
    alike = (TOKEN[:-1], f"{TOKEN}x", TOKEN.upper(), f"{TOKEN[:-1]}x", f" {TOKEN}")
    wrong = ("wrong", "", "%00", "%ff", *map(quote, alike))
    paths = ("/", "/static/x", f"/runs?token={TOKEN}", *(f"/?token={token}" for token in wrong))
    with viewing(sqlite_lab) as visitor:
        for cookies in (
            {},
            {COOKIE: "wrong"},
            {COOKIE: ""},
            *({COOKIE: token} for token in alike[:4]),
            {"other": TOKEN},
        ):
            for path in paths:
                visitor.cookies = cookies
                answer = visitor.get(path)
                assert answer.status_code == 403
                assert "This link is not valid" in answer.text
                assert "set-cookie" not in answer.headers


def test_a_host_name_that_only_resolves_to_this_machine_is_refused(sqlite_lab: Lab) -> None:
    with viewing(sqlite_lab) as visitor:
        for host in ("rebound.example", "127.0.0.1.example:80", "evil:8123", "localhost.evil"):
            assert visitor.get("/", host=host).status_code == 403
            assert visitor.get(f"/?token={TOKEN}", host=host).status_code == 403
        for host in ("localhost:1", "127.0.0.1", "[::1]:9000", "LOCALHOST"):
            assert visitor.get("/", host=host).status_code == 200


def test_the_viewer_only_shows(sqlite_lab: Lab) -> None:
    with viewing(sqlite_lab) as visitor:
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            assert visitor.get("/runs", method=method).status_code == 405


def test_no_page_may_load_or_run_anything_that_is_not_ours(sqlite_lab: Lab) -> None:
    with viewing(sqlite_lab) as visitor:
        answers = [visitor.get(path) for path in ("/", "/nowhere", "/runs/0")]
        visitor.cookies = {}
        answers.append(visitor.get("/"))
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"
        assert "style=" not in answer.text
        assert "http://" not in answer.text.replace("http-equiv", "")


def test_two_viewers_of_one_lab_work_side_by_side(sqlite_lab: Lab) -> None:
    from empathylab.view.serving import open_viewer
    from empathylab.view.viewed_lab import ViewedLab

    viewed = ViewedLab(sqlite_lab.folder)
    first, second = open_viewer(viewed, 0), open_viewer(viewed, 0)
    try:
        assert first.token != second.token
        cookies = []
        for viewer in (first, second):
            entry = Visitor(viewer.app, cookie=None).get(f"/?token={viewer.token}")
            cookies.append(entry.headers["set-cookie"].partition("=")[0])
            assert entry.status_code == 200
        assert len(set(cookies)) == 2
        assert Visitor(first.app, cookie=None).get(f"/?token={second.token}").status_code == 403
    finally:
        first.listener.close()
        second.listener.close()
        viewed.close()
