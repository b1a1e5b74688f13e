"""A server on loopback that speaks like Prolific's API, and misbehaves to order."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from empathylab.study.recruiting.prolific import Prolific

TOKEN = "a-token-that-nobody-may-see"
STUDY = "60d9aadeb86739de712faee0"


def submission(
    participant: str, status: str, number: str = "", started: str = ""
) -> dict[str, Any]:
    """A submission as the API lists it."""
    return {
        "id": number or f"session-{participant}",
        "participant_id": participant,
        "status": status,
        "started_at": started or "2026-03-01T09:00:00.000Z",
        "study_code": None,
    }


@dataclass
class Platform:
    """What the platform knows, and what was asked of it."""

    studies: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {STUDY: []})
    orders: list[str] = field(default_factory=list)
    """What becomes of the next requests: `500`, `429 0`, `slow`, `drop`, `text`, `list` …"""
    most: int = 100
    """Submissions on a page, whatever is asked for."""
    requests: list[tuple[str, str]] = field(default_factory=list)
    messages: list[dict[str, str]] = field(default_factory=list)
    approved: list[str] = field(default_factory=list)
    codes: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    address: str = ""

    def client(self, **options: Any) -> Prolific:
        """A client that waits for nothing long."""
        usual = {"base_url": self.address, "pause": 0.01, "timeout": 2.0}
        return Prolific(TOKEN, **{**usual, **options})


class _Handler(BaseHTTPRequestHandler):
    platform: Platform
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self._misbehaves():
            return
        parts = urlsplit(self.path)
        study = parts.path.removeprefix("/api/v1/studies/").removesuffix("/submissions/")
        if study not in self.platform.studies:
            self._answer(404, {"error": {"detail": "Not found."}})
            return
        asked = {
            name: int(one[0]) for name, one in parse_qs(parts.query).items() if one[0].isdigit()
        }
        rows = self.platform.studies[study]
        first = asked["offset"]
        size = min(asked["limit"], self.platform.most)
        # The real one counts pages by the limit that was asked for.
        page = rows[first : first + size]
        following = first + asked["limit"] < len(rows)
        href = f"https://elsewhere.test/steal?offset={first + size}" if following else None
        links = {"next": {"href": href, "title": "Next"}}
        self._answer(200, {"results": page, "_links": links, "meta": {"count": len(rows)}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._misbehaves():
            return
        if self.path == "/api/v1/messages/":
            self.platform.messages.append(body)
            self._answer(201, {"id": "message"})
        elif self.path.endswith("/transition/"):
            assert body == {"action": "APPROVE"}
            self.platform.approved.append(self.path.split("/")[-3])
            self._answer(200, {"status": "APPROVED"})
        elif self.path == "/api/v1/participant-groups/":
            group = f"group{len(self.platform.groups) + 1}"
            self.platform.groups[group] = list(body.get("participant_ids", []))
            self._answer(201, {"id": group, "name": body["name"]})
        elif self.path.endswith("/participants/") and self.path.split("/")[4] in (
            self.platform.groups
        ):
            members = self.platform.groups[self.path.split("/")[4]]
            members += [id_ for id_ in body["participant_ids"] if id_ not in members]
            self._answer(200, {"results": [{"participant_id": member} for member in members]})
        else:
            self._answer(404, {})

    def do_PATCH(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._misbehaves():
            return
        study = self.path.split("/")[4]
        actions = [act for code in body["completion_codes"] for act in code["actions"]]
        paid = [act for act in actions if act["action"] == "FIXED_SCREEN_OUT_PAYMENT"]
        # The real one takes one such code at most, and both numbers with it.
        whole = all({"fixed_screen_out_reward", "slots"} <= act.keys() for act in paid)
        if study not in self.platform.studies:
            self._answer(404, {})
        elif len(paid) > 1 or not whole:
            self._answer(400, {"error": {"detail": "completion_codes"}})
        else:
            self.platform.codes[study] = body["completion_codes"]
            self._answer(200, {"id": study})

    def _misbehaves(self) -> bool:
        self.platform.requests.append((self.command, self.path))
        if self.headers["Authorization"] != f"Token {TOKEN}":
            said = self.headers["Authorization"]
            self._answer(401, {"error": {"detail": f"Invalid token: {said}"}})
            return True
        if not self.platform.orders:
            return False
        order, _, more = self.platform.orders.pop(0).partition(" ")
        if order == "slow":
            time.sleep(float(more))
            self.close_connection = True
        elif order == "drop":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif order == "text":
            self._send(200, b'{"results": [{"id"')
        elif order == "list":
            self._send(200, more.encode())
        elif order == "elsewhere":
            self._send(302, b"", ("Location", f"{self.platform.address}/other"))
        else:
            self._send(int(order), b"{}", *([("Retry-After", more)] if more else []))
        return True

    def _answer(self, status: int, body: Any) -> None:
        self._send(status, json.dumps(body).encode())

    def _send(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # clients that have gone away


@contextlib.contextmanager
def prolific(*submissions: dict[str, Any]) -> Iterator[Platform]:
    """The platform with a study that has these submissions."""
    platform = Platform()
    platform.studies[STUDY] += submissions
    handler = type("Handler", (_Handler,), {"platform": platform})
    with _Server(("127.0.0.1", 0), handler) as server:
        platform.address = f"http://127.0.0.1:{server.server_port}/api/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield platform
        finally:
            server.shutdown()
            thread.join()
