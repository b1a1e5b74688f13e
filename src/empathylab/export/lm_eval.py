"""The single-turn protocols as tasks of lm-evaluation-harness: YAML, documents, scoring.

The documents hold the very prompts that EmpathyLab sends. The harness scores answers by calling
the functions at the end of this module, so EmpathyLab must be installed where it runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import yaml

from empathylab import __version__
from empathylab.errors import InputError
from empathylab.output_folders import put, put_aside
from empathylab.protocols import Appraisal, Responding
from empathylab.protocols.appraise import (
    answer_tokens,
    appraisal_requests,
    planned_administrations,
)
from empathylab.protocols.reply_checks import Expected, check_reply
from empathylab.protocols.respond import reply_requests
from empathylab.runs import Request
from empathylab.scales import Scale, parse_answer, scale_from_dict, scale_to_dict, score
from empathylab.stats.questionnaires.appraisal import SCORES, scale_changes

RESPOND, APPRAISE = "empathylab_respond", "empathylab_appraise"
_SCORING = '''"""What lm-evaluation-harness calls: documents, and EmpathyLab's scoring."""

from pathlib import Path

from empathylab.export.lm_eval import change, documents, score_reply, score_scale

__all__ = ["change", "empathylab_appraise", "empathylab_respond", "score_reply", "score_scale"]


def empathylab_respond(**_settings):
    return documents(Path(__file__).with_name("empathylab_respond.jsonl"))


def empathylab_appraise(**_settings):
    return documents(Path(__file__).with_name("empathylab_appraise.jsonl"))
'''
_README = """# EmpathyLab in lm-evaluation-harness

Written by EmpathyLab {version}. EmpathyLab must be installed where the harness runs.

    lm_eval --model local-chat-completions \\
      --model_args model=NAME,base_url=http://localhost:8000/v1/chat/completions \\
      --tasks {tasks} --include_path . --apply_chat_template

`usable` is the proportion of replies that pass EmpathyLab's checks, `readable` that of
questionnaires that can be scored. `…_change` is the mean of a subscale after situations minus its
mean at baseline.
"""


class WrittenTasks(NamedTuple):
    """What was written."""

    path: str
    documents: dict[str, int]
    """How many documents each task has."""
    left_out: int
    """Situations with earlier turns, which the harness cannot show."""


def write_tasks(
    place: Path, responding: Responding | None, appraisal: Appraisal | None
) -> WrittenTasks:
    """Writes the tasks of one protocol or both into a new folder."""
    files: dict[str, str] = {"scoring.py": _SCORING}
    documents: dict[str, int] = {}
    left_out = 0
    if responding is not None:
        rows = _reply_documents(responding)
        left_out = len(responding.situations) - len(rows)
        documents[RESPOND] = len(rows)
        files |= _task(RESPOND, rows, _reply_settings(responding))
    if appraisal is not None:
        rows = _scale_documents(appraisal)
        documents[APPRAISE] = len(rows)
        files |= _task(APPRAISE, rows, _scale_settings(appraisal))
    if not any(documents.values()):
        raise InputError(
            "none of the situations can be shown in a single turn",
            got=responding and responding.situation_set.id,
            remedy="Choose another set with --set.",
        )
    files["README.md"] = _README.format(version=__version__, tasks=",".join(documents))
    with put_aside(place) as aside:
        for name, content in files.items():
            put(aside.folder, name, content.encode())
        aside.settle()
    return WrittenTasks(str(place), documents, left_out)


def _task(
    name: str, documents: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]
) -> dict[str, str]:
    """The task's two files. `!function` names a function of scoring.py, as the harness reads it."""
    lines = "".join(f"{json.dumps(document, ensure_ascii=False)}\n" for document in documents)
    config = {
        "task": name,
        "tag": ["empathylab"],
        "custom_dataset": _Function(f"scoring.{name}"),
        "output_type": "generate_until",
        "test_split": "test",
        "description": "{{system}}",
        "doc_to_text": "{{prompt}}",
        "doc_to_target": "",
        **settings,
        "metadata": {"version": 1},
    }
    text = yaml.dump(config, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    return {f"{name}.yaml": text, f"{name}.jsonl": lines}


class _Function(str):
    """The name of a function in YAML."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes names of functions with the harness's tag."""


_Dumper.add_representer(
    _Function, lambda dumper, name: dumper.represent_scalar("!function", str(name))
)


def _document(request: Request) -> dict[str, Any]:
    system, prompt = (message.content for message in request.messages)
    return {"id": request.key, "system": system, "prompt": prompt}


def _reply_documents(responding: Responding) -> list[dict[str, Any]]:
    template, language = responding.template, responding.situation_set.language
    return [
        _document(request)
        | {
            "least_words": template.least_words,
            "most_words": template.most_words,
            "language": language,
        }
        for request in reply_requests(responding)
        if len(request.messages) == 2
    ]


def _reply_settings(responding: Responding) -> dict[str, Any]:
    return {
        "process_results": _Function("scoring.score_reply"),
        "generation_kwargs": _generation(responding.temperature, responding.max_tokens),
        "metric_list": [{"metric": "usable", "aggregation": "mean", "higher_is_better": True}],
    }


def _generation(temperature: float, max_tokens: int) -> dict[str, Any]:
    return {
        "until": [],
        "do_sample": temperature > 0,
        "temperature": temperature,
        "max_gen_toks": max_tokens,
    }


def _scale_documents(appraisal: Appraisal) -> list[dict[str, Any]]:
    planned = zip(appraisal_requests(appraisal), planned_administrations(appraisal), strict=True)
    definition = json.dumps(scale_to_dict(appraisal.scale), ensure_ascii=False)
    documents = []
    for request, entry in planned:
        situation = entry.situation
        documents.append(
            _document(request)
            | {
                "scale": definition,
                "item_order": list(entry.order),
                "order_index": entry.order_index,
                "phase": "evoked" if situation else "default",
                "situation": situation.id if situation else "",
                "emotion": situation.emotion or "" if situation else "",
            }
        )
    return documents


def _scale_settings(appraisal: Appraisal) -> dict[str, Any]:
    metrics = [{"metric": "readable", "aggregation": "mean", "higher_is_better": True}]
    for name in _subscales(appraisal.scale):
        metrics += [
            {"metric": f"{name}_baseline", "aggregation": "mean", "higher_is_better": True},
            {"metric": f"{name}_evoked", "aggregation": "mean", "higher_is_better": True},
            {
                "metric": f"{name}_change",
                "aggregation": _Function("scoring.change"),
                "higher_is_better": True,
            },
        ]
    return {
        "process_results": _Function("scoring.score_scale"),
        "generation_kwargs": _generation(appraisal.temperature, answer_tokens(appraisal.scale)),
        "metric_list": metrics,
    }


def _subscales(scale: Scale) -> list[str]:
    return [part.id for part in scale.subscales] + (["total"] if scale.total else [])


# -- what the harness calls -----------------------------------------------------------------------


def documents(path: Path) -> dict[str, Any]:
    """The documents of a task as the harness wants them."""
    from datasets import Dataset

    lines = path.read_text(encoding="utf-8").split("\n")
    return {"test": Dataset.from_list([json.loads(line) for line in lines if line])}


def score_reply(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Whether the reply passes EmpathyLab's checks."""
    expected = Expected(
        prompt=(doc["system"], doc["prompt"]),
        least_words=doc["least_words"],
        most_words=doc["most_words"],
        language=doc["language"],
    )
    verdict = check_reply(results[0].strip(), expected, cut_off=False)
    return {"usable": float(verdict.outcome == "valid")}


def score_scale(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """The scores of an answered questionnaire; of one that cannot be read, that alone."""
    scale = scale_from_dict(json.loads(doc["scale"]))
    parsed = parse_answer(results[0], scale, doc["item_order"])
    if parsed.outcome != "valid":
        return {"readable": 0.0}
    scores: dict[str, Any] = {"readable": 1.0}
    phase = "baseline" if doc["phase"] == "default" else "evoked"
    for item in score(scale, dict(parsed.values)):
        if item.value is not None:
            row = [item.subscale, doc["phase"], doc["situation"], doc["order_index"], item.value]
            scores |= {f"{item.subscale}_{phase}": item.value, f"{item.subscale}_change": row}
    return scores


def change(rows: Sequence[Sequence[Any]]) -> float:
    """The mean change of a subscale from baseline, within item orders that both phases share."""
    named = [
        {
            "respondent": "model",
            "scale": "scale",
            "subscale": subscale,
            "phase": phase,
            "situation": situation or None,
            "order_index": order,
            "score": value,
        }
        for subscale, phase, situation, order, value in rows
    ]
    changes = scale_changes(pl.DataFrame(named, schema=SCORES))
    return next((item.cluster_delta for item in changes if item.level == "overall"), math.nan)
