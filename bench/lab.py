"""A big lab: how fast its rows come in, and how soon each command gives its first answer.

Prints `name value` lines. A file of replies by 200 respondents and a file of ratings are made up
and imported with `empathylab data import`, on SQLite and on PostgreSQL: rows per second, processor
time per row, and the most memory that the command took. Then the commands that list what the lab
holds, each as a process of its own: seconds until it prints something (`_s`), processor time until
it ends (`_cpu_s`) and memory (`_mb`); those with `again` find counts that the lab has kept. `load`
is the machine's load average at the end: above 1, only processor times can be compared.

Options: `--responses 500000 --ratings 1000000 --database sqlite|postgres|both`. Two million replies
and five million ratings need about 0.7 GB for the files and 2 GB for the lab.
Left out: a network to the database; other users at work; texts much longer than 40 words.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.helpers.postgres import postgres

RESPONDENTS = 200
FIRST_ANSWERS = {
    "runs_list": ("runs", "list"),
    "data_list": ("data", "list"),
    "data_list_again": ("data", "list"),
    "data_show_set": ("data", "show", "replies"),
    "data_show_study": ("data", "show", "big"),
    "data_show_study_again": ("data", "show", "big"),
    "data_show_responses": ("data", "show", "responses"),
    "scales": ("scales", "list"),
    "analyze_help": ("analyze", "--help"),
}


def write_replies(path: Path, rows: int) -> None:
    """`rows` replies of 40 words, as many by each respondent."""
    drawn = random.Random(1)
    words = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("la", "no", "ri", "")]
    pool = [" ".join(drawn.choices(words, k=38)) for _ in range(5_000)]
    with path.open("w") as file:
        file.write("situation,respondent,situation_text,emotion,text\n")
        for row in range(rows):
            situation, respondent = divmod(row, RESPONDENTS)
            file.write(
                f"s{situation},bench/model-{respondent},Situation {situation} happened.,joy,"
                f"{pool[(row * 7919) % 5_000]} number {row}\n"
            )


def write_ratings(path: Path, rows: int, responses: int) -> None:
    """`rows` ratings by raters who rate 50 replies each."""
    with path.open("w") as file:
        file.write("situation,respondent,rater,rating,seconds\n")
        for row in range(rows):
            situation, respondent = divmod((row * 7) % responses, RESPONDENTS)
            rater = row // 50 + (row // responses) * 1_000_000
            file.write(
                f"s{situation},bench/model-{respondent},r{rater},{row % 5 + 1},{row % 60}.5\n"
            )


def command(
    arguments: Sequence[str], environment: Mapping[str, str]
) -> tuple[float, float, float, int]:
    """Seconds to the first output of a command and to its end, processor seconds, and most MB."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "empathylab", *arguments],
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    said = process.stdout.read(1)
    first = time.perf_counter() - begun
    said += process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said
    seconds, cpu = time.perf_counter() - begun, used.ru_utime + used.ru_stime
    return first, seconds, cpu, used.ru_maxrss // 1024


def first_page(environment: Mapping[str, str], lab: Path) -> Iterator[tuple[str, float]]:
    """Seconds until `view` answers with its first page, and until its list of replies does."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "empathylab", "view", "--lab", str(lab), "--port", "0", "--json",
         "--no-open"],
        env=dict(environment),
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        link = urllib.parse.urlsplit(json.loads(said)["link"])
        # The link's key becomes a cookie, as in a browser.
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        for name, address in (
            ("view", link.geturl()),
            ("view_replies", f"http://{link.netloc}/replies"),
        ):
            browser.open(address, timeout=120).read()
            yield name, time.perf_counter() - begun
            begun = time.perf_counter()
    finally:
        process.terminate()
        process.wait(30)


def measure(prefix: str, folder: Path, options: argparse.Namespace, database: str | None) -> None:
    """Prints what the import and the first answers take."""
    environment = {**os.environ, "COLUMNS": "120"}
    environment.pop("EMPATHYLAB_DATABASE_URL", None)
    if database:
        environment["EMPATHYLAB_DATABASE_URL"] = database
    lab = folder / f"{prefix}lab"
    for kind, rows, more in (
        ("responses", options.responses, ()),
        ("ratings", options.ratings, ("--set", "replies", "--study", "big")),
    ):
        file = folder / ("replies.csv" if kind == "responses" else "ratings.csv")
        _, seconds, cpu, memory = command(
            ("data", "import", kind, str(file), "--lab", str(lab), *more), environment
        )
        print(f"{prefix}{kind}_rows_per_second {rows / seconds:.0f}")
        print(f"{prefix}{kind}_cpu_us_per_row {1e6 * cpu / rows:.1f}")
        print(f"{prefix}{kind}_import_mb {memory}", flush=True)
    if not database:
        size = sum(file.stat().st_size for file in lab.glob("lab.sqlite*"))
        print(f"{prefix}lab_mb {size // 1_000_000}")
    for name, arguments in FIRST_ANSWERS.items():
        given = arguments if "--help" in arguments else (*arguments, "--lab", str(lab))
        first, _, cpu, memory = command(given, environment)
        print(f"{prefix}first_answer_{name}_s {first:.2f}")
        print(f"{prefix}first_answer_{name}_cpu_s {cpu:.2f}")
        print(f"{prefix}first_answer_{name}_mb {memory}", flush=True)
    for name, seconds in first_page(environment, lab):
        print(f"{prefix}first_answer_{name}_s {seconds:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--responses", type=int, default=500_000)
    parser.add_argument("--ratings", type=int, default=1_000_000)
    parser.add_argument("--database", choices=("sqlite", "postgres", "both"), default="both")
    parser.add_argument("--folder", type=Path, help="Keeps the files and the lab there.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        write_replies(folder / "replies.csv", options.responses)
        write_ratings(folder / "ratings.csv", options.ratings, options.responses)
        if options.database != "postgres":
            measure("", folder, options, None)
        if options.database != "sqlite":
            with postgres() as address:
                measure("postgres_", folder, options, address)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
