"""The analysis of style as one document: the shape that `analyze style --json` promises."""

from __future__ import annotations

import dataclasses
from typing import Any

from empathylab.analysis.ratings.rows import plain
from empathylab.analysis.style.analysis import RatedStyle, StyleAnalysis
from empathylab.analysis.style.prose import paragraphs
from empathylab.analysis.style.tables import meaning
from empathylab.style import Profile
from empathylab.style.authorship.predictability import Classification, Predictability
from empathylab.style.rating_relations import RatingRelation

Document = dict[str, Any]


def style_document(analysis: StyleAnalysis) -> Document:
    """What `analyze style --json` prints."""
    found: Document = {
        "respondents": [_respondent(one) for one in analysis.profiles],
        "distinctive": {
            one.respondent: [plain(term) for term in one.terms] for one in analysis.distinctive
        },
        "distinctive_against": {
            one.respondent: plain(one) | {"terms": len(one.terms)} for one in analysis.distinctive
        },
        "predictability": _predictability(analysis.predictability),
        "tests": [plain(one) | {"meaning": meaning(one.feature)} for one in analysis.differences],
        "emoji": analysis.emoji.to_dicts(),
        "diversity": [plain(one._asdict()) for one in analysis.diversity],
        "tactics": _tactics(analysis),
        "repetition": plain(analysis.reuse.repetition),
        "self_similarity": plain(analysis.reuse.similarity),
        "openings": plain(analysis.reuse.openings),
        "closings": plain(analysis.reuse.closings),
        "ratings": [_rated(one) for one in analysis.rated],
        "n": analysis.responses.height,
        "situations": analysis.situations,
        "dropped": analysis.dropped,
        "against": analysis.against,
        "seed": analysis.seed,
        "dictionaries": [
            {"name": one.name, "categories": list(one.columns), "entries": len(one.entries)}
            for one in analysis.dictionaries
        ],
        "notes": list(analysis.notes),
        "paragraphs": paragraphs(analysis),
    }
    return found


def _respondent(one: Profile) -> Document:
    return {
        "respondent": one.respondent,
        "responses": one.responses,
        "situations": one.situations,
        "words": one.words,
        "words_per_response": plain(one.words_per_response),
        "emoji_per_response": plain(one.emoji_per_response),
        "punctuation": plain(one.punctuation),
        "features": {name: plain(figure.mean) for name, figure in one.features.items()},
        "figures": plain(one.features),
    }


def _predictability(told: Predictability | None) -> Document | None:
    if told is None:
        return None
    parts = {"full", "ablations", "respondents"}
    rest = {
        field.name: plain(getattr(told, field.name))
        for field in dataclasses.fields(told)
        if field.name not in parts
    }
    return (
        _classification(told.full, told.respondents)
        | rest
        | {
            "respondents": list(told.respondents),
            "ablations": [_classification(one, told.respondents) for one in told.ablations],
        }
    )


def _classification(one: Classification, names: tuple[str, ...]) -> Document:
    found: Document = plain(one)
    return found | {
        "confusion": {
            writer: dict(zip(names, row, strict=True))
            for writer, row in zip(names, one.confusion, strict=True)
        }
    }


def _tactics(analysis: StyleAnalysis) -> Document:
    tactics = analysis.tactics
    return {
        "tagger": tactics.tagger,
        "uses": plain(tactics.uses),
        "places": tactics.places.to_dicts(),
        "transitions": tactics.transitions.to_dicts(),
        "templates": plain(tactics.templates),
    }


def _rated(rated: RatedStyle) -> Document:
    return {
        "study": rated.study,
        "dimension": rated.dimension,
        "relations": [_relation(one) for one in rated.relations],
    }


def _relation(one: RatingRelation) -> Document:
    slopes = ("alone", "length_adjusted", "within")
    found: Document = plain(one)
    return (
        found
        | {name: plain(getattr(one, name)._asdict()) for name in slopes}
        | {"meaning": meaning(one.feature)}
    )
