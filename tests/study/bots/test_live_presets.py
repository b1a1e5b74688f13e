"""Simulated participants tell, are answered, talk with each other and say how they feel."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from empathylab.store import Lab, schema
from empathylab.store.inserts import now
from empathylab.study import parse_study, preset_text
from empathylab.study.bots import Behaviour, Settings, served, walk
from empathylab.study.session.service import StudyService, launch
from empathylab.study.web import visit_token
from tests.study.service_examples import rows_of

SHORT = {
    r"local/smollm2": "scripted/{folder}/replies.json",
    r"delay: {minimum: \d+, maximum: \d+}": "delay: {minimum: 0.5, maximum: 1}",
    r"wait: {minimum: 0, maximum: 300}": "wait: {minimum: 0, maximum: 15}",
    r"reply_within: 300": "reply_within: 10",
    r"    seconds: 5\n": "    seconds: 1\n",
}
CROWD: list[Behaviour] = [
    "careful",
    "careful",
    "backtracker",
    "straightliner",
    "careful",
    "careful",
]


def launched(lab: Lab, name: str, folder: Path) -> StudyService:
    """The preset, answered at once by a file."""
    (folder / "replies.json").write_text(json.dumps(["That sounds hard, and it makes sense."]))
    text = preset_text(name)
    for pattern, short in SHORT.items():
        text = re.sub(pattern, short.replace("{folder}", str(folder)), text)
    launch(lab, parse_study(text), now=now())
    return StudyService(lab, name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "blocks"),
    [
        ("recipient", {"tell", "reply", "helped", "label"}),
        ("chat", {"chat", "helped"}),
        ("peer", {"tell", "chat", "helped"}),
    ],
)
def test_bots_walk_the_presets_in_which_people_are_helped(
    sqlite_lab: Lab, tmp_path: Path, name: str, blocks: set[str]
) -> None:
    service = launched(sqlite_lab, name, tmp_path)
    token = visit_token("simulated", service.secret)
    with served(service) as address:
        met = walk(f"{address}?visit={token}", [*CROWD, "dropout"], Settings(wait=0.2))
    assert (met.lost, dict(met.errors)) == (0, {})
    assert blocks <= set(met.pages)
    people = rows_of(sqlite_lab, schema.slots)
    assert {row["world"] for row in people} == {"simulated"}
    ends = [row["outcome"] for row in people]
    assert ends.count("completed") >= 3, met.ends
    conversations = rows_of(sqlite_lab, schema.live_conversations)
    turns = rows_of(sqlite_lab, schema.live_turns)
    assert len(conversations) >= 3
    assert len({(row["live_conversation_id"], row["position"]) for row in turns}) == len(turns)
    assert any(row["sender"] == "respondent" and row["shown_at"] for row in turns)
