"""A proxy that speaks TLS to the outside and plain HTTP to a server, as nginx would."""

from __future__ import annotations

import contextlib
import http.client
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for localhost and its key, made for this test."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl to make a certificate with")
    paths = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost"),
            *("-out", str(paths[0]), "-keyout", str(paths[1])),
        ],
        check=True,
        capture_output=True,
    )
    return paths


@contextlib.contextmanager
def proxied(upstream: str, prefix: str, folder: Path) -> Iterator[tuple[str, ssl.SSLContext]]:
    """The address that raters see, and what a client needs to trust it.

    Paths below the prefix go to the server without it; others are not found.
    """
    cert, key = certificate(folder)
    to = urlsplit(upstream)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            if not self.path.startswith(f"{prefix}/"):
                self.send_error(404)
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name != "Connection"}
            headers["X-Forwarded-Proto"] = "https"
            headers["X-Forwarded-For"] = self.client_address[0]
            onward = http.client.HTTPConnection(str(to.hostname), to.port, timeout=30)
            onward.request(self.command, self.path.removeprefix(prefix), body, headers)
            answer = onward.getresponse()
            content = answer.read()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
            onward.close()

        do_GET = do_POST = forward  # noqa: N815 - the server looks for these names

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    trusted = ssl.create_default_context(cafile=str(cert))
    try:
        yield f"https://localhost:{server.server_address[1]}{prefix}", trusted
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
