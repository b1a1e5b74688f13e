"""The server's log tells routes and failures, and never whose they are."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from empathylab.study.web import logs
from tests.study.web.raters import Visitor


@pytest.fixture(autouse=True)
def _loggers_as_before() -> Iterator[None]:
    names = ("uvicorn", "uvicorn.error", "empathylab", logs.REQUESTS)
    loggers = [logging.getLogger(name) for name in names]
    before = [(logger, logger.handlers, logger.propagate, logger.level) for logger in loggers]
    yield
    for one, handlers, propagate, level in before:
        one.handlers, one.propagate = handlers, propagate
        one.setLevel(level)


async def show(request: Request) -> PlainTextResponse:
    return PlainTextResponse(logs.route_of(request.scope))


async def tell(request: Request) -> PlainTextResponse:
    return PlainTextResponse(logs.route_of(request.scope))


def test_a_route_is_named_as_it_was_written() -> None:
    inner = Starlette(routes=[Route("/people/{key}", tell)])
    app = Starlette(routes=[Route("/static/{name}", show), Mount("/console", routes=inner.routes)])
    visitor = Visitor(app)
    assert visitor.ask("GET", "/static/secret.css").text == "/static/{name}"
    assert visitor.ask("GET", "/console/people/p-4711").text == "/console/people/{key}"
    visitor.close()
    assert logs.route_of({"type": "http", "app": app, "path": "/p-4711"}) == "other"


def test_a_failures_words_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    logs.start_logging(requests=True)
    words = "somebody's" + " words"  # so that no line of code holds them
    try:
        raise ValueError(words)
    except ValueError:
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application\n")
    said = capsys.readouterr().err
    line = json.loads(said)
    assert line["level"] == "ERROR"
    assert "ValueError" in line["message"]
    assert "test_logs.py" in line["message"]
    assert "somebody's words" not in said


def test_without_requests_only_problems_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    logs.start_logging(requests=False)
    logs.log_request({"type": "http", "method": "GET"}, 200, 0.1)
    logging.getLogger("empathylab.study.web").info("nothing much")
    logging.getLogger("empathylab.study.web").warning("worker 7 died")
    assert capsys.readouterr().err == "worker 7 died\n"


def test_a_request_is_one_json_line(capsys: pytest.CaptureFixture[str]) -> None:
    logs.start_logging(requests=True)
    logs.log_request({"type": "http", "method": "OPTIONS" * 9}, 404, 0.0123)
    line = json.loads(capsys.readouterr().err)
    assert (line["method"], line["route"], line["status"]) == ("OPTIONSOPT", "other", 404)
    assert line["milliseconds"] == 12.3
    assert line["time"].endswith("+00:00")
