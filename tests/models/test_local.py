"""The embedded model, for real."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import pytest

from empathylab.errors import ModelSetup
from empathylab.models import Completion, LocalModel, Message, Parameters, known_weights
from tests.helpers.groups import unavailable
from tests.helpers.waiting import wait_until

pytestmark = pytest.mark.embedded


@pytest.fixture(scope="module")
def weights() -> Path:
    pytest.importorskip("xllamacpp")
    installed = known_weights("smollm2")
    if not installed.installed:
        unavailable("embedded", "run `empathylab models install smollm2`")
    return installed.path


def with_model(
    path: Path, use: Callable[[LocalModel], Awaitable[list[Completion]]]
) -> list[Completion]:
    async def session() -> list[Completion]:
        model = LocalModel("local/smollm2", path, slots=4)
        try:
            return await use(model)
        finally:
            await model.close()

    return asyncio.run(session())


def question(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)


def children() -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if "empathylab.models.llama_server" in " ".join(child.cmdline())
    ]


def test_it_answers_several_at_once_and_ends_cleanly(
    weights: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def use(model: LocalModel) -> list[Completion]:
        assert children() == []  # started on first use, not before
        parameters = Parameters(temperature=0, max_tokens=12, seed=1)
        asked = (model.complete(question(f"Say {n}."), parameters, timeout=60) for n in range(4))
        answers = list(await asyncio.gather(*asked))
        assert len(children()) == 1
        return answers

    answers = with_model(weights, use)
    assert len(answers) == 4
    assert all(answer.text.strip() and answer.usage.completion_tokens > 0 for answer in answers)
    assert children() == []
    assert capfd.readouterr().err == ""


def test_it_obeys_a_schema_gives_logprobs_and_reports_the_token_limit(weights: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"1": {"type": "integer", "enum": [1, 2, 3]}},
        "required": ["1"],
        "additionalProperties": False,
    }

    async def use(model: LocalModel) -> list[Completion]:
        parameters = Parameters(temperature=0, max_tokens=40, schema=schema, top_logprobs=5)
        few = Parameters(temperature=0, max_tokens=3)
        return [
            await model.complete(question("How are you, 1 to 3?"), parameters, timeout=60),
            await model.complete(question("Tell a long story."), few, timeout=60),
        ]

    answer, cut = with_model(weights, use)
    assert cut.finish_reason == "length"
    assert json.loads(answer.text)["1"] in (1, 2, 3)
    assert answer.logprobs is not None
    first = answer.logprobs[0]
    assert len(first.top) == 5
    assert sum(math.exp(value) for value in first.top.values()) <= 1.0001


def test_a_file_that_is_no_model_is_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"this is not a model" * 100)

    async def use(model: LocalModel) -> list[Completion]:
        return [await model.complete(question("Hello?"), Parameters(), timeout=30)]

    with pytest.raises(ModelSetup, match="could not load the model file"):
        with_model(file, use)
    assert children() == []


SCRIPT = """
import asyncio, sys
from pathlib import Path
from empathylab.models import LocalModel, Message, Parameters

async def main():
    model = LocalModel("local/smollm2", Path(sys.argv[1]))
    await model.complete((Message("user", "Hi"),), Parameters(max_tokens=2), timeout=60)
    print("up", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def test_it_does_not_outlive_a_killed_parent(weights: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(weights)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "up\n"
    [child] = psutil.Process(parent.pid).children(recursive=True)
    os.kill(parent.pid, signal.SIGKILL)
    parent.communicate()
    wait_until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_it_chooses_its_threads_again_once_it_has_become_slow(weights: Path) -> None:
    async def use(model: LocalModel) -> list[Completion]:
        first = await model.complete(question("Hello?"), Parameters(max_tokens=2), timeout=120)
        [before] = children()
        model._slow = True  # as the watch over its rate would say
        asked = [
            model.complete(question(f"Hello {n}?"), Parameters(max_tokens=2), timeout=120)
            for n in range(3)
        ]
        later = await asyncio.gather(*asked)
        [after] = children()
        assert before.pid != after.pid
        assert model.threads is not None
        return [first, *later]

    answers = with_model(weights, use)
    assert [answer.usage.completion_tokens for answer in answers] == [2, 2, 2, 2]
    assert children() == []
