"""A draw as a paragraph for a paper's methods section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from empathylab.situations.sampling.draws import Draw

_PLURALS = {
    "emotion": "emotions",
    "valence": "valences",
    "topic": "topics",
    "factor": "factors",
    "length": "length bands",
}


def methods_paragraph(draw: Draw) -> str:
    """Source, exclusions with their numbers, balance, seed and software, in sentences."""
    recipe = draw.recipe
    total = int(draw.source["situations"])
    source = (
        f"From the {total:,} situations of “{draw.source['title']}” (set {recipe['set']}, version "
        f"{recipe['version']}, licence {draw.source['licence']}), we drew "
        f"{len(draw.situations):,}."
    )
    software = (
        f"The draw was made with EmpathyLab {draw.software} and seed {recipe['seed']}; the order "
        "of situations is that of the SHA-256 hash of seed and identifier, so that the draw can be "
        f"repeated on any machine (fingerprint of the set: {str(recipe['fingerprint'])[:12]})."
    )
    return " ".join([source, _exclusions(draw), _balance(draw), *_shortfalls(draw), software])


def _exclusions(draw: Draw) -> str:
    rules = draw.recipe["rules"]
    reasons = [
        f"{draw.excluded.get(reason, 0):,} {what}"
        for reason, what in _rule_words(rules, draw.recipe["balance"])
        if reason != "no label" or draw.excluded.get(reason)
    ]
    if not reasons:
        return "None was excluded beforehand."
    return (
        f"Beforehand we excluded {_listed(reasons)}, each counted under the first rule in this "
        f"order that it broke; {draw.eligible:,} were left."
    )


def _rule_words(rules: Mapping[str, Any], balance: Sequence[str]) -> list[tuple[str, str]]:
    """The rules that were in force, in the order in which they are applied, and their words."""
    words = []
    if rules["replied"]:
        words.append(("no reply", "without a human reply"))
    words.append(("no label", f"without a label for {' or '.join(balance)}"))
    if rules["min_words"] > 0:
        words.append(("too short", f"of fewer than {rules['min_words']} words"))
    if rules["max_words"] is not None:
        words.append(("too long", f"of more than {rules['max_words']} words"))
    if rules["opening"]:
        words.append(
            (
                "not an opening",
                "in which the second speaker was already involved (by word patterns)",
            )
        )
    if rules["unsafe"]:
        entries = len(rules["unsafe"])
        words.append(("unsafe", f"with unsafe content (by a list of {entries} words and phrases)"))
    if rules["duplicates"] == "near":
        index = f"Jaccard index of word pairs of at least {rules['similarity']:g}"
        words.append(("duplicate", f"that repeated another word for word or nearly ({index})"))
    elif rules["duplicates"] == "exact":
        words.append(("duplicate", "that repeated another word for word"))
    return words


def _balance(draw: Draw) -> str:
    parts = []
    for name, values in draw.counts.items():
        low, high = min(values.values()), max(values.values())
        each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        plural = _PLURALS[name] if len(values) > 1 else name.replace("length", "length band")
        shown = f" ({', '.join(values)})" if name == "length" else ""
        parts.append(f"{len(values)} {plural}{shown}, {each} each")
    if not parts:
        return "The draw was not stratified."
    several = ", in this order of importance" if len(parts) > 1 else ""
    return f"The draw was balanced over {_listed(parts)}{several}."


def _shortfalls(draw: Draw) -> list[str]:
    if not draw.shortfalls:
        return []
    shown = [
        f"{shortfall.value} ({shortfall.drawn:,} of {shortfall.share:,})"
        for shortfall in draw.shortfalls
    ]
    return [f"Fewer than an even share were available of {_listed(shown)}; all of them were taken."]


def _listed(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{'; '.join(parts[:-1])}{';' if len(parts) > 2 else ''} and {parts[-1]}"
