"""A log of Inspect as runs of the lab: of a log that the lab wrote, or of EmpathyLab's tasks."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, read_eval_log

from empathylab.errors import InputError
from empathylab.export.inspect_logs.layout import DEFINITIONS, FORMAT, carried_in
from empathylab.store import Lab
from empathylab.store.transfer import Carried, Records, merged, write_records


@dataclasses.dataclass(frozen=True, slots=True)
class ImportedLog:
    """What became of a log."""

    file: str
    task: str
    model: str
    samples: int
    failed: int
    """Samples that ended with an error and brought no answer."""
    tables: tuple[Carried, ...]


def import_log(lab: Lab, path: Path) -> ImportedLog:
    """Adds the log's runs to the lab; what the lab already has stays as it is."""
    log = _read(path)
    header = _header(log, path)
    parts = _parts(log, header)
    with lab.writing() as connection:
        written = [
            write_record for part in parts for write_record in write_records(connection, part)
        ]
    totals: dict[str, Carried] = {}
    for item in written:
        before = totals.get(item.table, Carried(item.table, 0, 0))
        totals[item.table] = Carried(
            item.table, before.added + item.added, before.known + item.known
        )
    samples = log.samples or []
    return ImportedLog(
        path.name,
        log.eval.task,
        log.eval.model,
        len(samples),
        sum(sample.error is not None for sample in samples),
        tuple(totals.values()),
    )


def _read(path: Path) -> EvalLog:
    if not path.is_file():
        raise InputError("there is no such file", where=str(path), remedy="Check the path.")
    try:
        return read_eval_log(path, resolve_attachments=True)
    except Exception as error:  # whatever a broken archive makes Inspect raise
        raise InputError(
            "the log cannot be read",
            where=path.name,
            got=str(error).partition("\n")[0][:200] or type(error).__name__,
            remedy="Give a log that `inspect eval` or `empathylab export --format inspect` wrote.",
        ) from error


def _header(log: EvalLog, path: Path) -> dict[str, Any]:
    header = carried_in(log.eval.metadata)
    if header is None:
        raise InputError(
            f"this is a log of the task {log.eval.task!r}, which is not one of EmpathyLab",
            where=path.name,
            remedy="Import logs of empathylab/appraise, empathylab/respond or empathylab/converse.",
        )
    if header["format"] != FORMAT:
        raise InputError(
            "the log was written by another version of EmpathyLab",
            where=path.name,
            got=f"format {header['format']}, this version reads {FORMAT}",
            remedy="Use the version of EmpathyLab that wrote it, or a newer one.",
        )
    if not log.samples:
        raise InputError(
            "the log contains no samples", where=path.name, remedy="Run the task again."
        )
    return header


def _parts(log: EvalLog, header: dict[str, Any]) -> list[Records]:
    """The rows of the log; those that were numbered together are together."""
    definitions = {name: header["records"].get(name, []) for name in DEFINITIONS}
    by_name: dict[str, list[Records]] = defaultdict(list)
    by_name[header["source"]].append(header["records"])
    for sample in log.samples or ():
        scores = [score.metadata for score in (sample.scores or {}).values()]
        for metadata in (sample.metadata, *scores):
            part = carried_in(metadata)
            if part is not None:
                by_name[part["source"]].append(part["records"])
    parts = []
    for records in by_name.values():
        whole = merged([definitions, *records])
        if not header.get("exported"):
            _complete_runs(whole, log)
            _add_failures(whole, log)
        parts.append(whole)
    return parts


def _complete_runs(records: Records, log: EvalLog) -> None:
    """What is known of a run only when the evaluation is over."""
    answered = Counter(row["run_id"] for row in records.get("answers", ()))
    for run in records.get("runs", ()):
        run["started_at"] = log.eval.created
        run["last_used_at"] = log.stats.completed_at or None
        run["finished_at"] = log.stats.completed_at if log.status == "success" else None
        run["planned"] = answered[run["id"]]
        if run["protocol"] != "judge":
            run["settings"] = run["settings"] | _carried_out(run["settings"], log)


def _carried_out(settings: dict[str, Any], log: EvalLog) -> dict[str, Any]:
    """The settings that `--epochs` and `--limit` change."""
    parts = {part for sample in log.samples or () for part in (sample.id, *_parts_of(sample.id))}
    counted = "repeats" if "repeats" in settings else "samples"
    return {
        counted: log.eval.config.epochs or settings[counted],
        "situation_ids": [name for name in settings["situation_ids"] if name in parts],
    }


def _parts_of(name: int | str) -> list[str]:
    """The situation within a sample's id such as `evoked/SITUATION/order-0`."""
    return str(name).split("/", 1)[-1].rsplit("/order-", 1)[:1]


def _add_failures(records: Records, log: EvalLog) -> None:
    """A sample that ended with an error is a request that got no answer."""
    runs = [run for run in records.get("runs", ()) if run["protocol"] != "judge"]
    if not runs:
        return
    counted = "repeat" if runs[0]["protocol"] == "appraise" else "sample"
    failed = [sample for sample in log.samples or () if sample.error and not sample.output.choices]
    records["failures"] = [
        {
            "id": number,
            "run_id": runs[0]["id"],
            "key": f"{sample.id}/{counted}-{sample.epoch - 1}",
            "kind": "inspect",
            "message": sample.error.message[:500] if sample.error else "",
            "attempts": 1 + len(sample.error_retries or ()),
            "failed_at": sample.completed_at or log.eval.created,
        }
        for number, sample in enumerate(failed, start=1)
    ]
