"""The Hugging Face Hub: fetching a data set, and pushing an export."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from empathylab.errors import EmpathyLabError, InputError, MissingExtra, UnknownName
from empathylab.tables import key_values, read_table

TOKEN = "HF_TOKEN"  # noqa: S105 - the variable's name
ADDRESS = "HF_ENDPOINT"
"""The variable with the hub's address, where it is not the public one."""
_ENDINGS = (".parquet", ".csv", ".jsonl")


def dataset_folder(source: str) -> Path:
    """The folder of that name, or the data set of that name fetched from the hub."""
    folder = Path(source)
    if folder.is_dir():
        return folder
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", source):
        raise InputError(
            "there is no such folder, and this is not the name of a data set",
            got=source,
            remedy="Give a folder, or OWNER/NAME.",
        )
    _require("Downloading a data set")
    from huggingface_hub import snapshot_download

    token, address = os.environ.get(TOKEN) or False, os.environ.get(ADDRESS)
    try:
        downloaded = snapshot_download(source, repo_type="dataset", token=token, endpoint=address)
        return Path(downloaded)
    except Exception as error:  # the client's own errors, and those of its HTTP library
        raise InputError(
            "the data set cannot be downloaded",
            where=source,
            got=str(error).partition("\n")[0],
            remedy=f"Check the name and the network; a private data set needs {TOKEN}.",
        ) from error


def push(folder: Path, repository: str, *, private: bool) -> str:
    """The address of the data set, after the folder was uploaded to it."""
    token = require_push()
    from huggingface_hub import HfApi

    api = HfApi(token=token, endpoint=os.environ.get(ADDRESS))
    try:
        created = api.create_repo(repository, repo_type="dataset", private=private, exist_ok=True)
        api.upload_folder(
            repo_id=created.repo_id,
            repo_type="dataset",
            folder_path=folder,
            commit_message="Upload an export of EmpathyLab",
        )
    except Exception as error:  # the client's own errors, and those of its HTTP library
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise EmpathyLabError(
            f"the data set {repository} could not be pushed: {reason}. The folder {folder} is kept."
        ) from error
    return str(created)


def require_push() -> str:
    """The token, which is read from the environment only; an error without it or the client."""
    _require("Pushing to the Hugging Face Hub")
    token = os.environ.get(TOKEN, "").strip()
    if not token:
        raise InputError(
            f"the environment variable {TOKEN} is not set",
            where="--push",
            remedy=f"Create a token with write access on huggingface.co, and run: export {TOKEN}=…",
        )
    return token


def _require(purpose: str) -> None:
    if importlib.util.find_spec("huggingface_hub") is None:
        raise MissingExtra("huggingface-hub", "huggingface", purpose)


@contextlib.contextmanager
def mapped_table(
    folder: Path,
    columns: Sequence[str],
    *,
    config: str | None,
    split: str | None,
    name: str | None,
) -> Iterator[Path]:
    """A file with the rows of the data set, its columns under our names."""
    files = _files(folder, config, split)
    frame = pl.concat([read_table(path) for path in files], how="vertical_relaxed")
    names = key_values(columns, option="--column")
    for theirs in names:
        if theirs not in frame.columns:
            raise UnknownName("column", theirs, frame.columns, where="--column")
    kept = frame.drop([ours for ours in names.values() if ours in frame.columns])
    with tempfile.TemporaryDirectory(prefix="empathylab-") as place:
        path = Path(place) / f"{name or folder.resolve().name}.parquet"
        kept.rename(names).write_parquet(path)
        yield path


def _files(folder: Path, config: str | None, split: str | None) -> list[Path]:
    """The files of a configuration's split, as the card says; without a card, all tables."""
    configs = {
        str(card_config["config_name"]): card_config.get("data_files")
        for card_config in _card_configs(folder)
    }
    if not configs:
        files = sorted(path for path in folder.rglob("*") if path.suffix in _ENDINGS)
        if not files:
            raise InputError(
                "the folder contains no Parquet, CSV or JSONL file",
                where=str(folder),
                remedy="Give the folder of a data set.",
            )
        return files
    given = _chosen(configs, config, "configuration", "--config")
    parts = given if isinstance(given, list) else [{"split": "train", "path": given}]
    named = _chosen({str(part["split"]): part["path"] for part in parts}, split, "split", "--split")
    patterns: list[Any] = named if isinstance(named, list) else [named]
    return [path for pattern in patterns for path in sorted(folder.glob(str(pattern)))]


def _chosen(known: dict[str, Any], name: str | None, kind: str, option: str) -> Any:
    """The one of that name; without a name the only one."""
    chosen = name or (next(iter(known)) if len(known) == 1 else None)
    if chosen not in known:
        raise UnknownName(kind, chosen or "", known, where=option)
    return known[chosen]


def _card_configs(folder: Path) -> list[dict[str, Any]]:
    card = folder / "README.md"
    if not card.is_file():
        return []
    match = re.match(r"---\n(.*?)\n---", card.read_text(encoding="utf-8"), re.DOTALL)
    try:
        front = yaml.safe_load(match[1]) if match else {}
    except yaml.YAMLError:
        return []
    return list((front or {}).get("configs") or [])
