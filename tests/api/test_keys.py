"""Which address gets which key: a key goes to no address that it was not given for."""

from __future__ import annotations

from pathlib import Path

import pytest

from empathylab.api.run_options import PartnerOptions, RunOptions
from empathylab.cli.evaluate.sweep import SweepModel
from empathylab.errors import InputError
from empathylab.models import EndpointModel, Model
from tests.helpers.command_line import empathylab
from tests.helpers.endpoint import served

HERE = "http://127.0.0.1:1/v1"
THERE = "http://127.0.0.1:2/v1"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OWN", "JUDGE", "OPENAI_API_KEY", "MISTRAL_API_KEY"):
        monkeypatch.setenv(name, f"key of {name}")


def where_and_key(model: Model) -> tuple[str, str | None]:
    assert isinstance(model, EndpointModel)
    return model.base_url, model._key


@pytest.mark.parametrize(
    ("judge", "models", "run", "own", "expected"),
    [
        ("mine/judge", "mine/chat", (HERE, "OWN"), (None, None), (HERE, "key of OWN")),
        ("mine/judge", "mine/chat", (HERE, "OWN"), (f"{HERE}/", None), (HERE, "key of OWN")),
        ("other/judge", "mine/chat", (HERE, "OWN"), (None, None), (HERE, "key of OWN")),
        ("mine/judge", "mine/chat", (HERE, "OWN"), (THERE, None), (THERE, None)),
        ("other/judge", "mine/chat", (HERE, "OWN"), (THERE, "JUDGE"), (THERE, "key of JUDGE")),
        ("mine/judge", "mine/chat", (HERE, "OWN"), (None, "JUDGE"), (HERE, "key of JUDGE")),
        (
            "mistral/x",
            "mine/chat",
            (HERE, "OWN"),
            (None, None),
            ("mistral", "key of MISTRAL_API_KEY"),
        ),
        (
            "mistral/x",
            "openai/y",
            (None, "OWN"),
            (None, None),
            ("mistral", "key of MISTRAL_API_KEY"),
        ),
        ("openai/x", "openai/y", (None, "OWN"), (None, None), ("openai", "key of OWN")),
        ("openai/x", "openai/y", (None, "OWN"), (THERE, None), (THERE, None)),
    ],
)
def test_a_judge_gets_the_models_key_only_at_the_models_address(
    judge: str,
    models: str,
    run: tuple[str | None, str],
    own: tuple[str | None, str | None],
    expected: tuple[str, str | None],
) -> None:
    options = RunOptions(base_url=run[0], api_key_env=run[1])
    address, key = where_and_key(options.open_partner(judge, PartnerOptions(*own), [models]))
    assert expected[0] in address
    assert key == expected[1]


def test_one_key_is_not_sent_to_two_providers() -> None:
    with pytest.raises(InputError, match="one API key cannot be used for several providers"):
        RunOptions(api_key_env="OWN").open_models(["openai/x", "mistral/y"])
    both = RunOptions(api_key_env="OWN", base_url=HERE).open_models(["openai/x", "mistral/y"])
    assert {where_and_key(model) for model in both} == {(HERE, "key of OWN")}


def test_the_key_of_a_sweeps_command_stays_at_the_commands_address() -> None:
    shared = RunOptions(api_key_env="OWN", base_url=HERE)
    assert SweepModel(name="a/b").options(shared).api_key_env == "OWN"
    assert SweepModel(name="a/b", base_url=THERE).options(shared).api_key_env is None
    own = SweepModel(name="a/b", base_url=THERE, api_key_env="JUDGE").options(shared)
    assert (own.base_url, own.api_key_env) == (THERE, "JUDGE")


def test_a_sweeps_model_that_judges_itself_is_asked_at_its_own_address(tmp_path: Path) -> None:
    with served() as first, served() as second:
        (tmp_path / "sweep.yaml").write_text(
            "models:\n"
            f"  - {{name: a/chat, base_url: '{first.base_url}', api_key_env: OWN}}\n"
            f"  - {{name: b/chat, base_url: '{second.base_url}'}}\n"
            "situations: 1\njudge: self\n"
        )
        done = empathylab("evaluate", "sweep.yaml", "--planted", 2, cwd=tmp_path)
        assert done.exit_code == 0, done.output
        assert first.counts()["keys_seen"] == ["key of OWN"]
        assert second.counts()["keys_seen"] == ["none"]


def test_a_simulator_has_its_own_address_and_key(tmp_path: Path) -> None:
    with served() as models, served() as people:
        done = empathylab(
            *("converse", "mine/chat", "--simulator", "other/person", "--count", 1),
            *("--exchanges", 1, "--no-check", "--base-url", models.base_url),
            *("--api-key-env", "OWN", "--simulator-base-url", people.base_url),
            *("--simulator-api-key-env", "JUDGE"),
            cwd=tmp_path,
        )
        assert done.exit_code == 0, done.output
        assert models.counts()["keys_seen"] == ["key of OWN"]
        assert people.counts()["keys_seen"] == ["key of JUDGE"]
