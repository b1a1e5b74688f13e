"""What answers to checks come to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from empathylab.study.blocks.types import Attention, Check
from empathylab.study.design.definition import Study


def right_answers(check: Check, values: Mapping[str, Any]) -> tuple[bool, ...]:
    """Of each question, whether it was answered rightly; the values are option numbers from 1."""
    return tuple(
        values.get(f"question-{number}") == question.answer
        for number, question in enumerate(check.questions, start=1)
    )


def check_passed(check: Check, values: Mapping[str, Any]) -> bool:
    """Whether enough questions were answered rightly."""
    return sum(right_answers(check, values)) >= check.needed


def attention_passed(block: Attention, values: Mapping[str, Any]) -> bool:
    """Whether the attention check was answered rightly."""
    return values.get("question") == block.question.answer


def failed_attention(study: Study, answers: Mapping[str, Mapping[str, Any]]) -> int:
    """How many attention checks failed: the column that the rule 'failed attention' reads."""
    return sum(
        isinstance(block, Attention)
        and block.id in answers
        and not attention_passed(block, answers[block.id])
        for block in study.blocks
    )
