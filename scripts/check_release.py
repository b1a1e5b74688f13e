"""Builds the package twice and tries the wheel: the release checklist's longest step.

    python scripts/check_release.py                  every extra alone, each in a fresh environment
    python scripts/check_release.py --extra study    one of them; repeatable
    python scripts/check_release.py --build-only     only whether two builds are the same

It prints a line for each step, goes on after one that fails, and ends with 1 then. Installing needs
the network (or pip's settings for a mirror). An environment is deleted once it was tried.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
EPOCH = "1577836800"
SMOKE = {
    "": "import empathylab.analysis, empathylab.report, empathylab.export",
    "local": "import xllamacpp",
    "style": "import vaderSentiment",
    "study": "import empathylab.study.web",
    "postgres": "import psycopg",
    "inspect": "import inspect_ai",
    "huggingface": "import huggingface_hub",
    "bayes": "import numpyro",
    "mlflow": "import mlflow",
    "wandb": "import wandb",
    "ray": "import ray",
    "pandas": "import pandas, pyarrow",
    "local,study": "import xllamacpp, empathylab.study.web",
}
"""What must be importable with each extra alone, and with the two of the README together."""


class Failed(Exception):
    """A command of the check ended with an error."""


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


def try_wheel(wheel: Path, extras: str, folder: Path) -> None:
    """Installs the wheel with these extras into a fresh environment and uses it."""
    begun = time.monotonic()
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    wanted = f"{wheel}[{extras}]" if extras else str(wheel)
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run(*pip, "install", "--no-compile", wanted)
    run(*pip, "check")
    run(python, "-c", SMOKE[extras])
    answers = folder / "answers.json"
    answers.write_text('["That sounds hard. I am glad that you told me about it."]')
    lab = folder / "lab"
    command = [folder / "bin" / "empathylab"]
    run(*command, "respond", f"scripted/{answers}", "--situations", "1", "--lab", lab, "--report")
    run(*command, "export", "--to", folder / "out", "--lab", lab)
    if "study" in extras:
        run(*command, "study", "new", folder / "mine.yaml", "--preset", "between-subjects")
    say(f"{extras or 'no extra'}: installed and used, {time.monotonic() - begun:.0f} s")


def run(*command: object) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--extra", action="append", choices=list(SMOKE))
    parser.add_argument("--build-only", action="store_true")
    options = parser.parse_args()
    failed = []
    with tempfile.TemporaryDirectory() as name:
        wheel = built_twice(Path(name))
        for extras in [] if options.build_only else options.extra or SMOKE:
            folder = Path(name) / "environment"
            try:
                try_wheel(wheel, extras, folder)
            except Failed as error:
                say(f"{extras or 'no extra'}: failed\n{error}")
                failed.append(extras or "no extra")
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    if failed:
        raise SystemExit(f"Failed: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
