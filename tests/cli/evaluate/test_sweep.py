"""`empathylab evaluate sweep.yaml`: what is asked, what it would cost, and errors with lines."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from empathylab.cli.evaluate.sweep import read_sweep
from empathylab.errors import UserError
from empathylab.protocols import reply_template
from tests.helpers.command_line import Done, as_json, empathylab

SWEEP = """\
models:
  - scripted/tests.judging.scoring_judges:model
  - name: scripted/tests.judging.scoring_judges:better
    concurrency: 2
    max_cost: 5
temperatures: [0, 0.7]
seeds: [1]
situations: 1
judge: scripted/tests.judging.scoring_judges:good
gates:
  fail_under: {replies.empathy: 3.5}
  max_unusable: 10%
"""


@pytest.fixture(autouse=True)
def _sweep_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, code: int = 0) -> Done:
    done = empathylab("evaluate", "sweep.yaml", *arguments)
    assert done.exit_code == code, done.output
    return done


def test_every_model_is_asked_in_every_combination_and_only_once() -> None:
    content = json.loads(run("--planted", "2", "--json").stdout)
    measured = [
        session for session in content["sessions"] if session["protocol"] in ("appraise", "respond")
    ]
    assert len(measured) == 2 * 2 * 2
    assert [len(respondent["replies"]["runs"]) for respondent in content["respondents"]] == [2, 2]
    assert len(content["gates"]) == 2 + 4
    again = json.loads(run("--planted", "2", "--json").stdout)
    assert {session["asked"] for session in again["sessions"]} == {0}


def test_a_dry_run_asks_nothing_and_makes_no_lab(tmp_path: Path) -> None:
    rows = json.loads(run("--dry-run", "--planted", "2", "--json").stdout)["requests"]
    # 4 baselines, 8 situations, 32 replies; planted: 12 replies on 7 dimensions.
    assert [row["requests"] for row in rows] == [2 * 44, 2 * 44, (12 + 4 * 32) * 7]
    assert all(row["prompt_tokens"] > 0 for row in rows)
    assert not (tmp_path / "lab").exists()


def dry_run(*words: str) -> Done:
    return empathylab("evaluate", "mine/chat", "--base-url", "http://127.0.0.1:1/v1", *words)


def test_a_dry_run_counts_the_baseline_that_is_scored_again(tmp_path: Path) -> None:
    model, judge = (f"scripted/tests.judging.scoring_judges:{name}" for name in ("model", "good"))
    empathylab("respond", model, "--set", "dialogues", "--lab", tmp_path / "lab")
    judged = ("--judge", judge, "--planted", "2", "--dry-run", "--json")
    baseline = ("--baseline", "1", "--no-worse-than", "0.2")
    counts = [
        as_json("evaluate", model, *judged, *words)["requests"][1]["requests"]
        for words in ((), baseline)
    ]
    replies = as_json("runs", "list")["runs"][0]["answered"]
    assert counts[1] - counts[0] == 7 * replies


def test_a_dry_run_refuses_what_the_evaluation_would_refuse() -> None:
    assert "no price is known" in dry_run("--max-cost", "5", "--dry-run").stderr
    far = empathylab("evaluate", "local/smollm2", "--judge", "other/judge", "--dry-run")
    assert far.exit_code == 2
    assert "other" in far.stderr


def test_a_dry_run_ends_with_the_total_in_dollars() -> None:
    done = dry_run("--judge", "mine/judge", "--planted", "2", "--dry-run")
    assert done.exit_code == 0
    [total] = [line for line in done.stdout.splitlines() if "total" in line]
    assert "368" in total  # 60 + 84 + 7 × 32
    assert "Costs are in dollars" in done.stdout


def test_a_dry_run_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    asked = ("evaluate", "openai/gpt-4o-mini")
    assert as_json(*asked, "--dry-run")["requests"][0]["most_cost"] > 0
    assert "OPENAI_API_KEY is not set" in empathylab(*asked).stderr


def test_a_file_sets_how_many_situations_are_replied_to(tmp_path: Path) -> None:
    file = tmp_path / "more.yaml"
    file.write_text("models: [a/b]\nreplies: 2\nseeds: [1, 2]\n")
    assert [way.replies for way in read_sweep(file).combinations()] == [2, 2]


def test_combinations_are_the_product_of_the_lists(tmp_path: Path) -> None:
    file = tmp_path / "other.yaml"
    file.write_text("models: [a/b]\nmodes: [structured, free]\nseeds: [1, 2, 3]\n")
    sweep = read_sweep(file)
    assert len(sweep.combinations()) == 6
    assert sweep.combinations()[0].temperature is None


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("seeds: [1]", "seed: [1]", "sweep.yaml line 7: there is no key 'seed'"),
        ("temperatures: [0, 0.7]", "modes: [fre]", "sweep.yaml line 6, 'modes[1]'"),
        ("concurrency: 2", "concurrency: 0", "sweep.yaml line 4: 'models[2].concurrency'"),
        (SWEEP, "seeds: [1]", "models"),
        ("scoring_judges:better", "scoring_judges:model", "listed once"),
    ],
)
def test_an_error_names_the_line(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text(SWEEP.replace(old, new))
    with pytest.raises(UserError) as caught:
        read_sweep(file)
    assert sentence in str(caught.value)


def test_what_the_file_says_cannot_be_an_option() -> None:
    assert "Set them in the file" in run("--judge", "a/b", code=2).stderr


def test_the_documented_sweep_is_valid() -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "ci.md").read_text()
    [example] = re.findall(r"```yaml\n(models:.*?)```", page, re.DOTALL)
    Path("documented.yaml").write_text(example)
    for combination in read_sweep(Path("documented.yaml")).combinations():
        assert reply_template(combination.template or "").version == 2


@pytest.mark.parametrize(
    "option", [("--replies", "2"), ("--situations", "1"), ("--mode", "free"), ("--seed", "7")]
)
def test_what_the_file_decides_is_no_option(option: tuple[str, str]) -> None:
    assert "situations, replies, mode, temperatures, seeds" in run(*option, code=2).stderr
