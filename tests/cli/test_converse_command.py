"""The commands of conversations, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.command_line import empathylab
from tests.store.imports.test_sage_import import line, written

KIND = "scripted/tests.helpers.conversing:kind_listener"
COLD = "scripted/tests.helpers.conversing:cold_listener"
PERSON = "scripted/tests.helpers.conversing:rule_based_person"


def test_a_good_and_a_cold_listener_are_compared(tmp_path: Path) -> None:
    options = ("--count", 4, "--exchanges", 4, "--lab", tmp_path, "--json")
    code, output, _ = empathylab("converse", KIND, COLD, "--simulator", PERSON, *options)
    assert code == 0
    found = json.loads(output)
    kind, cold = found["respondents"]
    assert (kind["respondent"], kind["simulator"], kind["n"]) == (KIND, PERSON, 4)
    assert kind["mean_final"] > 80
    assert cold["mean_final"] < 20
    [card] = found["simulator_cards"]
    assert card["verdict"] == "reacts to replies"
    assert {session["emotion"] for session in found["sessions"] if "emotion" in session} == set()


def test_the_contract_of_the_analysis(tmp_path: Path) -> None:
    path = written(tmp_path, line(1), line(2, emo_point=100), line(3, emo_point=5))
    assert (
        empathylab("data", "import", "sage", path.parent.parent, "--lab", tmp_path / "lab")[0] == 0
    )
    code, output, _ = empathylab("analyze", "conversations", "--lab", tmp_path / "lab", "--json")
    assert code == 0
    found = json.loads(output)
    [row] = found["respondents"]
    keys = ["respondent", "simulator", "n", "mean_final", "low", "high", "success", "failure"]
    assert list(row)[:10] == [*keys, "turns_mean", "outcomes"]
    assert (row["n"], row["mean_final"], row["success"], row["failure"]) == (3, 55, 1, 1)
    assert row["outcomes"]["completed"] == 3
    assert {"rank_correlation", "variance_share"} <= set(found["simulators"])
    assert found["comparisons"] == []
    assert found["caveats"]


def test_transcripts_can_be_written_and_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, line(1))
    empathylab("data", "import", "sage", path, "--lab", tmp_path / "lab")
    table = tmp_path / "talks.csv"
    code, _, _ = empathylab(
        "analyze", "conversations", "--lab", tmp_path / "lab", "--transcripts", table
    )
    assert code == 0
    code, output, _ = empathylab(
        *("data", "import", "conversations", table, "--kind", "model", "--json"),
        *("--lab", tmp_path / "other"),
    )
    assert code == 0
    [row] = json.loads(output)["files"]
    assert (row["conversations"], row["turns"], row["with_emotion"]) == (1, 4, 1)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("converse", KIND), "--simulator"),
        (("converse", KIND, "--simulator", PERSON, "--personas", "bilt-in"), "built-in"),
        (("converse", KIND, "--simulator", PERSON, "--persona", "nobody"), "no persona"),
        (("converse", KIND, "--simulator", PERSON, "--language", "fr"), "language"),
        (("converse", KIND, "--simulator", PERSON, "--count", "500"), "48 personas"),
        (("data", "import", "sage", "nowhere"), "_result.jsonl"),
        (("analyze", "conversations"), "no conversations"),
    ],
)
def test_what_the_user_can_fix_is_said_without_a_traceback(
    tmp_path: Path, arguments: tuple[str, ...], problem: str
) -> None:
    empathylab("data", "list", "--lab", tmp_path)
    from empathylab.store import Lab

    Lab.open(tmp_path).close()
    code, _, errors = empathylab(*arguments, "--lab", tmp_path)
    assert code == 2
    assert problem in errors
