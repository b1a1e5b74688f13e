"""The tasks inside Inspect, offline: their numbers are those of EmpathyLab itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import sqlalchemy

from empathylab.analysis import appraisal, conversations
from empathylab.api.converse import choose
from empathylab.export import lab_tables
from empathylab.models import open_model
from empathylab.protocols import Appraisal, Responding, plan_appraisal, plan_responding
from empathylab.protocols.converse.persona_files import builtin_personas
from empathylab.protocols.converse.plan import SIMULATOR, Conversing, plan_conversing
from empathylab.runs import Job, run
from empathylab.scales import builtin_scale
from empathylab.situations import builtin_set
from empathylab.store import Lab, schema
from empathylab.store.judged_responses import set_responses
from empathylab.store.transfer import run_records
from tests.helpers.command_line import as_json
from tests.helpers.groups import unavailable

pytestmark = [
    pytest.mark.inspect,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
MODEL = "scripted/tests.helpers.labs:person_like"
LISTENER = "scripted/tests.helpers.conversing:kind_listener"
PERSON = "scripted/tests.helpers.conversing:rule_based_person"
JUDGE = "scripted/tests.helpers.judges:by_length"
SITUATIONS = 1
REPLIED = 6
"""Situations that are replied to, each in two epochs."""
LIMITED: dict[str, dict[str, Any]] = {"respond": {"epochs": 2, "limit": REPLIED}}


class Evaluated(NamedTuple):
    """The logs of all three tasks, and a lab in which EmpathyLab asked the same."""

    logs: dict[str, Any]
    lab: Lab


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evaluated]:
    try:
        import inspect_ai
    except ImportError as error:
        unavailable("inspect", str(error))
    folder = tmp_path_factory.mktemp("inspect")
    asked = {
        "appraise": (MODEL, {"situations": SITUATIONS, "orders": 2}),
        "respond": (MODEL, {"situations": SITUATIONS, "judge_model": f"empathylab/{JUDGE}"}),
        "converse": (LISTENER, {"count": 2, "exchanges": 2, "simulator": f"empathylab/{PERSON}"}),
    }
    logs = {}
    for name, (model, settings) in asked.items():
        (logs[name],) = inspect_ai.eval(
            f"empathylab/{name}",
            model=f"empathylab/{model}",
            task_args=settings,
            log_dir=str(folder / "logs"),
            display="none",
            **LIMITED.get(name, {}),
        )
    with Lab.open(folder / "lab") as lab:
        _measure(lab)
        yield Evaluated(logs, lab)


def _measure(lab: Lab) -> None:
    """The same three protocols, carried out by EmpathyLab."""
    chosen, dialogues = builtin_set("appraisal"), builtin_set("dialogues")
    situations = chosen.first_per_group(SITUATIONS)
    administered = Appraisal(builtin_scale("panas"), chosen, situations, orders=2)
    replied = Responding(dialogues, dialogues.first_per_group(SITUATIONS)[:REPLIED], samples=2)
    talk = Conversing(choose(builtin_personas(), (), 2, "en"), PERSON, exchanges=2)
    model = open_model(MODEL)
    run(lab, [Job(model, [plan_appraisal(lab, MODEL, administered)])])
    run(lab, [Job(model, [plan_responding(lab, MODEL, replied)])])
    partners = {SIMULATOR: open_model(PERSON)}
    plans = [plan_conversing(lab, LISTENER, talk)]
    run(lab, [Job(open_model(LISTENER), plans, partners=partners)])


def metrics(log: Any, name: str) -> dict[str, float]:
    (found,) = [score for score in log.results.scores if score.name == name]
    return {key: metric.value for key, metric in found.metrics.items()}


def test_each_log_is_complete_and_opens_again(evaluated: Evaluated) -> None:
    from inspect_ai.log import read_eval_log

    for name, log in evaluated.logs.items():
        again = read_eval_log(log.location)
        assert again.status == "success", again.error
        assert again.eval.task == f"empathylab/{name}"
        assert all(sample.error is None for sample in again.samples)
        assert again.stats.model_usage[again.eval.model].total_tokens > 0


def test_the_change_of_a_scale_is_that_of_the_analysis(evaluated: Evaluated) -> None:
    found = metrics(evaluated.logs["appraise"], "scale_scores")
    changes = [
        change for change in appraisal.from_lab(evaluated.lab).changes if change.level == "overall"
    ]
    assert {change.subscale for change in changes} == {"positive", "negative"}
    for change in changes:
        assert found[f"{change.subscale}_baseline"] == pytest.approx(change.default_mean)
        assert found[f"{change.subscale}_evoked"] == pytest.approx(change.mean)
        assert found[f"{change.subscale}_change"] == pytest.approx(change.cluster_delta)
        assert found[f"{change.subscale}_change_stderr"] == pytest.approx(change.error[0])


def test_the_replies_and_their_checks_are_those_of_the_lab(evaluated: Evaluated) -> None:
    log = evaluated.logs["respond"]
    own = lab_tables(evaluated.lab).tables["responses"]
    usable = float((own["outcome"] == "valid").mean() or 0.0)
    assert metrics(log, "reply_checks")["mean"] == pytest.approx(usable)
    told = {(sample.id, sample.epoch - 1): sample.output.completion for sample in log.samples}
    assert told == {(row["situation"], row["sample"]): row["text"] for row in own.to_dicts()}


def test_the_judge_gives_what_the_command_judge_gives(evaluated: Evaluated) -> None:
    judged = as_json(
        *("judge", JUDGE, "--set", "dialogues", "--dimension", "empathy"),
        *("--lab", evaluated.lab.folder),
    )
    assert len(set_responses(evaluated.lab, "dialogues")) == judged["responses"]
    (own,) = judged["judges"]
    assert metrics(evaluated.logs["respond"], "empathy")["mean"] == pytest.approx(own["mean"])


def test_a_judge_can_be_given_as_a_role_alone(evaluated: Evaluated, tmp_path: Path) -> None:
    import inspect_ai

    (log,) = inspect_ai.eval(
        "empathylab/respond",
        model=f"empathylab/{MODEL}",
        model_roles={"judge": f"empathylab/{JUDGE}"},
        task_args={"situations": SITUATIONS},
        log_dir=str(tmp_path),
        display="none",
        limit=1,
    )
    [sample] = log.samples or []
    [before] = [
        sample_before
        for sample_before in evaluated.logs["respond"].samples
        if (sample_before.id, sample_before.epoch) == (sample.id, 1)
    ]
    assert sample.scores["judge"].value == before.scores["judge"].value


def test_the_final_feeling_and_its_interval_are_those_of_the_analysis(
    evaluated: Evaluated,
) -> None:
    found = metrics(evaluated.logs["converse"], "conversation")
    (own,) = conversations.from_lab(evaluated.lab).respondents
    assert own.n == 2
    assert found["mean"] == pytest.approx(own.mean_final)
    assert found["low"] == pytest.approx(own.low, nan_ok=True)
    assert found["high"] == pytest.approx(own.high, nan_ok=True)


@pytest.mark.parametrize("name", ["appraise", "respond", "converse"])
def test_an_imported_log_is_the_run_of_the_lab(
    evaluated: Evaluated, tmp_path: Path, name: str
) -> None:
    """Run, answers and what they mean, row by row; times and numbers of rows aside."""
    log = evaluated.logs[name]
    done = as_json("data", "import", "inspect", log.location, "--lab", tmp_path / "lab")
    assert done["logs"][0]["samples"] == len(log.samples)
    with Lab.open(tmp_path / "lab") as lab:
        own, brought = (rows(value, name) for value in (evaluated.lab, lab))
    # A limit and epochs of Inspect are no part of what identifies the run.
    assert [item | {"fingerprint": ""} for item in own["runs"]] == [
        item | {"fingerprint": ""} for item in brought["runs"]
    ]
    del own["runs"]
    for table in own:
        assert sorted(map(str, own[table])) == sorted(map(str, brought[table])), table
        assert own[table] or table != "answers"
    again = as_json("data", "import", "inspect", log.location, "--lab", tmp_path / "lab")
    assert all(table["added"] == 0 for table in again["logs"][0]["tables"])


PASSING = ("id", "added_at", "asked_at", "answered_at", "latency", "started_at", "finished_at")
PASSING += ("last_used_at", "rater_id", "conversation_id", "run_id", "answer_id", "respondent_id")
PASSING += (
    "situation_id",
    "situation_set_id",
    "administration_id",
    "persona_id",
    "scale_id",
    "import_id",
)


def rows(lab: Lab, protocol: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of the lab's run of that protocol, without what differs from time to time."""
    with lab.reading() as connection:
        query = sqlalchemy.select(schema.runs.c.id).where(schema.runs.c.protocol == protocol)
        found = run_records(connection, connection.execute(query).scalar_one())
    return {
        name: [{key: row[key] for key in row if key not in PASSING} for row in of_table]
        for name, of_table in found.items()
    }
