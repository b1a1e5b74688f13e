"""The viewer over a large lab: 200 respondents with 2,000 replies each, page by page.

Prints `name value` lines: how long each page takes, as wall-clock and as processor time in
milliseconds, the median of several requests after a first one; the slowest of them; how long the
lab took to fill, and its size. The lab is filled by bulk inserts, with runs, requests and answers
for every reply, scale administrations, conversations, and a closed study with ratings and a judge.
Left out: the network, and what a browser does with a page. A busy machine lengthens the wall-clock
time, not the processor's.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import Connection, Table, insert

from empathylab.scales import builtin_scale, scale_to_dict
from empathylab.store import Lab, schema
from empathylab.view.app import create_app
from empathylab.view.viewed_lab import ViewedLab

RESPONDENTS, SITUATIONS, RATERS, CONVERSATIONS = 200, 2_000, 300, 1_000
REQUESTS = 5
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = (  # noqa: SIM905
    "I you that sounds really hard sorry to hear it must have been so heavy for anybody would feel "
    "this way when friend family work money health dog moved left alone together glad proud hope "
    "what happened next how are holding up take your time here listen if want talk about more"
).split()
PAGES = {
    "overview": "/",
    "runs": "/runs",
    "runs_last_page": "/runs?page=8",
    "run": "/runs/100",
    "run_last_answers": "/runs/100?page=40",
    "run_invalid_answers": "/runs/100?outcome=refused",
    "answer": "/answers/200000",
    "compare_runs": "/runs/compare?first=3&second=4",
    "situations": "/replies",
    "situations_last_page": "/replies?page=80",
    "situation": "/situations/1000",
    "search_common_word": "/replies?q=sorry",
    "search_rare_word": "/replies?q=zebra",
    "search_phrase": "/replies?q=%22sounds+really%22",
    "search_and_filters": "/replies?q=friend&respondent=model-017&emotion=sad",
    "search_nothing": "/replies?q=unfindable",
    "filter_respondent": "/replies?respondent=model-100&page=50",
    "filter_outcome": "/replies?outcome=refused&emotion=sad",
    "reply": "/replies/399999",
    "word_diff": "/replies/compare?first=10&second=2010",
    "conversations": "/conversations",
    "conversation": "/conversations/500",
    "scales": "/scales?respondent=model-010",
    "administration": "/scales/1000",
    "studies": "/studies",
    "study_raters": "/studies/1",
    "study_ratings": "/studies/1?view=ratings&page=200",
    "rater": "/raters/150",
    "judges": "/judges",
    "disagreements": "/judges/1",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "lab"
        begun, worked = time.perf_counter(), time.process_time()
        with Lab.open(folder) as lab:
            with lab.writing() as connection:
                fill(connection)
        print(f"fill_seconds {time.perf_counter() - begun:.1f}")
        print(f"fill_processor_seconds {time.process_time() - worked:.1f}")
        print(f"lab_mb {(folder / 'lab.sqlite').stat().st_size / 1e6:.0f}")
        asyncio.run(measure(folder))


async def measure(folder: Path) -> None:
    """Asks for every page several times, and prints how long each takes."""
    transport = httpx.ASGITransport(app=create_app(ViewedLab(folder), token="bench"))  # noqa: S106
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        client.cookies.set("empathylab-view", "bench")
        slowest = 0.0
        for name, path in PAGES.items():
            walls, works = [], []
            for _ in range(REQUESTS + 1):
                begun, worked = time.perf_counter(), time.process_time()
                answer = await client.get(path)
                walls.append(1000 * (time.perf_counter() - begun))
                works.append(1000 * (time.process_time() - worked))
                assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
            work = statistics.median(works[1:])
            slowest = max(slowest, work)
            print(f"{name}_ms {statistics.median(walls[1:]):.0f}")
            print(f"{name}_processor_ms {work:.0f}")
        print(f"slowest_processor_ms {slowest:.0f}")


def add(connection: Connection, table: Table, rows: Iterator[dict[str, Any]]) -> None:
    """Inserts the rows, some thousands at a time."""
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == 10_000:
            connection.execute(insert(table), batch)
            batch = []
    if batch:
        connection.execute(insert(table), batch)


def fill(connection: Connection) -> None:
    """Fills the lab: everything a large project would hold."""
    chance = random.Random(1)
    texts = [" ".join(chance.choices(WORDS, k=chance.randint(30, 120))) for _ in range(5_000)]
    texts[77] += " zebra"
    fill_situations(connection, texts)
    fill_runs(connection, texts, chance)
    fill_scales(connection, chance)
    fill_conversations(connection, texts, chance)
    fill_study(connection, chance)


def fill_situations(connection: Connection, texts: list[str]) -> None:
    sets = {"id": 1, "name": "large", "version": 1, "title": "Large", "language": "en"}
    sets |= {"licence": "CC0", "validated": False, "description": "", "fingerprint": "x"}
    connection.execute(insert(schema.situation_sets), [sets | {"added_at": SINCE}])
    emotions = ("sad", "angry", "proud", "afraid", "joyful", "lonely", "grateful", "ashamed")
    add(
        connection,
        schema.situations,
        (
            {
                "id": number,
                "situation_set_id": 1,
                "key": f"situation-{number:04}",
                "emotion": emotions[number % len(emotions)],
                "text": texts[number],
            }
            for number in range(1, SITUATIONS + 1)
        ),
    )
    add(
        connection,
        schema.respondents,
        (
            {
                "id": number,
                "name": f"model-{number:03}" if number <= RESPONDENTS else "the/judge",
                "kind": "model",
                "details": {},
                "added_at": SINCE,
            }
            for number in range(1, RESPONDENTS + 2)
        ),
    )


def answer_row(number: int, run: int, key: str, text: str, outcome: str) -> dict[str, Any]:
    """An answer with its request."""
    return {
        "id": number,
        "run_id": run,
        "key": key,
        "fingerprint": f"f{number}",
        "messages": [
            {"role": "system", "content": "You are kind."},
            {"role": "user", "content": text},
        ],
        "parameters": {"temperature": 0.7, "max_tokens": 300},
        "text": text,
        "finish_reason": "stop",
        "reported_model": "model",
        "outcome": outcome,
        "reason": None if outcome == "valid" else "the model refused",
        "prompt_tokens": 120,
        "completion_tokens": 80,
        "cost": 0.0004,
        "latency": 0.8,
        "attempts": 1,
        "asked_at": SINCE,
        "answered_at": SINCE + timedelta(seconds=number),
    }


def run_row(number: int, protocol: str, respondent: int, planned: int) -> dict[str, Any]:
    settings = {"situations": "large (version 1)", "temperature": 0.7, "seed": 1}
    return {
        "id": number,
        "protocol": protocol,
        "respondent_id": respondent,
        "fingerprint": f"r{number}",
        "generation": 0,
        "fresh": False,
        "settings": settings,
        "planned": planned,
        "software": "empathylab",
        "started_at": SINCE,
        "finished_at": SINCE,
        "last_used_at": SINCE + timedelta(seconds=number),
    }


def fill_runs(connection: Connection, texts: list[str], chance: random.Random) -> None:
    runs = range(1, RESPONDENTS + 1)
    add(connection, schema.runs, (run_row(run, "respond", run, SITUATIONS) for run in runs))
    outcomes = chance.choices(("valid", "refused"), (99, 1), k=RESPONDENTS * SITUATIONS)
    chosen = [chance.choice(texts) for _ in outcomes]

    def numbered() -> Iterator[tuple[int, int, int]]:
        for run in runs:
            for situation in range(1, SITUATIONS + 1):
                yield (run - 1) * SITUATIONS + situation, run, situation

    add(
        connection,
        schema.answers,
        (
            answer_row(n, run, f"s{situation:04}", chosen[n - 1], outcomes[n - 1])
            for n, run, situation in numbered()
        ),
    )
    add(
        connection,
        schema.responses,
        (
            {
                "id": n,
                "situation_id": situation,
                "respondent_id": run,
                "answer_id": n,
                "sample": 0,
                "text": chosen[n - 1],
                "outcome": outcomes[n - 1],
                "added_at": SINCE,
            }
            for n, run, situation in numbered()
        ),
    )


def fill_scales(connection: Connection, chance: random.Random) -> None:
    scale = builtin_scale("panas")
    row = {"id": 1, "name": scale.id, "version": 1, "fingerprint": "x", "added_at": SINCE}
    connection.execute(insert(schema.scales), [row | {"definition": scale_to_dict(scale)}])
    numbers = range(1, 20 * RESPONDENTS + 1)
    add(
        connection,
        schema.administrations,
        (
            {
                "id": number,
                "respondent_id": 1 + number % RESPONDENTS,
                "scale_id": 1,
                "phase": "default",
                "counterpart": False,
                "mode": "structured",
                "order_index": 0,
                "item_order": list(range(1, scale.items + 1)),
                "repeat": 0,
                "outcome": "valid",
                "added_at": SINCE,
            }
            for number in numbers
        ),
    )
    add(
        connection,
        schema.item_answers,
        (
            {"administration_id": number, "item": item, "value": chance.randint(1, 5)}
            for number in numbers
            for item in range(1, scale.items + 1)
        ),
    )


def fill_conversations(connection: Connection, texts: list[str], chance: random.Random) -> None:
    numbers = range(1, CONVERSATIONS + 1)
    add(
        connection,
        schema.conversations,
        (
            {
                "id": number,
                "run_id": 1,
                "key": f"c{number}",
                "respondent_id": 1 + number % RESPONDENTS,
                "simulator": "simulator",
                "sample": 0,
                "start": 40.0,
                "final": 70.0,
                "success_at": 90.0,
                "exchanges": 10,
                "outcome": "completed",
                "added_at": SINCE,
            }
            for number in numbers
        ),
    )
    add(
        connection,
        schema.turns,
        (
            {
                "conversation_id": number,
                "position": place,
                "role": ("person", "respondent")[place % 2],
                "text": chance.choice(texts),
                "feeling": None if place % 2 else 40.0 + place,
                "outcome": "valid",
            }
            for number in numbers
            for place in range(20)
        ),
    )


def fill_study(connection: Connection, chance: random.Random) -> None:
    points = {"name": "empathy", "values": [1, 2, 3], "labels": ["Bad", "Okay", "Good"]}
    study = {"id": 1, "name": "large-study", "version": 1, "title": "A large study"}
    study |= {"protocol": {"dimensions": [points]}, "protocol_hash": "x", "status": "closed"}
    connection.execute(insert(schema.studies), [study | {"added_at": SINCE}])
    raters = range(1, RATERS + 1)
    about = {"study_id": 1, "kind": "person", "details": {"age": 30}, "added_at": SINCE}
    add(connection, schema.raters, ({"id": r, "name": f"r{r}", **about} for r in raters))
    replies = RESPONDENTS * SITUATIONS
    rated = [(rater, chance.randint(1, replies)) for rater in raters for _ in range(40)]
    rated = sorted(set(rated))
    add(
        connection,
        schema.ratings,
        (
            {
                "rater_id": rater,
                "response_id": reply,
                "dimension": "empathy",
                "value": chance.randint(1, 3),
            }
            for rater, reply in rated
        ),
    )
    judged = sorted({reply for _, reply in rated})[:5_000]
    connection.execute(insert(schema.runs), [run_row(999, "judge", RESPONDENTS + 1, len(judged))])
    first = replies + 1
    keys = [(first + place, reply) for place, reply in enumerate(judged)]
    add(
        connection,
        schema.answers,
        (
            answer_row(n, 999, f"response-{reply}", '{"empathy": "Good"}', "valid")
            for n, reply in keys
        ),
    )
    add(
        connection,
        schema.judgements,
        (
            {
                "answer_id": n,
                "study_id": 1,
                "response_id": reply,
                "setup": "x",
                "dimension": "empathy",
                "value": float(chance.randint(1, 3)),
                "order_index": 0,
                "turned": False,
                "position": 1,
                "repeat": 0,
                "outcome": "valid",
                "added_at": SINCE,
            }
            for n, reply in keys
        ),
    )


if __name__ == "__main__":
    main()
