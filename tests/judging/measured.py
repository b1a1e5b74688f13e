"""A lab with a published study, and models that reply and judge by rule, for the tests."""

from __future__ import annotations

import contextlib
import json
import random
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import polars as pl
from sqlalchemy import select, update

from empathylab.models import Message, Parameters
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab, schema
from empathylab.store.imports.releases import import_release
from empathylab.store.inserts import add_respondent, now
from empathylab.store.selections import resolve_situations
from empathylab.store.situations import stored_situations
from empathylab.tables import read_table
from tests.helpers.welivita import write_release

ARMS = ("human", "gpt", "llama", "mixtral")
GOOD = {"human": 0.3, "gpt": 0.8, "llama": 0.5, "mixtral": 0.6}
STUDY = "welivita-2024"
PROMPT = "empathic-listener@1"


def warm(messages: tuple[Message, ...], parameters: Parameters) -> str:
    return "I can hear how much this means to you, and I am glad that you tell me about it."


def cold(messages: tuple[Message, ...], parameters: Parameters) -> str:
    return "Well, such things happen to everybody, so there is little to say about it."


def mechanical(messages: tuple[Message, ...], parameters: Parameters) -> str:
    return "As an AI, I see."


def judge(messages: tuple[Message, ...], parameters: Parameters) -> str:
    text = messages[-1].content
    good = any(sign in text for sign in ("The gpt reply", "The mixtral reply", "I can hear"))
    okay = "The llama reply" in text
    said = "Good" if good else "Okay" if okay else "Bad"
    return json.dumps(dict.fromkeys(parameters.schema["properties"], said))


def strict(messages: tuple[Message, ...], parameters: Parameters) -> str:
    text = messages[-1].content
    said = "Okay" if "The gpt reply" in text or "I can hear" in text else "Bad"
    return json.dumps(dict.fromkeys(parameters.schema["properties"], said))


def picky(messages: tuple[Message, ...], parameters: Parameters) -> str:
    text = messages[-1].content
    if "I can hear" in text and len(text) % 4:
        return "I cannot rate this."
    return judge(messages, parameters)


def strange(messages: tuple[Message, ...], parameters: Parameters) -> str:
    return json.dumps(dict.fromkeys(parameters.schema["properties"], "Splendid"))


def released_lab(
    lab: Lab,
    folder: Path,
    *,
    arms: tuple[str, ...] = ARMS,
    good: Mapping[str, float] = GOOD,
    raters: int = 8,
    per_rater: int = 6,
) -> None:
    """A study in the form of the published release, with replies that tell their arm."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "release.csv"
    write_release(path, arms=arms, raters=raters, per_rater=per_rater, good=good)
    release = read_release(read_table(path), where=path.name)
    import_release(lab, release, kind="welivita", source=path.name, fingerprint="1")


def add_replies(lab: Lab, respondent: str, texts: Mapping[str, str], prompt: str = PROMPT) -> None:
    """Replies of a respondent to the study's situations, as if it had been asked."""
    whole, _ = resolve_situations(lab, STUDY)
    with lab.writing() as connection:
        ids = stored_situations(connection, whole)
        number = add_respondent(connection, respondent, "model")
        rows = [
            {
                "situation_id": ids[key],
                "respondent_id": number,
                "sample": 0,
                "prompt": prompt,
                "text": text,
                "outcome": "valid",
                "added_at": now(),
            }
            for key, text in texts.items()
        ]
        connection.execute(schema.responses.insert(), rows)


def situation_ids(lab: Lab) -> list[str]:
    return [situation.id for situation in resolve_situations(lab, STUDY)[1]]


def two_arms(lab: Lab, folder: Path) -> None:
    """The study, with gpt as the writer of llama's arm too, and as one who replied later."""
    released_lab(lab, folder)
    names, replies = schema.respondents, schema.responses
    with lab.writing() as connection:
        known = {row.name: row.id for row in connection.execute(select(names.c.name, names.c.id))}
        connection.execute(
            update(replies)
            .where(replies.c.respondent_id == known["llama"])
            .values(respondent_id=known["gpt"], sample=1)
        )
    add_replies(lab, "gpt", {key: f"Later, to {key}." for key in situation_ids(lab)})


def write_ratings(path: Path, respondent: str, keys: list[str], good: float, seed: int = 1) -> None:
    """A table of people's ratings of the respondent's replies to these situations."""
    chance = random.Random(seed)
    values = [3 if chance.random() < good else chance.choice([1, 2]) for _ in keys]
    pl.DataFrame(
        {
            "situation": keys,
            "respondent": respondent,
            "rater": [f"fresh-{number // 4}" for number in range(len(keys))],
            "dimension": "empathy",
            "rating": values,
        }
    ).write_csv(path)


class _Friendly(BaseHTTPRequestHandler):
    """Replies kindly, and rates as the schema allows."""

    asked: list[str]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = body["messages"][-1]["content"]
        self.asked.append(json.dumps(body["messages"]))
        said = "That must mean a lot to you; I am glad that you tell me."
        if "response_format" in body:
            known = body["response_format"]["json_schema"]["schema"]["properties"]
            place = "gpt" in text or "mean a lot" in text
            said = json.dumps({key: sorted(one["enum"])[int(place)] for key, one in known.items()})
        answer = {
            "model": body["model"],
            "choices": [
                {"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 10},
        }
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        pass


@contextlib.contextmanager
def friendly_endpoint() -> Iterator[tuple[str, list[str]]]:
    """The address of a model on loopback, and what it is asked, message by message."""
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Friendly", (_Friendly,), {"asked": asked}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
