"""Lab → logs of Inspect → lab: nothing is lost, compared table by table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy

from empathylab.errors import RequestRejected
from empathylab.export import export_lab, lab_tables
from empathylab.models import ScriptedModel
from empathylab.protocols import Responding, plan_responding
from empathylab.protocols.converse.plan import SIMULATOR, Conversing, plan_conversing
from empathylab.runs import Job, run
from empathylab.situations import builtin_set
from empathylab.store import Lab, schema
from empathylab.store.inserts import hash_of
from empathylab.store.transfer import TABLES, merged, run_records
from tests.helpers.command_line import as_json
from tests.helpers.conversing import kind_listener, persona, rule_based_person
from tests.helpers.groups import unavailable
from tests.helpers.labs import filled
from tests.report.exports.full_lab import _judge
from tests.study.archived import released

pytestmark = [
    pytest.mark.inspect,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def fill_runs(lab: Lab, folder: Path) -> None:
    """Runs of every protocol, one of them with failures, and people's ratings of replies."""
    released(lab, folder)
    filled(lab)
    _judge(lab)
    talk = Conversing((persona(1), persona(2)), "the/simulator", exchanges=2)
    listener = ScriptedModel(kind_listener, name="the/listener")
    partners = {SIMULATOR: ScriptedModel(rule_based_person, name="the/simulator")}
    run(lab, [Job(listener, [plan_conversing(lab, listener.name, talk)], partners=partners)])
    dialogues = builtin_set("dialogues")
    answers = ["That sounds hard. What happened then?", RequestRejected("too long")]
    broken = ScriptedModel(answers, name="the/broken", concurrency=1)
    chosen = Responding(dialogues, dialogues.first_per_group(1)[:4], samples=2)
    run(lab, [Job(broken, [plan_responding(lab, broken.name, chosen)])])
    rows = [
        f"{situation.id},scripted/person,rater-000{rater},{1 + rater % 3}"
        for situation in dialogues.first_per_group(1)[:3]
        for rater in (1, 2)
    ]
    table = folder / "rated.csv"
    table.write_text("\n".join(["situation,respondent,rater,rating", *rows]) + "\n")
    as_json("data", "import", "ratings", table, "--set", "dialogues", "--lab", lab.folder)


def resolved(lab: Lab) -> dict[str, list[str]]:
    """Every row that belongs to a run, with what it refers to in place of numbers."""
    with lab.reading() as connection:
        runs = connection.execute(sqlalchemy.select(schema.runs.c.id)).scalars().all()
        found = merged([run_records(connection, number) for number in runs])

    known: dict[tuple[str, int], str] = {}
    texts: dict[str, list[str]] = {}
    for name, table in TABLES.items():
        references = {
            column.name: key.column.table.name
            for column in table.c
            for key in column.foreign_keys
            if key.column.table.name != name
        }
        for row in sorted(found.get(name, []), key=lambda item: item.get("id", 0)):
            told = {
                column: known.get((references[column], value), value)
                if column in references
                else value
                for column, value in row.items()
                if column not in ("id", "reused_from")
            }
            # Of a judge's key, the number is that of the lab in which it was asked.
            text = json.dumps(told, sort_keys=True)
            texts.setdefault(name, []).append(text)
            if "id" in row:
                known[name, row["id"]] = hash_of(text)
    return {name: sorted(rows) for name, rows in texts.items()}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, Path]]:
    try:
        import inspect_ai  # noqa: F401
    except ImportError as error:
        unavailable("inspect", str(error))
    folder = tmp_path_factory.mktemp("exported")
    with Lab.open(folder / "lab") as lab:
        fill_runs(lab, folder)
        export_lab(lab, folder / "logs", format="inspect")
        yield lab, folder / "logs"


def test_every_table_comes_back_as_it_was(exported: tuple[Lab, Path], tmp_path: Path) -> None:
    own, logs = exported
    files = sorted(logs.glob("*.eval"))
    assert len(files) == 6
    printed = as_json("data", "import", "inspect", *files, "--lab", tmp_path / "lab")
    assert [log["failed"] for log in printed["logs"]] == [0, 0, 0, 0, 0, 4]
    with Lab.open(tmp_path / "lab") as lab:
        before, after = (resolved(value) for value in (own, lab))
    assert before.keys() == after.keys()
    for table in before:
        assert before[table] == after[table], table
    assert before["failures"]
    assert before["turns"]
    assert before["judgements"]
    assert before["preferences"]
    assert len(before["ratings"]) == 6
    again = as_json("data", "import", "inspect", *files, "--lab", tmp_path / "lab")
    assert not any(table["added"] for log in again["logs"] for table in log["tables"])


def test_a_log_is_what_inspect_itself_would_show(exported: tuple[Lab, Path]) -> None:
    from inspect_ai.log import read_eval_log

    lab, folder = exported
    by_task = {}
    for path in sorted(folder.glob("*.eval")):
        by_task.setdefault(read_eval_log(path).eval.task, read_eval_log(path))
    log = by_task["empathylab/respond"]
    tables = lab_tables(lab).tables
    own = tables["responses"].filter(respondent="scripted/person")
    told = {sample.id: sample.output.completion for sample in log.samples}
    assert told == dict(zip(own["situation"], own["text"], strict=True))
    sample = log.samples[0]
    assert [message.role for message in sample.messages][-2:] == ["user", "assistant"]
    usage = sum(output.usage.total_tokens for output in [event.output for event in sample.events])
    assert usage == sample.model_usage["empathylab/scripted/person"].total_tokens > 0
    rated = [
        sample.scores["people rated empathy"] for sample in log.samples if len(sample.scores) > 1
    ]
    assert [item.value for item in rated] == [2.5, 2.5, 2.5]
    ratings = rated[0].metadata["ratings"]
    assert [(rating["rater"], rating["rating"]) for rating in ratings] == [
        ("rater-0001", 2.0),
        ("rater-0002", 3.0),
    ]
    scales = by_task["empathylab/appraise"]
    (first,) = [score for score in scales.results.scores if score.name == "negative"]
    scored = tables["scores"].filter(subscale="negative")["score"].mean()
    assert first.metrics["mean"].value == pytest.approx(scored)
    conversation = by_task["empathylab/converse"].samples[0]
    assert {event.role for event in conversation.events} == {None, "simulator"}
