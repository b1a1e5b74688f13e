"""`data import`, `data fetch`, `scales import` and `analyze appraisal` as a user calls them."""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import threading
from pathlib import Path

import pytest

from empathylab.situations.sources import fetching
from tests.helpers.command_line import as_json, empathylab
from tests.helpers.emotionbench import ITEMS, write_people, write_results, write_situations


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small release: situations, a model, people."""
    root = tmp_path / "release"
    columns: dict[str, list[object]] = {
        f"General_test-{k}_order-0": [3 + k % 2] * ITEMS for k in range(4)
    }
    for k in range(4):
        columns[f"Anger-{k % 2}_scenario-{k // 2}_test-0_order-0"] = [1 + k % 3] * ITEMS
    columns["Anger-0_scenario-0_test-1_order-0"] = ["none"] * ITEMS
    write_results(root / "gpt-9-PANAS-testing.csv", columns)
    write_situations(root / "situations.json")
    people = [(f"Angry_F{1 + k % 2}S1", [2] * 20, [1 + k % 4] * 20) for k in range(8)]
    write_people(root / "crowd.xlsx", people)
    return root


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return tmp_path / "lab"


def test_an_import_says_what_was_added_and_what_is_invalid(folder: Path, lab: Path) -> None:
    code, out, err = empathylab("data", "import", "emotionbench", folder, "--lab", lab)
    assert code == 0
    assert "gpt-9-PANAS-testing.csv" in out
    assert "1 administrations are invalid: an answer is not a whole number" in err


def test_a_second_import_is_unchanged(folder: Path, lab: Path) -> None:
    as_json("data", "import", "emotionbench", folder, "--lab", lab)
    found = as_json("data", "import", "emotionbench", folder, "--lab", lab)
    assert {file["change"] for file in found["files"]} == {"unchanged"}


def test_imported_sets_are_listed_and_shown(folder: Path, lab: Path) -> None:
    empathylab("data", "import", "emotionbench", folder, "--lab", lab)
    listed = {item["set"] for item in as_json("data", "list", "--lab", lab)["sets"]}
    assert {"appraisal", "emotionbench", "emotionbench-tested"} <= listed
    shown = as_json("data", "show", "emotionbench", "--lab", lab, "--emotion", "guilt")
    assert [situation["id"] for situation in shown["situations"]] == ["guilt-0-0"]


def test_the_analysis_keeps_the_contract(folder: Path, lab: Path) -> None:
    empathylab("data", "import", "emotionbench", folder, "--lab", lab)
    found = as_json("analyze", "appraisal", "--lab", lab)
    assert {"rows", "alignment", "validity"} <= found.keys()
    levels = {(row["level"], row["label"]) for row in found["rows"]}
    assert levels == {
        ("overall", "Overall"),
        ("emotion", "Anger"),
        ("factor", "Queues"),
        ("factor", "Noise"),
    }
    assert {row["test"] for row in found["rows"] if row["respondent"] == "human"} == {"paired"}


def test_the_analysis_can_be_narrowed_and_keeps_its_distance_from_people(
    folder: Path, lab: Path
) -> None:
    empathylab("data", "import", "emotionbench", folder, "--lab", lab)
    found = as_json("analyze", "appraisal", "--lab", lab, "--respondent", "gpt-9")
    assert {row["respondent"] for row in found["rows"]} == {"gpt-9"}
    assert found["alignment"][0]["distance"] is not None


def test_the_printed_table_names_emotions_and_directions(folder: Path, lab: Path) -> None:
    empathylab("data", "import", "emotionbench", folder, "--lab", lab)
    code, out, err = empathylab("analyze", "appraisal", "--lab", lab, "--level", "factor")
    assert code == 0
    assert "Queues" in out
    assert "from people" in out
    assert "1 could not be used: an answer is not a whole number" in err


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (["--respondent", "gpt-8"], "no respondent 'gpt-8'. Did you mean 'gpt-9'"),
        (["--scale", "pana"], "no scale 'pana'. Did you mean 'panas'"),
        (["--scale", "bdi"], "no scale 'bdi'"),
    ],
)
def test_an_unknown_name_is_one_sentence(
    folder: Path, lab: Path, option: list[str], sentence: str
) -> None:
    empathylab("data", "import", "emotionbench", folder, "--lab", lab)
    code, _, err = empathylab("analyze", "appraisal", "--lab", lab, *option)
    assert code == 2
    assert sentence in err


def test_a_lab_without_appraisals_is_one_sentence(folder: Path, lab: Path) -> None:
    empathylab("data", "import", "emotionbench", folder / "situations.json", "--lab", lab)
    code, _, err = empathylab("analyze", "appraisal", "--lab", lab)
    assert code == 2
    assert "data import emotionbench" in err


def test_own_situations_are_imported_under_the_files_name(tmp_path: Path, lab: Path) -> None:
    file = tmp_path / "My scenes.csv"
    file.write_text("id,text,emotion\na,It rains.,anger\n", encoding="utf-8")
    (done,) = as_json("data", "import", "situations", file, "--lab", lab)["files"]
    assert (done["change"], done["count"]) == ("added", 1)
    shown = as_json("data", "show", "my-scenes", "--lab", lab)
    assert shown["situations"][0]["text"] == "It rains."


def test_a_situation_without_emotion_is_shown_without_brackets(tmp_path: Path, lab: Path) -> None:
    file = tmp_path / "replies.csv"
    file.write_text("situation,text,respondent,situation_text\ns01,Oh.,me,It rains.\n")
    empathylab("data", "import", "responses", file, "--lab", lab)
    shown = empathylab("data", "show", "replies", "--lab", lab).stdout
    assert "\ns01\n  It rains." in shown


def test_other_texts_under_the_same_name_are_a_new_version(tmp_path: Path, lab: Path) -> None:
    file = tmp_path / "mine.csv"
    for text in ("It rains.", "It snows."):
        file.write_text(f"id,text,emotion\na,{text},anger\n", encoding="utf-8")
        (done,) = as_json("data", "import", "situations", file, "--lab", lab)["files"]
    assert done["change"] == "new version"
    assert "version 2" in done["note"]


@pytest.mark.parametrize("name", ["appraisal", "emotionbench"])
def test_the_name_of_another_set_is_refused(tmp_path: Path, lab: Path, name: str) -> None:
    (tmp_path / "x.csv").write_text("id,text,emotion\na,b,anger\n", encoding="utf-8")
    code, _, err = empathylab("data", "import", "situations", tmp_path / "x.csv", "--name", name)
    assert code == 2
    assert "belongs to another set" in err
    assert not lab.exists()


def test_an_imported_scale_is_listed_with_its_wording(tmp_path: Path, lab: Path) -> None:
    items = {str(item): f"Text {item}" for item in range(1, 17)}
    file = tmp_path / "teq.json"
    file.write_text(json.dumps({"name": "TEQ", "items": items}), encoding="utf-8")
    (done,) = as_json("scales", "import", file, "--lab", lab)["scales"]
    assert (done["scale"], done["change"]) == ("teq", "added")
    listed = as_json("scales", "list", "--lab", lab)["scales"]
    assert next(item for item in listed if item["scale"] == "teq")["wording"]
    assert as_json("scales", "show", "teq", "--lab", lab)["words"][15] == "Text 16"


def test_a_fetch_downloads_and_imports(
    folder: Path, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = tuple(
        fetching.PublishedFile(
            path.name, path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()
        )
        for path in sorted(folder.iterdir())
    )
    monkeypatch.setattr(fetching, "EMOTIONBENCH_FILES", files)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}"
        code, out, err = empathylab(
            "data", "fetch", "emotionbench", "--base-url", address, "--lab", lab
        )
        server.shutdown()
        thread.join()
    assert code == 0, err
    assert "Downloading crowd.xlsx" in err
    assert "added" in out
    assert (lab / "sources" / "emotionbench" / "crowd.xlsx").is_file()


def test_an_unknown_scale_is_named_before_a_missing_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = empathylab("appraise", "openai/x", "--scale", "panass", "--lab", str(tmp_path / "lab"))
    assert done.exit_code == 2
    assert "Did you mean 'panas'?" in done.stderr


def test_an_address_that_no_model_would_use_is_refused(tmp_path: Path) -> None:
    address = ("--base-url", "http://127.0.0.1:1/v1")
    done = empathylab("appraise", "local/smollm2", *address, "--lab", tmp_path / "lab")
    assert done.exit_code == 2
    assert "--base-url: a model that runs on this machine has no address" in done.stderr
