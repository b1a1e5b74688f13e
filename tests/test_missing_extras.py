"""Without any extra: what needs one says so in one sentence with the command, the rest works."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
EXTRAS = set(
    tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
)
PACKAGES = (
    "argon2 httptools huggingface_hub inspect_ai jax mlflow numpyro psycopg pyarrow ray "
    "sklearn starlette uvicorn vaderSentiment wandb xllamacpp"
)
# Runs the commands of a JSON file in one process that has none of the packages.
PROCESS = f"""
import json, sys
sys.modules.update(dict.fromkeys({PACKAGES!r}.split()))
from typer.testing import CliRunner
from empathylab.cli import app
ended = []
for words in json.load(open(sys.argv[1])):
    environment = dict(NO_COLOR="1", COLUMNS="400", EMPATHYLAB_DATABASE_URL="")
    if words[0].startswith("postgresql:"):
        environment["EMPATHYLAB_DATABASE_URL"] = words.pop(0)
    done = CliRunner().invoke(app, words, env=environment)
    ended.append([done.exit_code, done.stdout, done.stderr, repr(done.exception)])
import empathylab as el
sys.modules["pandas"] = None  # only now: formulae, which the core needs, brings it along
try:
    el.to_pandas(el.open_lab("lab").responses())
except el.errors.UserError as error:
    ended.append([2, "", str(error), ""])
json.dump(ended, sys.stdout)
"""
RATINGS = "rater,situation,situation_text,respondent,text,rating\n" + "".join(
    f"r{rater},s{situation},It was hard.,{respondent},I am sorry.,{1 + (rater + situation) % 3}\n"
    for rater in range(6)
    for situation in range(4)
    for respondent in ("human", "model")
)
NEEDS: dict[str, list[list[str]]] = {
    "local": [["respond", "local/smollm2", "--situations", "1"]],
    "study": [["study", "serve", "mine.yaml"], ["study", "demo"], ["view"]],
    "postgres": [["postgresql://nobody@127.0.0.1:1/none", "runs", "list"]],
    "inspect": [
        ["respond", "inspect/openai/gpt-4o-mini"],
        ["data", "import", "inspect", "some.eval"],
        ["export", "--format", "inspect", "--to", "logs"],
    ],
    "huggingface": [["export", "--format", "huggingface", "--push", "someone/something"]],
    "bayes": [["analyze", "ratings", "--bayes"]],
    "mlflow": [["analyze", "ratings", "--track", "mlflow"]],
    "ray": [["analyze", "ratings", "--bootstrap", "100", "--engine", "ray"]],
    "wandb": [["evaluate", "scripted/answers.json", "--track", "wandb"]],
}
WORKS = [
    ["respond", "scripted/answers.json", "--situations", "1", "--report"],
    ["study", "new", "mine.yaml", "--preset", "between-subjects"],
    ["data", "import", "ratings", "ratings.csv"],
    ["analyze", "ratings"],
    ["analyze", "style"],
    ["export", "--to", "out"],
]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    folder = tmp_path_factory.mktemp("plain")
    (folder / "answers.json").write_text('["That sounds hard. I am glad you said it."]')
    (folder / "ratings.csv").write_text(RATINGS)
    commands = [*WORKS, *(words for several in NEEDS.values() for words in several)]
    (folder / "commands.json").write_text(json.dumps(commands))
    done = subprocess.run(
        [sys.executable, "-c", PROCESS, "commands.json"],
        cwd=folder,
        env=os.environ | {"HF_TOKEN": "hf_x", "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def test_the_core_works_without_extras(ended: list[list[Any]]) -> None:
    for words, (code, _, err, error) in zip(WORKS, ended, strict=False):
        assert code == 0, (words, err, error)
    caveats = ended[WORKS.index(["analyze", "style"])][2]
    assert re.search(r"^Sentiment needs .+ Run: pip install 'empathylab\[style\]'$", caveats, re.M)
    assert "Identifying authors needs" not in caveats


def test_what_needs_an_extra_names_the_command(ended: list[list[Any]]) -> None:
    wanted = [extra for extra, several in NEEDS.items() for _ in several] + ["pandas"]
    for extra, (code, out, err, error) in zip(wanted, ended[len(WORKS) :], strict=True):
        assert (code, out) == (2, ""), (extra, err, error)
        *progress, sentence = err.strip().splitlines()
        assert sentence.endswith(f"Run: pip install 'empathylab[{extra}]'"), (extra, err)
        assert not any("Error" in line for line in progress), err
    assert {*wanted, "style"} == EXTRAS
