"""Every command of the README and the docs is run here, or its page says why not.

A block or table of commands that is not run has `<!-- not run: REASON -->` in the line above it,
one whose command ends with another exit code than 0 `<!-- exits with CODE -->`. Blocks with
`<!-- asks models -->` are run in one lab, with few situations and a server on this machine in place
of the providers. What tutorials show as output is compared with what the commands print, "…"
standing for anything.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import shlex
import shutil
import sys
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
import yaml

import empathylab as el
from empathylab.models import PROVIDERS
from empathylab.situations.sets import builtin_set
from empathylab.store import Lab
from empathylab.study.demo import open_demo
from tests.helpers.command_line import empathylab
from tests.helpers.endpoint import served

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# Written from the code, run as notebooks, or records of the past.
ELSEWHERE = ("reference", "notebooks", "decisions")
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted(DOCS.rglob("*.md"))
        if page.relative_to(DOCS).parts[0] not in ELSEWHERE
    ),
]
PART = re.compile(
    r"(?:^ *<!-- (?P<mark>not run: [^\n]+|exits with \d+|asks models) -->\n+)?"
    r"(?:^ *```(?P<language>\w*)\n(?P<block>.*?)^ *```$|(?P<table>(?:^\|[^\n]*\n)+))",
    re.MULTILINE | re.DOTALL,
)


class Part(NamedTuple):
    """A block or table of a page: commands, or what a file or the program holds."""

    mark: str
    language: str
    text: str
    commands: list[list[str]]

    @property
    def runs_here(self) -> bool:
        """Whether it is run with the rest of its page."""
        return not self.mark.startswith(("not run", "asks models"))


def parts(page: Path) -> Iterator[Part]:
    """All blocks of the page, and its tables with commands."""
    for found in PART.finditer(page.read_text(encoding="utf-8")):
        text = found["block"] or found["table"]
        if found["table"]:
            lines = [
                cell.replace("\\|", "|")
                for cell in re.findall(r"\| `(empathylab [^`]+)` \|$", text, re.MULTILINE)
            ]
        elif found["language"] in ("", "bash"):
            lines = text.replace("\\\n", " ").splitlines()
        else:
            lines = []
        words = [
            shlex.split(line.strip().removeprefix("$ "), comments=True)
            for line in lines
            if line.strip().removeprefix("$ ").startswith("empathylab ")
        ]
        yield Part(found["mark"] or "", found["language"] or "", text, words)


def run(part: Part, folder: Path) -> str:
    """What the part's commands print; they end as the page says."""
    expected = int(part.mark.rpartition(" ")[2]) if part.mark else 0
    printed = ""
    for _, *words in part.commands:
        done = empathylab(
            *words, cwd=folder, given="y\n", COLUMNS="200", EMPATHYLAB_LAB=str(folder / "lab")
        )
        assert done.exit_code == expected, f"{words}\n{done.output}"
        printed += done.output
    return printed


def plain(text: str) -> str:
    return " ".join(text.split())


def assert_shown(shown: str, printed: str) -> None:
    """Every line of the page's output is among what was printed."""
    for line in shown.splitlines():
        for piece in line.split("…"):
            assert plain(piece) in plain(printed), f"not printed: {piece!r}\n{printed}"


def demo_lab(folder: Path) -> None:
    with Lab.open(folder) as lab:
        open_demo(lab)


def demo(folder: Path) -> str:
    demo_lab(folder / "lab")
    return ""


def tables(folder: Path) -> str:
    """Tables such as a user may have: ratings by people and a model, replies, scores."""
    rows = [
        {"rater": f"r{rater}", "situation": f"s{item}", "arm": arm, "respondent": arm,
         "rating": 1 + (rater + item + (rater * item) % 3 + (arm == "model")) % 4,
         "valence": "positive" if item % 2 else "negative"}
        for rater in range(24) for item in range(6) for arm in [("human", "model")[rater % 2]]
    ]  # fmt: skip
    ratings = pl.DataFrame(rows)
    ratings.write_csv(folder / "ratings.csv")
    names = {"rater": "annotator", "situation": "post_id", "arm": "system"}
    ratings.rename(names | {"rating": "empathy_score"}).write_csv(folder / "annotations.csv")
    words = pl.col("rating").replace_strict({1: "Poor", 2: "Fair", 3: "Fair", 4: "Great"})
    ratings.with_columns(words).write_csv(folder / "labels.csv")
    judged = ratings.with_columns(rater_kind=pl.lit("person")).vstack(
        ratings.filter(pl.col("rater").is_in(["r0", "r1"])).with_columns(
            rater=pl.lit("test/judge"), rater_kind=pl.lit("model")
        )
    )
    judged.write_csv(folder / "judged.csv")
    pl.DataFrame(
        [{"item": item, "model": name, "score": (item * 7 % 5) + (name == "b")}
         for item in range(20) for name in "ab"]
    ).write_csv(folder / "scores.csv")  # fmt: skip
    pl.DataFrame(
        [{"first": "a", "second": "b", "outcome": ("first", "second", "tie")[row % 3]}
         for row in range(30)]
    ).write_csv(folder / "pairs.csv")  # fmt: skip
    pl.DataFrame(
        [{"respondent": name, "situation": f"s{item}", "text": f"{words} {item} times, my friend."}
         for item in range(12) for name, words in (("a", "I am so sorry that happened"),
                                                   ("b", "You should call them at once, now"))]
    ).write_csv(folder / "replies.csv")  # fmt: skip
    return ""


def recipients(folder: Path) -> str:
    rows = [
        {"participant": f"p{row}", "response": ("ai", "human")[row % 2],
         "label": ("ai", "human")[row // 2 % 2], "reply": f"p{row}",
         "heard": 3 + (row * 7 % 5) / 2, "mood_before": row % 4, "mood_after": row % 3 + 2}
        for row in range(80)
    ]  # fmt: skip
    table = pl.DataFrame(rows)
    table.write_csv(folder / "recipients.csv")
    table.select(
        "reply",
        rating=pl.col("heard").rank("dense"),
        rater=pl.lit("x"),
        rater_kind=pl.lit("person"),
    ).write_csv(folder / "ratings.csv")
    return ""


def importable(folder: Path) -> str:
    """A file of every kind that can be imported."""
    (folder / "situations.csv").write_text("id,text,emotion\n1,The dog is ill.,sad\n")
    (folder / "replies.csv").write_text("situation,text\n1,I am so sorry to hear that.\n")
    (folder / "ratings.csv").write_text(
        "situation,situation_text,emotion,respondent,text,rater,rating\n"
        "1,The dog is ill.,sad,human,Get well soon to your dog.,r1,Good\n"
    )
    (folder / "people.csv").write_text("rater,age\nr1,34\n")
    (folder / "forum.csv").write_text("domain,post\nwork,They gave my desk to someone else.\n")
    items = ", ".join(f'"{number}": "Statement {number}"' for number in range(1, 17))
    (folder / "teq.json").write_text(f'{{"name": "TEQ", "items": {{{items}}}}}')
    return ""


def own_replies(folder: Path) -> str:
    known = builtin_set("dialogues").situations[0].id
    (folder / "mine.csv").write_text(f"situation,text\n{known},I am so sorry to hear that.\n")
    return ""


def released(name: str) -> Callable[[Path, Path], str]:
    def bring(folder: Path, shared: Path) -> str:
        if name == "emotionbench":
            done = empathylab(
                "data", "import", name, shared / name, "--lab", folder / "lab", COLUMNS="200"
            )
            return done.output
        for path in (shared / name).iterdir():
            shutil.copy(path, folder / path.name)
        return ""

    return bring


PREPARED: dict[str, Callable[[Path], str]] = {
    "docs/explanation/statistics-details.md": tables,
    "docs/explanation/statistics.md": tables,
    "docs/how-to/add-a-judge.md": tables,
    "docs/how-to/analyse-a-csv.md": tables,
    "docs/how-to/collect-replies.md": own_replies,
    "docs/how-to/export.md": demo,
    "docs/how-to/import-data.md": importable,
    "docs/how-to/other-tools.md": demo,
    "docs/how-to/recipients.md": recipients,
}


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda *_: True)


def runnable(page: Path) -> bool:
    return any(part.commands and part.runs_here for part in parts(page))


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if runnable(page) and page.parent.name != "tutorials"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_command_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    PREPARED.get(str(page.relative_to(ROOT)), lambda _: "")(tmp_path)
    for part in parts(page):
        if part.runs_here:
            run(part, tmp_path)


def walk(
    name: str, folder: Path, printed: str = "", at: Callable[[Part], Any] = lambda _: None
) -> None:
    """Runs a tutorial: its commands in order, and compares what it shows with what they print."""
    for part in parts(DOCS / "tutorials" / f"{name}.md"):
        at(part)
        if part.commands and part.runs_here:
            printed += run(part, folder)
        elif part.language == part.mark == "" and not part.text.startswith("|"):
            assert_shown(part.text, printed)


# Fewer situations, personas and planted replies than the pages ask for, where they need not matter.
SHORTER = {
    "evaluate": ["--situations", "1", "--planted", "2"],
    "respond": ["--situations", "1", "--samples", "1"],
    "appraise": ["--per-factor", "1", "--orders", "2"],
    "converse": ["--count", "1", "--exchanges", "1"],
}
GATES = {"--fail-under", "--no-worse-than"}


@pytest.mark.slow
def test_every_command_that_asks_models_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The page on CI comes first: it counts the runs of a first evaluation.
    pages = sorted(PAGES, key=lambda page: page.name != "ci.md")
    asking = [part for page in pages for part in parts(page) if part.mark == "asks models"]
    commands = dict.fromkeys(tuple(words[1:]) for part in asking for words in part.commands)
    with served(reply="I am so sorry that happened. How are you holding up today?") as server:
        for name, provider in list(PROVIDERS.items()):
            here = dataclasses.replace(
                provider, base_url=server.base_url, api="openai", key_env=None, base_url_env=None
            )
            monkeypatch.setitem(PROVIDERS, name, here)  # type: ignore[arg-type]
        for words in commands:
            done = empathylab(*words, *SHORTER.get(words[0], []), cwd=tmp_path)
            # No gate holds with such a judge.
            assert done.exit_code == bool(GATES & {*words}), f"{words}\n{done.output}"
    assert len(commands) >= 12


def test_the_python_of_the_page_on_tables_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables(tmp_path)
    [code] = [
        part.text
        for part in parts(DOCS / "how-to" / "analyse-a-csv.md")
        if part.language == "python"
    ]
    with contextlib.chdir(tmp_path):
        exec(code, {})  # noqa: S102 - the page's own example
    assert "log-odds" in capsys.readouterr().out


def test_every_mark_stands_above_a_block_or_table() -> None:
    for page in PAGES:
        written = re.findall(
            r"<!-- (?:not run:|exits with|asks models) ", page.read_text(encoding="utf-8")
        )
        assert len([part for part in parts(page) if part.mark]) == len(written), page


@pytest.mark.shared_data
def test_tutorial_on_scales(tmp_path: Path, shared_data: Path) -> None:
    walk("appraisal", tmp_path, released("emotionbench")(tmp_path, shared_data))


@pytest.mark.shared_data
def test_tutorial_on_ratings(tmp_path: Path, shared_data: Path) -> None:
    released("welivita")(tmp_path, shared_data)
    walk("ratings", tmp_path)


def test_tutorial_on_style(tmp_path: Path) -> None:
    demo_lab(tmp_path / "demo-lab")
    tables(tmp_path)
    walk("style", tmp_path)


def test_tutorial_on_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(part: Part) -> None:
        if part.language == "python":
            (tmp_path / "friend.py").write_text(part.text)
            monkeypatch.delitem(sys.modules, "friend", raising=False)

    walk("changes", tmp_path, at=write)
    sys.modules.pop("friend", None)


def test_tutorial_on_prolific(tmp_path: Path) -> None:
    demo_lab(tmp_path / "lab")
    page = list(parts(DOCS / "tutorials" / "prolific.md"))
    file = tmp_path / "rated.yaml"

    def prepare(part: Part) -> None:
        """Fills the file in as the page says, and launches it where the page serves it."""
        if part.commands[:1] and part.commands[0][1:3] == ["study", "check"]:
            study = yaml.safe_load(re.sub(r"\[\[.*?\]\]", "Ann Lee", file.read_text()))
            for block in (block for block in page if block.language == "yaml"):
                study |= yaml.safe_load(block.text)
            study["name"] = "rated"
            study["blocks"] = [block for block in study["blocks"] if block.get("scale") != "teq"]
            file.write_text(yaml.safe_dump(study, sort_keys=False))
        if part.commands[:1] and part.commands[0][1:3] == ["study", "serve"]:
            el.open_lab(tmp_path / "lab", quiet=True).studies.launch(el.load_study(file))

    walk("prolific", tmp_path, at=prepare)
