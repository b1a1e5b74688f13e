"""A run as a log of Inspect: its samples, messages, model calls, usage, errors and scores.

What Inspect has a field for is in that field; the lab's own rows are in the metadata, so that
nothing is lost on the way back.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

from inspect_ai.event import ModelEvent
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalPlan,
    EvalPlanStep,
    EvalResults,
    EvalSample,
    EvalSpec,
    EvalStats,
    write_eval_log,
)
from inspect_ai.model import ModelOutput, ModelUsage

from empathylab.export.inspect_logs.layout import carried, sample_of
from empathylab.export.inspect_logs.scores import SampleScores, results
from empathylab.models import Message, Parameters
from empathylab.models.inspect_chats import (
    FAMILY,
    OWN_API,
    chat_messages,
    chat_settings,
    output_of,
)
from empathylab.runs.ledger import stored_completion
from empathylab.store.inserts import hash_of
from empathylab.store.transfer import Records, Row

_OF_SAMPLES = {
    "responses": "answer_id",
    "administrations": "answer_id",
    "judgements": "answer_id",
    "preferences": "answer_id",
    "item_answers": "administration_id",
    "turns": "conversation_id",
    "ratings": "response_id",
}
SampleKey = tuple[str, int]


def write_log(path: Path, records: Records, run: int, scores: SampleScores) -> int:
    """Writes the run with all its rows as a log; gives the number of its samples."""
    log = _RunLog(records, run, scores).log()
    write_eval_log(log, path)
    return len(log.samples or ())


def chat_name(respondent: str) -> str:
    """What Inspect calls a respondent."""
    family, _, rest = respondent.partition("/")
    return rest if family == FAMILY else f"{OWN_API}/{respondent}"


class _RunLog:
    """One run's rows, sorted into samples."""

    def __init__(self, records: Records, run: int, scores: SampleScores) -> None:
        self.run = next(row for row in records["runs"] if row["id"] == run)
        self.scores = scores
        respondents = {row["id"]: row["name"] for row in records["respondents"]}
        self.model = chat_name(respondents[self.run["respondent_id"]])
        self.source = hash_of([self.run["fingerprint"], self.run["started_at"]])[:22]
        self.shared: Records = {}
        self.samples: dict[SampleKey, Records] = defaultdict(lambda: defaultdict(list))
        self._sort(records)

    def _sort(self, records: Records) -> None:
        """Gives each sample its rows; what belongs to none of them belongs to the log."""
        of: dict[tuple[str, int], SampleKey] = {}
        for name in ("answers", "failures", "conversations"):
            for row in records[name]:
                if row["run_id"] != self.run["id"]:
                    self.shared.setdefault(name, []).append(row)
                    continue
                of[name, row["id"]] = sample_of(row["key"])
                self.samples[sample_of(row["key"])][name].append(row)
        parents = {"answer_id": "answers", "conversation_id": "conversations"}
        parents |= {"administration_id": "administrations", "response_id": "responses"}
        for name, rows in records.items():
            if name in ("answers", "failures", "conversations"):
                continue
            column = _OF_SAMPLES.get(name)
            for row in rows:
                sample = of.get((parents[column], row[column])) if column else None
                if sample is None:
                    self.shared.setdefault(name, []).append(row)
                    continue
                self.samples[sample][name].append(row)
                if "id" in row:
                    of[name, row["id"]] = sample

    def log(self) -> EvalLog:
        samples = [self._sample(key, rows) for key, rows in self.samples.items()]
        run, protocol = self.run, self.run["protocol"]
        usage = ModelUsage()
        for sample in samples:
            usage = sum(sample.model_usage.values(), usage)
        return EvalLog(
            status="success" if run["finished_at"] else "cancelled",
            eval=EvalSpec(
                eval_id=self.source,
                run_id=self.source,
                task_id=run["fingerprint"][:22],
                created=run["started_at"],
                task=f"{OWN_API}/{protocol}",
                task_registry_name=f"{OWN_API}/{protocol}",
                dataset=EvalDataset(
                    name=str(run["settings"].get("situations", protocol)),
                    samples=len({name for name, _ in self.samples}),
                    sample_ids=list(dict.fromkeys(name for name, _ in self.samples)),
                ),
                model=self.model,
                config=EvalConfig(epochs=max((epoch for _, epoch in self.samples), default=1)),
                packages={OWN_API: run["software"].rpartition(" ")[2]},
                metadata=carried(self.shared, self.source, protocol=protocol, exported=True)
                | {"settings": run["settings"]},
            ),
            plan=EvalPlan(steps=[EvalPlanStep(solver=f"{OWN_API}/protocol")]),
            results=EvalResults(
                total_samples=len(samples),
                completed_samples=sum(sample.error is None for sample in samples),
                scores=results(samples),
            ),
            stats=EvalStats(
                started_at=run["started_at"],
                completed_at=run["finished_at"] or run["last_used_at"] or run["started_at"],
                model_usage={self.model: usage},
            ),
            samples=samples,
        )

    def _sample(self, key: SampleKey, rows: Records) -> EvalSample:
        name, epoch = key
        own = sorted(rows["answers"], key=lambda row: (row["asked_at"], row["id"]))
        events = [self._event(row) for row in own]
        measured = [event for event in events if event.role is None]
        last = measured[-1] if measured else None
        answered = {row["key"] for row in own}
        failed = [row for row in rows["failures"] if row["key"] not in answered]
        usage: dict[str, ModelUsage] = {}
        for event in events:
            used = event.output.usage or ModelUsage()
            usage[event.model] = usage.get(event.model, ModelUsage()) + used
        return EvalSample(
            id=name,
            epoch=epoch,
            input=list(measured[0].input) if measured else name,
            target="",
            messages=[*last.input, last.output.message] if last else [],
            output=last.output if last else ModelOutput(),
            scores=self.scores.of(rows),
            metadata=carried(dict(rows), self.source),
            events=list(events),
            model_usage=usage,
            started_at=own[0]["asked_at"] if own else None,
            completed_at=own[-1]["answered_at"] if own else None,
            total_time=sum(row["latency"] for row in own),
            error=_error(failed[-1]) if failed else None,
        )

    def _event(self, row: Row) -> ModelEvent:
        partner = "simulator" if row["key"].partition("#")[2].endswith(_SIMULATED) else None
        model = self.model
        if partner is not None:
            model = chat_name(str(self.run["settings"].get("simulator", partner)))
        output = output_of(stored_completion(SimpleNamespace(**row)), model)
        output.time = row["latency"]
        if output.usage is not None:
            output.usage.total_cost = row["cost"]
        return ModelEvent(
            model=model,
            role=partner,
            input=chat_messages([Message(**message) for message in row["messages"]]),
            tools=[],
            tool_choice="none",
            config=chat_settings(Parameters(**row["parameters"])),
            output=output,
            retries=row["attempts"] - 1,
            timestamp=datetime.fromisoformat(row["asked_at"]),
            completed=datetime.fromisoformat(row["answered_at"]),
            working_start=0.0,
            working_time=row["latency"],
        )


_SIMULATED = ("/state", "/message")


def _error(failure: Row) -> EvalError:
    message = f"{failure['kind']}: {failure['message']}"
    return EvalError(message=message, traceback=message, traceback_ansi=message)
