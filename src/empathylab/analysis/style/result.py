"""The result of the analysis of style: conclusions, caveats and the JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from empathylab.analysis.json_values import json_value, picked
from empathylab.analysis.results import (
    ALPHA,
    Conclusion,
    ModelChoice,
    Result,
)
from empathylab.analysis.style.estimates import RatedStyle, StyleEstimates, Tactics
from empathylab.analysis.style.feature_titles import main_features, meaning
from empathylab.analysis.style.prose import (
    difference_sentences,
    distinctive_sentences,
    paragraphs,
    predictability_sentence,
    rated_sentence,
    reuse_sentences,
    tactic_sentences,
    tested_relations,
)
from empathylab.analysis.style.tables import accuracy_intervals, by_pair, feature_values
from empathylab.style import Profile
from empathylab.style.authorship.predictability import Classification, Predictability
from empathylab.style.rating_relations import RatingRelation
from empathylab.style.tactics.accuracy import TacticAccuracy

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StyleResult(Result):
    """How respondents write, how they differ, and what is associated with ratings."""

    main_table: ClassVar[str] = "features"
    estimates: StyleEstimates

    @property
    def design(self) -> Mapping[str, Any]:
        """Who replied to how many situations, and whether the same ones."""
        estimates = self.estimates
        pairs = estimates.responses.select("respondent", "situation").n_unique()
        return {
            "respondents": list(estimates.respondents),
            "responses": estimates.responses.height,
            "situations": estimates.situations,
            "same_situations": pairs == len(estimates.respondents) * estimates.situations,
            "reference": estimates.against,
            "studies": list(dict.fromkeys(rated.study for rated in estimates.rated)),
        }

    @property
    def model(self) -> ModelChoice | None:
        """The test of differences; None with a single respondent."""
        if not self.estimates.differences:
            return None
        paired = all(difference.paired for difference in self.estimates.differences)
        return ModelChoice(
            name="paired t tests of situation means" if paired else "t tests of situation means",
            reason="The situation is the unit, because replies to one situation resemble each "
            "other; p values are corrected by Holm's method over all features and pairs.",
        )

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """Differences by pair, authorship, associations with ratings, then descriptions."""
        return (*self._differences(), *self._authorship(), *self._ratings(), *self._descriptions())

    def _differences(self) -> list[Conclusion]:
        pairs = by_pair(self.estimates.differences)
        sentences = difference_sentences(self.estimates)
        return [
            Conclusion(
                kind="different"
                if any(difference.p_holm < ALPHA for difference in differences)
                else "inconclusive",
                sentence=sentence,
                subject=subject,
                reference=reference,
                p_adjusted=min(difference.p_holm for difference in differences),
                n=max(difference.n for difference in differences),
                model="t tests of situation means, Holm",
                basis=f"{len(differences)} features",
            )
            for (subject, reference), differences, sentence in zip(
                pairs, pairs.values(), sentences, strict=True
            )
        ]

    def _authorship(self) -> list[Conclusion]:
        predictability = self.estimates.predictability
        if predictability is None:
            return []
        full = predictability.full
        return [
            Conclusion(
                kind="different" if full.above_chance else "inconclusive",
                sentence=predictability_sentence(self.estimates),
                subject=", ".join(predictability.respondents),
                reference="chance",
                dimension="authorship",
                estimate=full.accuracy,
                low=full.low,
                high=full.high,
                unit="proportion",
                p=full.p,
                n=full.responses,
                model=f"logistic regression, {predictability.folds}-fold cross-validation "
                "by situation",
            )
        ]

    def _ratings(self) -> list[Conclusion]:
        titles = main_features(self.estimates)
        return [
            Conclusion(
                kind="different" if tested_relations(rated)[1] else "inconclusive",
                sentence=rated_sentence(rated, titles),
                subject="features",
                dimension=rated.dimension or None,
                subset=rated.study or None,
                n=max(relation.n for relation in rated.relations),
                model="regression within respondents at equal length, joint correction",
                basis=f"{len(tested_relations(rated)[0])} features",
            )
            for rated in self.estimates.rated
        ]

    def _descriptions(self) -> list[Conclusion]:
        parts = {
            "distinctive words": distinctive_sentences(self.estimates),
            "tactics": tactic_sentences(self.estimates),
            "repetition": reuse_sentences(self.estimates),
        }
        return [
            Conclusion(kind="descriptive", sentence=sentence, subject="style", dimension=dimension)
            for dimension, sentences in parts.items()
            for sentence in sentences
        ]

    @property
    def caveats(self) -> tuple[str, ...]:
        """What was excluded or cannot be estimated."""
        return self.estimates.notes

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Features per respondent, differences, emoji, tactics and distinctive terms."""
        estimates = self.estimates
        terms = [
            {"respondent": distinctive.respondent} | json_value(term)
            for distinctive in estimates.distinctive
            for term in distinctive.terms
        ]
        rows: dict[str, list[Document]] = {
            "features": feature_values(estimates),
            "differences": json_value(estimates.differences),
            "tactics": json_value(estimates.tactics.uses),
            "corrected_tactics": json_value(estimates.tactics.corrected),
            "distinctive": terms,
        }
        frames = {
            name: pl.DataFrame(part, infer_schema_length=None, strict=False)
            for name, part in rows.items()
        }
        return frames | {"emoji": estimates.emoji}

    def to_dict(self) -> Document:
        """What `analyze style --json` prints."""
        estimates = self.estimates
        return {
            "respondents": [_profile(profile) for profile in estimates.profiles],
            "distinctive": {
                distinctive.respondent: json_value(distinctive.terms)
                for distinctive in estimates.distinctive
            },
            "distinctive_against": {
                distinctive.respondent: json_value(distinctive) | {"terms": len(distinctive.terms)}
                for distinctive in estimates.distinctive
            },
            "predictability": _authorship(estimates.predictability),
            "tests": [
                json_value(difference) | {"meaning": meaning(difference.feature)}
                for difference in estimates.differences
            ],
            "emoji": estimates.emoji.to_dicts(),
            "diversity": [json_value(diversity._asdict()) for diversity in estimates.diversity],
            "tactics": _tactics(estimates.tactics),
            "repetition": json_value(estimates.reuse.repetition),
            "self_similarity": json_value(estimates.reuse.similarity),
            "openings": json_value(estimates.reuse.openings),
            "closings": json_value(estimates.reuse.closings),
            "ratings": [_rated(rated) for rated in estimates.rated],
            "n": estimates.responses.height,
            "situations": estimates.situations,
            "dropped": estimates.dropped,
            "against": estimates.against,
            "seed": estimates.seed,
            "dictionaries": [
                {
                    "name": lexicon.name,
                    "categories": list(lexicon.columns),
                    "entries": len(lexicon.entries),
                }
                for lexicon in estimates.dictionaries
            ],
            "notes": list(estimates.notes),
            "paragraphs": paragraphs(estimates),
            **self.stated(),
        }


def _profile(profile: Profile) -> Document:
    return {
        **picked(profile, "respondent responses situations words"),
        **picked(profile, "words_per_response emoji_per_response punctuation"),
        "features": {name: json_value(figure.mean) for name, figure in profile.features.items()},
        "figures": json_value(profile.features),
    }


def _authorship(predictability: Predictability | None) -> Document | None:
    if predictability is None:
        return None
    names = predictability.respondents
    whole: Document = json_value(predictability)
    del whole["full"]
    return (
        _classification(predictability.full, names)
        | whole
        | {"ablations": [_classification(part, names) for part in predictability.ablations]}
    )


def _classification(part: Classification, names: tuple[str, ...]) -> Document:
    row: Document = json_value(part)
    return row | {
        "confusion": {
            writer: dict(zip(names, row, strict=True))
            for writer, row in zip(names, part.confusion, strict=True)
        }
    }


def _tactics(tactics: Tactics) -> Document:
    return {
        "tagger": tactics.tagger,
        "uses": json_value(tactics.uses),
        "corrected": json_value(tactics.corrected),
        "accuracy": [_tactic_accuracy(row) for row in tactics.accuracy],
        "labelled": [_tactic_accuracy(row) for row in tactics.labelled],
        "not_english": dict(tactics.not_english),
        "places": tactics.places.to_dicts(),
        "transitions": tactics.transitions.to_dicts(),
        "templates": json_value(tactics.templates),
    }


def _tactic_accuracy(row: TacticAccuracy) -> Document:
    precision, recall = accuracy_intervals(row)
    counts: Document = json_value(row)
    return counts | {
        "precision": json_value(row.precision),
        "precision_interval": json_value(precision),
        "recall": json_value(row.recall),
        "recall_interval": json_value(recall),
        **picked(row, "specificity reliable"),
    }


def _rated(rated: RatedStyle) -> Document:
    return {
        "study": rated.study,
        "dimension": rated.dimension,
        "relations": [_relation(relation) for relation in rated.relations],
    }


def _relation(relation: RatingRelation) -> Document:
    slopes = ("alone", "length_adjusted", "within")
    row: Document = json_value(relation)
    return (
        row
        | {name: json_value(getattr(relation, name)._asdict()) for name in slopes}
        | {"meaning": meaning(relation.feature), "too_rare": relation.too_rare}
    )
