"""Where alerts go: an e-mail by SMTP, a webhook by HTTP. Both are set in the environment."""

from __future__ import annotations

import json
import os
import smtplib
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import IO, Any, Protocol
from urllib.parse import unquote, urlsplit

from empathylab.errors import InputError
from empathylab.models.http import is_this_machine
from empathylab.store.studies.alerts import Channel

SMTP, SENDER, RECEIVER, WEBHOOK = (
    "EMPATHYLAB_SMTP_URL",
    "EMPATHYLAB_ALERT_FROM",
    "EMPATHYLAB_ALERT_TO",
    "EMPATHYLAB_ALERT_WEBHOOK",
)
_TIMEOUT = 20.0


@dataclass(frozen=True, slots=True)
class Notice:
    """What is sent: one subject, one line per event."""

    id: str
    """The same at every attempt, so that receivers can discard a second copy."""
    study: str
    subject: str
    lines: tuple[str, ...]
    kinds: tuple[str, ...]
    url: str
    """The console's address; empty where it is not known."""

    @property
    def text(self) -> str:
        """The whole message."""
        link = [f"\nConsole: {self.url}"] if self.url else []
        return "\n".join([*self.lines, *link]) + "\n"


class Sender(Protocol):
    """One channel."""

    @property
    def target(self) -> str:
        """Where it sends, without any secret."""

    def send(self, notice: Notice) -> None:
        """Sends it, or raises OSError."""


@dataclass(frozen=True, slots=True)
class Email:
    """An SMTP server; the password is only sent over TLS, or to this machine."""

    host: str
    port: int
    sender: str
    receivers: tuple[str, ...]
    tls: bool = False
    """TLS from the start (`smtps`); else STARTTLS where the server offers it."""
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def target(self) -> str:
        """Whom it reaches."""
        return ", ".join(self.receivers)

    def send(self, notice: Notice) -> None:
        """Sends one message to all receivers."""
        message = EmailMessage()
        message["From"], message["To"] = self.sender, ", ".join(self.receivers)
        message["Subject"] = notice.subject
        message["Message-ID"] = f"<{notice.id}@empathylab.invalid>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(notice.text)
        context = ssl.create_default_context()
        try:
            with self._connect(context) as server:
                secure = self.tls
                if not secure and server.has_extn("starttls"):
                    server.starttls(context=context)
                    server.ehlo()
                    secure = True
                if self.user and (secure or is_this_machine(self.host)):
                    server.login(self.user, self.password)
                elif self.user:
                    raise OSError("the SMTP server offers no TLS, so the password is not sent")
                server.send_message(message)
        except smtplib.SMTPException as error:
            raise OSError(f"the SMTP server refused: {type(error).__name__}") from error

    def _connect(self, context: ssl.SSLContext) -> smtplib.SMTP:
        if self.tls:
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                self.host, self.port, timeout=_TIMEOUT, context=context
            )
        else:
            server = smtplib.SMTP(self.host, self.port, timeout=_TIMEOUT)
        server.ehlo()
        return server


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """An address that redirects could lead alerts to another host."""

    def redirect_request(
        self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that takes JSON; `text` is what Slack and Mattermost show."""

    url: str = field(repr=False)

    @property
    def target(self) -> str:
        """Its host: the path of a webhook is often a secret."""
        return urlsplit(self.url).hostname or ""

    def send(self, notice: Notice) -> None:
        """Posts the notice."""
        body = {
            "text": f"{notice.subject}\n{notice.text}",
            "study": notice.study,
            "events": [
                {"kind": kind, "text": line}
                for kind, line in zip(notice.kinds, notice.lines, strict=True)
            ],
            "console": notice.url,
        }
        request = urllib.request.Request(  # noqa: S310 - `channels` takes http and https only
            self.url,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Idempotency-Key": notice.id},
            method="POST",
        )
        opener = urllib.request.build_opener(_NoRedirects)
        try:
            with opener.open(request, timeout=_TIMEOUT):
                pass
        except urllib.error.HTTPError as error:
            error.close()
            raise OSError(f"the webhook answered {error.code}") from None


def channels(environment: Mapping[str, str] = os.environ) -> dict[Channel, Sender]:
    """The channels that the environment sets."""
    senders: dict[Channel, Sender] = {}
    if server := environment.get(SMTP, "").strip():
        senders["email"] = _email(server, environment)
    if address := environment.get(WEBHOOK, "").strip():
        parts = urlsplit(address)
        local = parts.scheme == "http" and is_this_machine(parts.hostname or "")
        if parts.scheme != "https" and not local:
            raise InputError(
                "a webhook must use https",
                where=WEBHOOK,
                got=parts.scheme,
                remedy="Give an address that begins with https://.",
            )
        senders["webhook"] = Webhook(address)
    return senders


def _email(server: str, environment: Mapping[str, str]) -> Email:
    parts = urlsplit(server)
    receivers = tuple(
        address for part in environment.get(RECEIVER, "").split(",") if (address := part.strip())
    )
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname or port == -1:
        raise InputError(
            "the SMTP server must be given as smtp://user:password@host:587 or smtps://…",
            where=SMTP,
            remedy="Write special characters of the password as %XX.",
        )
    if not receivers or any("@" not in receiver or "\n" in receiver for receiver in receivers):
        raise InputError(
            "alerts by e-mail need at least one address",
            where=RECEIVER,
            remedy=f"Set {RECEIVER}, for example to lab@example.org.",
        )
    tls = parts.scheme == "smtps"
    return Email(
        parts.hostname,
        port or (465 if tls else 587),
        environment.get(SENDER, "").strip() or receivers[0],
        receivers,
        tls,
        unquote(parts.username or ""),
        unquote(parts.password or ""),
    )
