"""The command line's contract: exit codes, streams, help, laziness."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from empathylab.errors import RequestRejected
from empathylab.models import Message, Parameters
from empathylab.scales import builtin_scales
from tests.helpers.command_line import command, empathylab, process
from tests.helpers.endpoint import Served, served
from tests.helpers.waiting import wait_until

PANAS = json.dumps({str(n): 1 + n % 4 for n in range(1, 21)})


@pytest.fixture
def script(tmp_path: Path) -> str:
    """A model that answers every scale and every person alike."""
    file = tmp_path / "answers.json"
    file.write_text(json.dumps([PANAS]))
    return f"scripted/{file}"


def commands() -> list[list[str]]:
    found: list[list[str]] = [[]]

    def walk(group: object, path: list[str]) -> None:
        for name, child in getattr(group, "commands", {}).items():
            found.append([*path, name])
            walk(child, [*path, name])

    walk(command(), [])
    return found


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_commands_help_has_an_example(command: list[str]) -> None:
    done = empathylab(*command, "--help")
    assert done.exit_code == 0
    assert "Example" in done.stdout, done.stdout
    assert done.stderr == ""


def test_help_loads_nothing_heavy() -> None:
    heavy = [
        "aiohttp",
        "alembic",
        "altair",
        "jinja2",
        "numpy",
        "polars",
        "scipy",
        "sqlalchemy",
        "vl_convert",
    ]
    check = f"import sys, empathylab.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_version_is_printed() -> None:
    assert process("--version").stdout.startswith("empathylab 0.")


def test_evaluate_prints_a_table_and_then_json_alone_and_asks_nothing_twice(
    tmp_path: Path, script: str
) -> None:
    arguments = ("evaluate", script, "--situations", "1", "--lab", tmp_path / "lab")
    done = empathylab(*arguments)
    assert done.exit_code == 0, done.stderr
    report = tmp_path / "lab" / "reports" / "report.html"
    assert f"Report: {report}" in done.stdout
    assert report.stat().st_size > 100_000
    assert "all situations" in done.stdout
    assert "respond scripted" in done.stderr  # progress, as plain lines
    assert "32 of 32" in done.stderr
    content = json.loads(empathylab(*arguments, "--json").stdout)
    assert [session["done"] for session in content["sessions"]] == [12, 32]
    assert [session["asked"] for session in content["sessions"]] == [0, 0]
    assert {change["subscale"] for change in content["changes"]} == {"positive", "negative"}
    assert Path(content["report"]).is_file()


def test_the_lab_is_named_by_option_variable_or_default(tmp_path: Path, script: str) -> None:
    small = ("respond", script, "--situations", "1")
    empathylab(*small, cwd=tmp_path)
    empathylab(*small, cwd=tmp_path, EMPATHYLAB_LAB=str(tmp_path / "by-variable"))
    assert (tmp_path / "lab" / "lab.sqlite").is_file()
    assert (tmp_path / "by-variable" / "lab.sqlite").is_file()


@pytest.mark.postgres
def test_a_lab_on_postgresql_works_end_to_end(
    tmp_path: Path, script: str, postgres_url: str
) -> None:
    done = empathylab(
        *("evaluate", script, "--situations", "1", "--lab", tmp_path),
        EMPATHYLAB_DATABASE_URL=postgres_url.replace("postgresql+psycopg", "postgresql"),
    )
    assert done.exit_code == 0, done.stderr
    assert not (tmp_path / "lab.sqlite").exists()
    assert (tmp_path / "reports" / "report.html").is_file()


def test_a_wrong_choice_is_named_without_the_validators_words(tmp_path: Path) -> None:
    done = empathylab("analyze", "ratings", "--by", "sex", cwd=tmp_path)
    assert done.exit_code == 2
    assert "Invalid value for '--by': 'sex' is not one of" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["evaluate", "opnai/gpt-4o"], "there is no provider 'opnai'. Did you mean 'openai'"),
        (["evaluate", "openai/gpt-4o"], "OPENAI_API_KEY is not set"),
        (["respond", "scripted/none.txt"], "cannot be read"),
        (["appraise", "local/smollm2", "--scale", "pana"], "Did you mean 'panas'"),
        (["appraise", "local/smollm2", "--emotion", "gilt"], "Did you mean 'guilt'"),
        (["appraise", "local/smollm2", "--factor", "Winer"], "Did you mean 'Winter'"),
        (["appraise", "local/smollm2", "--scale", "bdi"], "empathylab scales import"),
        (["respond", "local/smollm2", "--set", "dialoges"], "Did you mean 'dialogues'"),
        (["data", "show", "dialoges"], "Did you mean 'dialogues'"),
        (["data", "show", "appraisal", "--emotion", "gilt"], "Did you mean 'guilt'"),
        (["scales", "show", "tec"], "Did you mean 'teq'"),
        (["models", "install", "smollm3"], "Did you mean 'smollm2'"),
        (["report", "--lab", "nowhere"], "there is no lab here"),
    ],
)
def test_what_the_user_can_fix_is_one_sentence_and_exit_2(
    tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    done = empathylab(*arguments, cwd=tmp_path)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_unknown_option_exits_with_2() -> None:
    assert empathylab("evaluate", "--situatons", "3").exit_code == 2


def test_an_unreachable_endpoint_is_one_sentence(tmp_path: Path) -> None:
    base_url = "http://127.0.0.1:1/v1"
    done = empathylab("evaluate", "x/y", "--base-url", base_url, "--lab", tmp_path)
    assert done.exit_code == 2
    assert "cannot connect to the model's address" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_database_url_is_one_sentence(tmp_path: Path, script: str) -> None:
    done = empathylab(
        "evaluate", script, "--lab", tmp_path, EMPATHYLAB_DATABASE_URL="mysql://u:p@h/d"
    )
    assert done.exit_code == 2
    assert "SQLite or PostgreSQL" in done.stderr


def test_a_cap_ends_with_2_and_a_report(tmp_path: Path, endpoint: Served) -> None:
    done = empathylab(
        *("respond", "x/y", "--base-url", endpoint.base_url, "--max-total-tokens", "600"),
        "--report",
        *("--concurrency", "1", "--lab", tmp_path),
    )
    assert done.exit_code == 2
    assert "--max-total-tokens: the limit stopped the run" in done.stderr
    assert (tmp_path / "reports" / "report.html").is_file()


def rejects_the_second_sample(
    _messages: tuple[Message, ...], parameters: Parameters
) -> str | RequestRejected:
    return RequestRejected("HTTP 400: too odd") if parameters.seed == 2 else "I see."


def test_requests_without_an_answer_end_with_1_and_a_report(tmp_path: Path) -> None:
    model = "scripted/tests.cli.test_contract:rejects_the_second_sample"
    options = ("--situations", "1", "--samples", "2", "--report", "--lab", tmp_path)
    done = empathylab("respond", model, *options)
    assert done.exit_code == 1
    assert "32 requests got no answer: 32 × rejected" in done.stderr
    assert "Report:" in done.stdout


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command_says_so_and_the_same_command_goes_on(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with served(latency=0.2) as slow:
        command = ["respond", "x/y", "--base-url", slow.base_url, "--lab", str(tmp_path)]
        command += ["--concurrency", "2", "--json"]
        running = subprocess.Popen(
            [sys.executable, "-m", "empathylab", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until(lambda: sum(slow.counts()["answered"].values()) >= 6)
        running.send_signal(number)
        _, said = running.communicate(timeout=120)
        assert running.returncode == code
        assert "Run the same command again to resume." in said
        assert "Traceback" not in said
        command[command.index("--concurrency") + 1] = "50"
        [session] = json.loads(empathylab(*command).stdout)["sessions"]
    assert session["already"] >= 4
    assert session["missing"] == 0


def test_the_key_reaches_no_file_and_no_stream(tmp_path: Path) -> None:
    secret = "sk-very-secret-0123456789"
    with served(key=secret) as endpoint:
        good = empathylab(
            *("respond", "x/y", "--base-url", endpoint.base_url, "--api-key-env", "MY_KEY"),
            *("--situations", "1", "--lab", tmp_path / "lab"),
            MY_KEY=secret,
        )
        assert good.exit_code == 0, good.stderr
        bad = empathylab(
            *("respond", "x/y", "--base-url", endpoint.base_url, "--api-key-env", "MY_KEY"),
            *("--lab", tmp_path / "lab"),
            MY_KEY="sk-wrong-secret-987654321",
        )
        assert bad.exit_code == 2
    streams = good.stdout + good.stderr + bad.stdout + bad.stderr
    assert "secret" not in streams
    for file in (tmp_path / "lab").rglob("*"):
        if file.is_file():
            assert b"secret-0123" not in file.read_bytes(), file
            assert b"secret-9876" not in file.read_bytes(), file


def test_models_says_what_to_set(tmp_path: Path) -> None:
    done = empathylab("models", "--json", "--timeout", "1", EMPATHYLAB_CACHE=str(tmp_path))
    rows = {row["provider"]: row for row in json.loads(done.stdout)["models"]}
    assert rows["openai"]["detail"] == "set OPENAI_API_KEY"
    assert rows["local/smollm2"]["detail"] == "run: empathylab models install smollm2"
    assert "no server at" in rows["ollama"]["detail"]


def test_data_and_scales_can_be_listed(tmp_path: Path) -> None:
    sets = json.loads(empathylab("data", "list", "--json", "--lab", tmp_path).stdout)["sets"]
    assert {row["set"]: row["situations"] for row in sets} == {
        "appraisal": 180,
        "appraisal-de": 16,
        "appraisal-zh": 16,
        "dialogues": 192,
        "dialogues-de": 16,
        "dialogues-zh": 16,
        "posts": 48,
    }
    listed = json.loads(empathylab("scales", "list", "--json").stdout)["scales"]
    assert [row["scale"] for row in listed] == list(builtin_scales())


def test_output_into_a_closed_pipe_is_no_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -m empathylab data show dialogues | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
