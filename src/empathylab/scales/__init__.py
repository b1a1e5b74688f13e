"""Scales as data that code obeys: definition, wording, presentation, answer parsing, scoring."""

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
from empathylab.scales.presentation import answer_schema, describe_range, item_order, render_items
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
