"""Scales as data that code obeys: definition, wording, presentation, answer parsing, scoring."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from empathylab.scales.answers import Outcome, ParsedAnswer, parse_answer
    from empathylab.scales.definition import (
        Rule,
        Scale,
        Subscale,
        builtin_scale,
        builtin_scales,
        find_scale,
        known_scales,
        read_scale,
        scale_from_dict,
        scale_to_dict,
        scales_in,
    )
    from empathylab.scales.distributions import AnswerDistribution, answer_distributions
    from empathylab.scales.patterns import response_pattern
    from empathylab.scales.presentation import (
        answer_schema,
        describe_range,
        item_order,
        render_items,
    )
    from empathylab.scales.refusals import looks_like_refusal
    from empathylab.scales.scoring import Score, score
    from empathylab.scales.wording import WordingFor, read_wording, with_words

__all__ = [
    "AnswerDistribution",
    "Outcome",
    "ParsedAnswer",
    "Rule",
    "Scale",
    "Score",
    "Subscale",
    "WordingFor",
    "answer_distributions",
    "answer_schema",
    "builtin_scale",
    "builtin_scales",
    "describe_range",
    "find_scale",
    "item_order",
    "known_scales",
    "looks_like_refusal",
    "parse_answer",
    "read_scale",
    "read_wording",
    "render_items",
    "response_pattern",
    "scale_from_dict",
    "scale_to_dict",
    "scales_in",
    "score",
    "with_words",
]

# Those that load the least come first.
_MODULES = (
    "definition",
    "scoring",
    "distributions",
    "patterns",
    "presentation",
    "wording",
    "refusals",
    "answers",
)


def __getattr__(name: str) -> Any:
    # Loaded when first used: most commands need a scale's definition and not how answers are read.
    for module in _MODULES if name in __all__ else ():
        loaded = import_module(f"empathylab.scales.{module}")
        if hasattr(loaded, name):
            return getattr(loaded, name)
    raise AttributeError(f"module 'empathylab.scales' has no attribute {name!r}")
