"""Scales and ways of answering that the tests of the parser share."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from empathylab.scales import Scale, builtin_scale, scale_from_dict

LABELS = {"1": "not at all", "2": "a bit", "3": "fairly", "4": "very", "5": "utterly"}
WORDS = {
    "moods": ["Calm", "Gloomy", "Bold", "Tired", "Tense", "Lively"],
    "views": [
        "I like long walks, even in the rain.",
        "Crowds of 100 people or more make me nervous.",
        "I'd rather cook than eat out.",
    ],
    "pulls": ["Away", "Home", "Onward", "Up"],
    "paths": [f"Path{letter}" for letter in "abcdefghijklmnopqrstu"],
}


def example_scale(
    name: str,
    *,
    minimum: int = 1,
    maximum: int = 5,
    words: Sequence[str] | None = None,
    anchors: dict[str, str] | None = None,
    items: int | None = None,
) -> Scale:
    """A scale of our own; with wording if `words` are given."""
    table: dict[str, object] = {
        "id": name,
        "version": 1,
        "name": name.title(),
        "citation": "None.",
        "licence": "Written for these tests.",
        "instruction": "Answer.",
        "minimum": minimum,
        "maximum": maximum,
        "anchors": anchors or {},
        "items": items or len(words or ()),
        "rule": "sum",
    }
    if words:
        table["words"] = list(words)
    return scale_from_dict(table)


MOODS = example_scale("moods", words=WORDS["moods"], anchors=LABELS)
VIEWS = example_scale("views", maximum=3, minimum=0, words=WORDS["views"])
PULLS = example_scale("pulls", minimum=-2, maximum=2, words=WORDS["pulls"])
PATHS = example_scale("paths", maximum=7, words=WORDS["paths"])
BLANK = example_scale("blank", minimum=0, maximum=3, items=21)
PANAS = builtin_scale("panas")
SINGLE = example_scale("single", words=["Calm"], anchors=LABELS)

Style = Callable[[Scale, Sequence[int], Sequence[int]], str]
"""Writes an answer: the scale, the order shown, the values in that order."""


def _by_number(template: str, joint: str = "\n") -> Style:
    def write(scale: Scale, order: Sequence[int], values: Sequence[int]) -> str:
        return joint.join(
            template.format(
                k=k, v=v, word=_word(scale, item), last=scale.maximum, label=scale.anchors.get(v)
            )
            for k, (item, v) in enumerate(zip(order, values, strict=True), start=1)
        )

    return write


def _word(scale: Scale, item: int) -> str:
    return scale.words[item - 1] if scale.words else "something else"


def _json_object(scale: Scale, order: Sequence[int], values: Sequence[int]) -> str:
    return json.dumps({str(k): v for k, v in enumerate(values, start=1)})


def _json_by_words(scale: Scale, order: Sequence[int], values: Sequence[int]) -> str:
    return json.dumps({_word(scale, i): v for i, v in zip(order, values, strict=True)}, indent=1)


def _json_list(scale: Scale, order: Sequence[int], values: Sequence[int]) -> str:
    return f"Sure:\n```json\n{json.dumps(list(values))}\n```\nDone."


def _json_objects(scale: Scale, order: Sequence[int], values: Sequence[int]) -> str:
    return json.dumps([{"item": k, "rating": v} for k, v in enumerate(values, start=1)])


NUMBERED: dict[str, Style] = {
    "k. v": _by_number("{k}. {v}"),
    "k: v": _by_number("{k}: {v}"),
    "k:v": _by_number("{k}:{v}"),
    "k) v": _by_number("{k}) {v}"),
    "(k) v": _by_number("({k}) {v}"),
    "[k] v": _by_number("[{k}] {v}"),
    "k = v": _by_number("{k} = {v}"),
    "k -> v": _by_number("{k} -> {v}"),
    "k → v": _by_number("{k} → {v}"),
    "bold": _by_number("**{k}.** {v}"),
    "bold value": _by_number("{k}. **{v}**"),
    "bullets": _by_number("- {k}: {v}"),
    "Item k": _by_number("Item {k}: {v}"),
    "Qk": _by_number("Q{k}: {v}"),
    "#k": _by_number("#{k}: {v}"),
    "table": _by_number("| {k} | {v} |"),
    "explained": _by_number("{k}. {v} - because 2 of my friends said so in 1999"),
    "out of": _by_number("{k}. {v} out of {last}"),
    "slash": _by_number("{k}. {v}/{last}"),
    "point zero": _by_number("{k}. {v}.0"),
    "one line, commas": _by_number("{k}. {v}", ", "),
    "one line, spaces": _by_number("{k}: {v}", " "),
    "one line, semicolons": _by_number("{k}) {v}", "; "),
    "one line, explained": _by_number("{k}. {v} because I feel so.", " "),
    "rating below": _by_number("{k}.\nRating: {v}"),
    "json object": _json_object,
    "json objects": _json_objects,
}
DASHED: dict[str, Style] = {
    "k - v": _by_number("{k} - {v}"),
    "k – v": _by_number("{k} – {v}"),
    "Question k - v": _by_number("Question {k} - {v}"),
    "- v": _by_number("- {v}"),
}
WORDED: dict[str, Style] = {
    "k. word: v": _by_number("{k}. {word}: {v}"),
    "k. word v": _by_number("{k}. {word} {v}"),
    "k. word (v)": _by_number("{k}. {word} ({v})"),
    "k) bold word: v": _by_number("{k}) **{word}**: {v}"),
    "k (word): v": _by_number("{k} ({word}): {v}"),
    "k. v (word)": _by_number("{k}. {v} ({word})"),
    "word: v": _by_number("{word}: {v}"),
    "word = v": _by_number("{word} = {v}"),
    "word v, one line": _by_number("{word} {v}", ", "),
    "word: v, one line": _by_number("{word}: {v}", "; "),
    "word table": _by_number("| {k} | {word} | {v} |"),
    "word table with remarks": _by_number("| {k} | {word} | {v} | it is so |"),
    "table by word": _by_number("| {word} | {v} |"),
    "heading and rating": _by_number("### {k}. {word}\n\nIt is so.\n\n**Rating:** {v}"),
    "word above": _by_number("{k}. {word}\n{v}"),
    "csv": _by_number("{k},{word},{v}"),
    "one line": _by_number("{k}. {word}: {v}", " "),
    "json by words": _json_by_words,
}
LABELLED: dict[str, Style] = {
    "k. label": _by_number("{k}. {label}"),
    "k: label": _by_number("{k}: {label}"),
    "word: label": _by_number("{word}: {label}"),
    "k. word - label": _by_number("{k}. {word} - {label}"),
    "k. v (label)": _by_number("{k}. {v} ({label})"),
    "k. v - label": _by_number("{k}. {v} - {label}"),
    "k. label (v)": _by_number("{k}. {label} ({v})"),
    "v (word)": _by_number("{v} ({word})"),
    "(k) label, one line": _by_number("({k}) {label}", " "),
}
BARE: dict[str, Style] = {
    "lines": _by_number("{v}"),
    "commas": _by_number("{v}", ", "),
    "spaces": _by_number("{v}", " "),
    "brackets": lambda scale, order, values: f"[{', '.join(map(str, values))}]",
    "introduced": lambda scale, order, values: f"My answers: {', '.join(map(str, values))}.",
    "json list": _json_list,
}
