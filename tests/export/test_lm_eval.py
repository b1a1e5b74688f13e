"""The single-turn protocols as tasks of lm-evaluation-harness, run by the harness itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from empathylab.analysis import appraisal
from empathylab.models import Message, Parameters, ScriptedModel
from empathylab.protocols import Appraisal, plan_appraisal
from empathylab.runs import Job, run
from empathylab.scales import builtin_scale
from empathylab.situations import builtin_set
from empathylab.store import Lab
from tests.helpers.command_line import as_json, empathylab
from tests.helpers.groups import unavailable
from tests.helpers.labs import person_like

pytestmark = [pytest.mark.lm_eval, pytest.mark.filterwarnings("ignore")]


def _harness_model() -> Any:
    """The scripted person as a chat model of the harness."""
    try:
        from lm_eval.api.model import LM
    except ImportError as error:
        unavailable("lm_eval", str(error))

    class Person(LM):  # type: ignore[misc]
        tokenizer_name = "person"

        def apply_chat_template(self, chat_history: Any, **_: Any) -> Any:
            return JsonChat(chat_history)

        def generate_until(self, requests: Any, **_: Any) -> list[str]:
            return [_answer(request.args[0]) for request in requests]

        def loglikelihood(self, requests: Any, **_: Any) -> Any:
            raise NotImplementedError

        def loglikelihood_rolling(self, requests: Any, **_: Any) -> Any:
            raise NotImplementedError

    return Person()


class JsonChat(str):
    """A chat as text that still knows its messages."""

    __slots__ = ("messages",)

    def __new__(cls, messages: list[dict[str, str]]) -> JsonChat:
        made = super().__new__(cls, str(messages))
        made.messages = [dict(message) for message in messages]
        return made


def _answer(chat: Any) -> str:
    messages = tuple(Message(message["role"], message["content"]) for message in chat.messages)
    assert [message.role for message in messages] == ["system", "user"]
    return person_like(messages, Parameters())


def test_the_harness_gets_the_numbers_of_the_lab(tmp_path: Path) -> None:
    done = as_json("tasks", "lm-eval", tmp_path / "tasks", "--situations", 1, "--lab", tmp_path)
    assert done["documents"] == {"empathylab_respond": 32, "empathylab_appraise": 12}
    person = _harness_model()
    import lm_eval
    from lm_eval.tasks import TaskManager

    found = lm_eval.simple_evaluate(
        model=person,
        tasks=list(done["documents"]),
        task_manager=TaskManager(include_path=str(tmp_path / "tasks"), include_defaults=False),
        apply_chat_template=True,
        bootstrap_iters=0,
        log_samples=False,
    )["results"]
    assert found["empathylab_respond"]["usable,none"] == 1.0
    scored = found["empathylab_appraise"]
    assert scored["readable,none"] == 1.0
    chosen = builtin_set("appraisal")
    asked = Appraisal(builtin_scale("panas"), chosen, chosen.first_per_group(1), mode="free")
    with Lab.open(tmp_path / "own") as lab:
        model = ScriptedModel(person_like, name="the/person")
        run(lab, [Job(model, [plan_appraisal(lab, model.name, asked)])])
        changes = [
            change for change in appraisal.from_lab(lab).changes if change.level == "overall"
        ]
    for change in changes:
        assert scored[f"{change.subscale}_baseline,none"] == pytest.approx(change.default_mean)
        assert scored[f"{change.subscale}_evoked,none"] == pytest.approx(change.mean)
        assert scored[f"{change.subscale}_change,none"] == pytest.approx(change.cluster_delta)


def test_a_folder_that_is_taken_and_an_unknown_set_are_named(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "mine.txt").write_text("mine")
    taken = empathylab("tasks", "lm-eval", tmp_path / "tasks", "--lab", tmp_path)
    assert taken.exit_code == 2
    assert "this path already" in taken.stderr
    unknown = empathylab("tasks", "lm-eval", tmp_path / "x", "--set", "dialogs", "--lab", tmp_path)
    assert unknown.exit_code == 2
    assert "Did you mean 'dialogues'" in unknown.stderr
