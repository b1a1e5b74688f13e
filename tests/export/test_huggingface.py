"""A lab as a data set of the Hugging Face Hub: written, loaded, pushed, brought back."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl
import pytest
import yaml

from empathylab.export import export_lab, lab_tables
from empathylab.store import Lab
from tests.helpers.command_line import as_json, empathylab
from tests.report.exports.full_lab import fill

pytestmark = pytest.mark.filterwarnings("ignore")
# A study that the lab ran comes back as from its archive: ratings, raters and their answers, but
# neither the times of pages nor how each visit went.
OF_VISITS = {"pages", "attention", "written_replies", "imports"}
CHANGED = {
    "studies": ["launched", "closed"],
    "raters": ["arm", "status", "outcome", "language", "day", "failed_attention"],
    "arms": ["responses"],
    "scales": ["fingerprint"],
    "ratings": ["position"],
    "ratings_of_excluded": ["position"],
}
COMMIT = "1" * 40
NUMBERS = ("run", "administration", "response", "first_response", "second_response")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("hub")
    with Lab.open(folder / "lab") as lab:
        fill(lab, folder)
        export_lab(lab, folder / "dataset", format="huggingface")
        yield lab


def dataset(lab: Lab) -> Path:
    return lab.folder.parent / "dataset"


def test_the_lab_comes_back_table_by_table(full: Lab, tmp_path: Path) -> None:
    at = ("--lab", tmp_path / "lab")
    done = as_json("data", "import", "huggingface", dataset(full), *at)
    assert {table["table"] for table in done["tables"]} >= {"answers", "responses", "ratings"}
    with Lab.open(tmp_path / "lab") as lab:
        own, brought = lab_tables(full).tables, lab_tables(lab).tables
    for name in own.keys() - OF_VISITS:
        before, after = (_comparable(name, value[name]) for value in (own, brought))
        assert before.rows() == after.rows(), name
    again = as_json("data", "import", "huggingface", dataset(full), *at)
    assert not any(table["added"] for table in again["tables"])


def _comparable(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """The table without numbers of rows, in an order of its own."""
    kept = frame.drop([*NUMBERS, *CHANGED.get(name, [])], strict=False)
    return kept.select(sorted(kept.columns)).sort(pl.all(), nulls_last=True)


def test_datasets_loads_every_configuration(full: Lab) -> None:
    card = (dataset(full) / "README.md").read_text(encoding="utf-8")
    front = yaml.safe_load(card.split("---\n")[1])
    tables = lab_tables(full).tables
    assert [config["config_name"] for config in front["configs"] if config.get("default")] == [
        "ratings"
    ]
    from datasets import Dataset

    for config in front["configs"]:
        (part,) = config["data_files"]
        loaded = Dataset.from_parquet(str(dataset(full) / part["path"]), split=part["split"])
        assert loaded.num_rows == tables[config["config_name"]].height
        assert part["split"] == "test"


def test_nobodys_identity_is_in_the_folder(full: Lab) -> None:
    names = {path.stem for path in (dataset(full) / "lab").glob("*.jsonl")}
    assert not names & {"people", "places", "page_answers", "researchers", "invitations", "audit"}
    for line in (dataset(full) / "lab" / "studies.jsonl").read_text().splitlines():
        study = json.loads(line)
        assert study["secret"] is None
        assert not {"codes", "return_url"} & set(study["protocol"].get("recruitment", {}))
    raters = (dataset(full) / "lab" / "raters.jsonl").read_text().splitlines()
    assert all(json.loads(line)["name"].startswith("rater-") for line in raters)


class Hub(BaseHTTPRequestHandler):
    """As much of the hub as creating a data set, one commit and fetching it again need."""

    files: dict[str, bytes]
    asked: list[tuple[str, str | None]]

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.asked.append((self.path, self.headers.get("authorization")))
        if self.path == "/api/repos/create":
            told = json.loads(content)
            name = f"{told['organization']}/{told['name']}"
            self._answer({"url": f"http://{self.headers['host']}/datasets/{name}", "name": name})
        elif "/preupload/" in self.path:
            given = json.loads(content)["files"]
            modes = [
                {"path": item["path"], "uploadMode": "regular", "shouldIgnore": False}
                for item in given
            ]
            self._answer({"files": modes})
        elif "/commit/" in self.path:
            for line in content.splitlines():
                one = json.loads(line)
                if one["key"] == "file":
                    self.files[one["value"]["path"]] = base64.b64decode(one["value"]["content"])
            commit = f"http://{self.headers['host']}/datasets/us/empathy/commit/{COMMIT}"
            self._answer({"commitUrl": commit, "commitOid": COMMIT})
        else:
            self._answer({"errors": [], "warnings": []})

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers.get("authorization")))
        _, _, file = self.path.partition(f"/resolve/{COMMIT}/")
        if file:
            self._send(self.files[unquote(file)])
        elif self.path.startswith("/api/datasets/us/empathy/tree/"):
            tree = [
                {"type": "file", "path": name, "size": len(content), "oid": COMMIT}
                for name, content in self.files.items()
            ]
            self._answer(tree)
        elif self.path.startswith("/api/datasets/us/empathy"):
            names = [{"rfilename": name} for name in self.files]
            self._answer({"sha": COMMIT, "id": "us/empathy", "siblings": names})
        else:
            self.send_error(404)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _answer(self, told: Any) -> None:
        self._send(json.dumps(told).encode(), "application/json")

    def _send(self, body: bytes, kind: str = "application/octet-stream") -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("x-repo-commit", COMMIT)
        self.send_header("etag", f'"{hashlib.sha256(body).hexdigest()}"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[Hub]]:
    Hub.files, Hub.asked = {}, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("HF_ENDPOINT", address)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    yield Hub
    server.shutdown()
    server.server_close()


def test_a_push_asks_first_and_uploads_every_file(
    full: Lab, tmp_path: Path, hub: type[Hub]
) -> None:
    words = ("export", "--format", "huggingface", "--lab", full.folder)
    push = ("--push", "us/empathy")
    denied = empathylab(*words, *push, "--to", tmp_path / "none")
    assert denied.exit_code == 2
    assert "HF_TOKEN" in denied.stderr
    assert not (tmp_path / "none").exists()
    unasked = empathylab(*words, *push, "--to", tmp_path / "asked", HF_TOKEN="hf_x")
    assert unasked.exit_code == 2
    assert "--yes" in unasked.stderr
    assert hub.asked == []
    done = empathylab(*words, *push, "--yes", "--to", tmp_path / "out", HF_TOKEN="hf_x")
    assert done.exit_code == 0, done.stderr
    out = tmp_path / "out"
    written = {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file()
    }
    assert hub.files == written
    assert {token for _, token in hub.asked} == {"Bearer hf_x"}
    secrets = [secret.encode() for secret in ("hf_x", "person 0")]
    assert not any(secret in content for secret in secrets for content in hub.files.values())
    # By its name the data set comes back as from the folder; without a token, none is sent.
    hub.asked.clear()
    imported = empathylab(
        *("data", "import", "huggingface", "us/empathy", "--lab", tmp_path / "again")
    )
    assert imported.exit_code == 0, imported.stderr
    assert {token for _, token in hub.asked} == {None}
    from_folder = empathylab(*("data", "import", "huggingface", out, "--lab", tmp_path / "folder"))
    assert from_folder.exit_code == 0, from_folder.stderr
    with Lab.open(tmp_path / "again") as again, Lab.open(tmp_path / "folder") as folder:
        for name, frame in lab_tables(folder).tables.items():
            if name != "imports":
                assert lab_tables(again).tables[name].equals(frame), name
    unknown = empathylab("data", "import", "huggingface", "us/other", "--lab", tmp_path / "none")
    assert unknown.exit_code == 2
    assert "us/other: the data set cannot be downloaded" in unknown.stderr
    assert "HF_TOKEN" in unknown.stderr


def test_rows_of_any_data_set_come_in_by_a_mapping(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    rows = {"prompt_id": ["a", "b"], "story": ["I lost my cat.", "I passed!"]}
    rows |= {"answer": ["That is sad. What happened?", "Well done!"], "who": ["human", "human"]}
    pl.DataFrame(rows).write_parquet(folder / "part.parquet")
    words = ("data", "import", "huggingface", folder, "--lab", tmp_path / "lab")
    named = ["prompt_id=situation", "story=situation_text", "answer=text", "who=respondent"]
    mapping = [word for item in named for word in ("--column", item)]
    unsaid = empathylab(*words)
    assert unsaid.exit_code == 2
    assert "--as" in unsaid.stderr
    other = empathylab(*words, "--as", "responses", "--column", "anser=text")
    assert other.exit_code == 2
    assert "Did you mean 'answer'" in other.stderr
    missing = empathylab(*words, "--as", "responses")
    assert missing.exit_code == 2
    assert "'situation'" in missing.stderr
    done = as_json(*words, "--as", "responses", *mapping)
    assert done["situation_set"] == "theirs"
    with Lab.open(tmp_path / "lab") as lab:
        assert lab_tables(lab).tables["responses"]["text"].to_list() == rows["answer"]


def test_a_broken_or_unknown_data_set_is_named(tmp_path: Path) -> None:
    (tmp_path / "set" / "lab").mkdir(parents=True)
    (tmp_path / "set" / "lab" / "runs.jsonl").write_text("{")
    at = ("--lab", tmp_path / "lab")
    broken = empathylab("data", "import", "huggingface", tmp_path / "set", *at)
    assert broken.exit_code == 2
    assert "runs.jsonl" in broken.stderr
    (tmp_path / "set" / "lab" / "runs.jsonl").write_text('{"id": 1, "colour": "red"}')
    other = empathylab("data", "import", "huggingface", tmp_path / "set", *at)
    assert other.exit_code == 2
    assert "not those of this version" in other.stderr
    nowhere = empathylab("data", "import", "huggingface", "no such thing", *at)
    assert nowhere.exit_code == 2
    assert "OWNER/NAME" in nowhere.stderr
