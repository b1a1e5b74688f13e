"""The pages of every scale, every set of situations and every feature of style that ships."""

from __future__ import annotations

from collections import Counter

from empathylab.scales import Scale, builtin_scales
from empathylab.situations import SituationSet, builtin_sets
from empathylab.style.measures.catalogue import FEATURES

WRITTEN = "<!-- Written from the program by scripts/write_reference.py; do not edit by hand. -->\n"
_RULES = {
    "sum": "the sum of its items",
    "mean": "the mean of its items",
    "double-sum": "twice the sum of its items",
}


def scales_page() -> str:
    """Every scale: structure, scores, reference, and whose the wording is."""
    head = (
        f"# Scales\n\n{WRITTEN}\nThis page lists the built-in scales. Their structure ships: "
        "items, range, reversed items and scoring. The wording of most belongs to their authors: "
        "import yours with `empathylab scales import FILE` "
        "([formats](formats.md#wording-of-scales)). A reversed item counts as lowest plus highest "
        "minus the answer.\n\n"
        "| scale | items | range | scores | wording |\n| --- | --- | --- | --- | --- |\n"
    )
    scales = builtin_scales()
    rows = [
        f"| [`{scale.id}`](#{scale.id}) | {scale.items} | {scale.minimum} to {scale.maximum} | "
        f"{', '.join(_scores(scale))} | {'ships' if scale.words else 'yours'} |\n"
        for scale in scales.values()
    ]
    return head + "".join(rows) + "".join(_scale(scale) for scale in scales.values())


def situations_page() -> str:
    """Every set of situations that ships."""
    head = (
        f"# Sets of situations\n\n{WRITTEN}\nThis page lists the built-in sets of situations; "
        "`empathylab data show NAME` prints one. A situation may have an emotion, a factor or a "
        "topic, a valence, the person's first words "
        "(utterance), and a counterpart in which it goes well.\n"
    )
    return head + "".join(_set(item) for item in builtin_sets().values())


def features_page() -> str:
    """Every feature that `analyze style` counts."""
    head = (
        f"# Features of style\n\n{WRITTEN}\nThis page lists the columns that `empathylab analyze "
        "style` and `empathylab.style.features` compute, one value for each response. A measure is "
        "empty if the text is too short for it. Dictionaries given with `--dictionary` add columns."
        "\n\n| feature | kind | what it is |\n| --- | --- | --- |\n"
    )
    rows = [f"| `{name}` | {one.kind} | {_cell(one.meaning)} |\n" for name, one in FEATURES.items()]
    return head + "".join(rows)


def _scores(scale: Scale) -> list[str]:
    return [*(f"`{part.id}`" for part in scale.subscales), *(["`total`"] if scale.total else [])]


def _scale(scale: Scale) -> str:
    lines = ["", f"## {scale.id}", "", f"{scale.name}, version {scale.version}.", ""]
    lines += [f"- **Items**: {scale.items}, from {scale.minimum} to {scale.maximum}"]
    if scale.anchors:
        anchors = "; ".join(f"{value} {label}" for value, label in sorted(scale.anchors.items()))
        lines[-1] += f" ({anchors})"
    lines.append(f"- **Reversed**: {_listed(sorted(scale.reversed))}")
    lines.append(f"- **Score**: {_RULES[str(scale.rule)]}")
    lines += [f"- **`{part.id}`**: items {_listed(part.items)}" for part in scale.subscales]
    if scale.emotion:
        lines.append(f"- **For the emotion**: {scale.emotion}")
    lines += [
        f"- **Deviation**: {deviation.what} Source: {deviation.source}"
        for deviation in scale.deviations
    ]
    lines += [
        f"- **Other scoring** `{scale.id}-{scoring.id}`: {scoring.name}. Source: {scoring.source}"
        for scoring in scale.scorings
    ]
    lines += [f"- **Reference**: {scale.citation}", f"- **Licence**: {scale.licence}", ""]
    return "\n".join(lines)


def _set(one: SituationSet) -> str:
    groups = Counter(getattr(situation, one.grouped_by) for situation in one)
    lines = [
        "",
        f"## {one.id}",
        "",
        f"{one.title}, version {one.version}. {one.description}",
        "",
        f"- **Situations**: {len(one)} ({_valences(one)})",
        (
            f"- **Language**: {one.language}; **licence**: {one.licence}; **validated on people**: "
            f"{'yes' if one.validated else 'no'}"
        ),
        f"- **With**: {', '.join(_with(one))}",
        f"- **By {one.grouped_by}**: "
        + ", ".join(f"{name} {count}" for name, count in groups.items()),
        f"- **Fingerprint**: `{one.fingerprint[:16]}…`",
        "",
    ]
    return "\n".join(lines)


def _valences(one: SituationSet) -> str:
    counts = Counter(situation.valence or "no valence" for situation in one)
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def _with(one: SituationSet) -> list[str]:
    fields = ("emotion", "factor", "topic", "title", "utterance", "counterpart")
    return [name for name in fields if any(getattr(situation, name) for situation in one)]


def _listed(numbers: object) -> str:
    found = [str(number) for number in numbers]  # type: ignore[attr-defined]
    return ", ".join(found) if found else "none"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
