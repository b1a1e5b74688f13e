"""Builds the package twice and tries the wheel: the release checklist's longest step.

    python scripts/check_release.py                  every extra alone, each in a fresh environment
    python scripts/check_release.py --extra study    one of them; repeatable
    python scripts/check_release.py --build-only     only whether two builds are the same

It prints a line for each step and ends with 1 where one fails. Installing needs the network (or
pip's settings for a mirror).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
EPOCH = "1577836800"
SMOKE = {
    "": "import empathylab.analysis, empathylab.report, empathylab.export",
    "local": "import xllamacpp",
    "style": "import sklearn, vaderSentiment",
    "study": "import empathylab.study.web",
    "postgres": "import psycopg",
    "inspect": "import inspect_ai",
    "huggingface": "import huggingface_hub",
    "bayes": "import numpyro",
    "mlflow": "import mlflow",
    "wandb": "import wandb",
    "pandas": "import pandas, pyarrow",
}
"""What must be importable with each extra alone."""


def build(target: Path) -> list[Path]:
    """The wheel and the source distribution, built into the folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target)]
    environment = os.environ | {"SOURCE_DATE_EPOCH": EPOCH}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    return sorted(target.iterdir())


def built_twice(folder: Path) -> Path:
    """The wheel, after two builds gave the same bytes."""
    first, second = (build(folder / name) for name in ("first", "second"))
    for one, other in zip(first, second, strict=True):
        digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (one, other)}
        if len(digests) != 1:
            raise SystemExit(f"{one.name}: two builds differ")
        say(f"{one.name}: the same bytes twice, sha256 {digests.pop()}")
    return next(path for path in first if path.suffix == ".whl")


def try_wheel(wheel: Path, extra: str, folder: Path) -> None:
    """Installs the wheel with one extra into a fresh environment and uses it."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted)
    run(python, "-c", SMOKE[extra])
    answers = folder / "answers.json"
    answers.write_text('["That sounds hard. I am glad that you told me about it."]')
    lab = folder / "lab"
    command = [folder / "bin" / "empathylab"]
    run(*command, "respond", f"scripted/{answers}", "--situations", "1", "--lab", lab, "--report")
    run(*command, "export", "--to", folder / "out", "--lab", lab)
    if extra == "study":
        run(*command, "study", "new", folder / "mine.yaml", "--preset", "between-subjects")
    say(f"{extra or 'no extra'}: installed and used")


def run(*command: object) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = ["", *project["optional-dependencies"]]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--extra", action="append", choices=extras)
    parser.add_argument("--build-only", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = built_twice(folder)
        if not options.build_only:
            for extra in options.extra or extras:
                try_wheel(wheel, extra, folder / f"environment-{extra or 'plain'}")


if __name__ == "__main__":
    main()
