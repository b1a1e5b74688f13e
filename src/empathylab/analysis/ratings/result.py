"""The result of a rated study: what command line, JSON, report, export and notebooks render."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from empathylab.analysis.json_values import json_value, picked
from empathylab.analysis.preregistration.record import Preregistered
from empathylab.analysis.ratings.bayes import BayesModel, bayes_document
from empathylab.analysis.ratings.collection_periods import (
    CollectionPeriod,
    collection_sentences,
    in_different_periods,
)
from empathylab.analysis.ratings.conclusions import contract
from empathylab.analysis.ratings.design import REPLY, RatingsDesign, ReferenceArm
from empathylab.analysis.ratings.differences import Comparison
from empathylab.analysis.ratings.exclusions import (
    exclusions_paragraph,
    mean_robustness,
    model_robustness,
    robustness_paragraph,
    rule_text,
)
from empathylab.analysis.ratings.looks import Look
from empathylab.analysis.ratings.methods_prose import (
    ADVICE,
    counted_dimensions,
    design_paragraph,
    notes_sentences,
    second_tests_paragraph,
)
from empathylab.analysis.ratings.mixed_model_prose import model_paragraph, models_paragraph
from empathylab.analysis.ratings.mixed_models import dimension_model_row, mixed_model_row
from empathylab.analysis.ratings.model import DimensionModel
from empathylab.analysis.ratings.multiverse import Multiverse
from empathylab.analysis.ratings.prose import (
    means_paragraph,
    paired_paragraph,
    results_paragraph,
)
from empathylab.analysis.ratings.raters import raters_paragraph
from empathylab.analysis.ratings.rows import (
    arm_rows,
    comparison_rows,
    mean_arm_rows,
    row_scalars,
)
from empathylab.analysis.ratings.scales import StudyScales
from empathylab.analysis.ratings.sentences import (
    assumption_sentences,
    disagreement_sentence,
    equivalence_sentences,
)
from empathylab.analysis.results import (
    Conclusion,
    ModelChoice,
    Result,
    row_frames,
    summary_text,
)
from empathylab.stats.arms import ArmComparison, PairedComparison
from empathylab.stats.arms.means import MeanComparison
from empathylab.stats.questionnaires.inconsistency import Inconsistencies
from empathylab.stats.raters.comparability import RaterComparison
from empathylab.stats.raters.exclusions import WithAndWithout, declared
from empathylab.store.ratings import Study


@dataclass(frozen=True, slots=True)
class RatingsResult(Result):
    """The arms of a rated study compared."""

    study: Study
    reference_arm: ReferenceArm
    recognised: RatingsDesign
    scales: StudyScales
    model: ModelChoice | None
    """None with a single arm."""
    conclusions: tuple[Conclusion, ...]
    """The headline first: per dimension and arm, then by valence."""
    differences: tuple[Comparison, ...]
    """Each arm minus the reference, in points or percentage points, on every subset."""
    ratings: pl.DataFrame
    comparison: ArmComparison
    """Of the dimensions whose good ratings are counted; empty where there is none."""
    means: tuple[MeanComparison, ...]
    """Of continuous scales, of scales with five points or more, and of constant ratings."""
    paired: PairedComparison | None
    """Of a study within subjects."""
    models: tuple[DimensionModel, ...]
    raters: pl.DataFrame
    """Who gave at least one of the ratings."""
    rater_comparison: RaterComparison | None
    """None where a rater saw several arms, or nothing is known about raters."""
    inconsistencies: Inconsistencies | None
    exclusions: WithAndWithout[ArmComparison] | None
    kept_models: tuple[DimensionModel, ...] = ()
    """The models without the excluded raters."""
    kept_means: tuple[MeanComparison, ...] = ()
    raters_without_ratings: int = 0
    unrated: tuple[str, ...] = ()
    """Respondents who replied to the rated situations, but have no rating in the study."""
    collected: tuple[CollectionPeriod, ...] = ()
    """When each arm was rated."""
    unmet_rules: tuple[str, ...] = ()
    """Exclusion rules of the study file that the data do not allow to apply."""
    incomplete_rows: int = 0
    """Rows without a rater, arm, situation or rating, which are excluded."""
    missing_ratings: Mapping[str, tuple[int, int]] = field(default_factory=dict, hash=False)
    """Rows without a rating, and all rows, of each arm."""
    doubtful_entries: tuple[str, ...] = ()
    """What may be typing errors in a table, a sentence each."""
    margins: Mapping[str, float] = field(default_factory=dict, hash=False)
    """For equivalence, by dimension."""
    information: str = ""
    """What raters and respondents were shown of each situation, where the lab ran the study."""
    look: Look | None = None
    """Which of the looks that the study declared this is."""
    preregistration: Preregistered | None = None
    """When the study was preregistered, and what was done differently."""
    multiverse: Multiverse | None = None
    """The comparisons under every reasonable choice, where asked for."""
    bayes: tuple[BayesModel, ...] = ()
    """The posteriors of the ordinal models, where asked for."""

    @property
    def reference(self) -> str:
        """The arm that the others are compared with."""
        return self.reference_arm.name

    @property
    def design(self) -> Mapping[str, Any]:
        """The design that was recognised."""
        return self.recognised.to_dict()

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms with ratings, the reference first."""
        names = self.ratings["arm"].unique(maintain_order=True).to_list()
        return (self.reference, *(name for name in names if name != self.reference))

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions with ratings."""
        return tuple(self.ratings["dimension"].unique(maintain_order=True).to_list())

    @property
    def different_periods(self) -> bool:
        """Whether arms were rated at different times."""
        return in_different_periods(self.collected)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What limits all conclusions, a sentence each."""
        return (*self.doubtful_entries, *self._notes())

    def _notes(self) -> tuple[str, ...]:
        """The caveats that belong in a paper, too."""
        sentences = notes_sentences(
            self.reference_arm,
            unrated=self.unrated,
            raters_without_ratings=self.raters_without_ratings,
            arms=self.arms,
            incomplete_rows=self.incomplete_rows,
            missing_ratings=self.missing_ratings,
            repeated=self.ratings.height
            - self.ratings.select("rater", "dimension", REPLY).n_unique(),
            shared_situations=self.recognised.shared_situations,
        )
        sentences += [
            f"The study's rule to exclude raters who {rule} was not applied: the data it needs "
            "are missing."
            for rule in self.unmet_rules
        ]
        if self.preregistration is not None:
            sentences += [
                f"Deviation from the preregistration: {deviation}"
                for deviation in self.preregistration.deviations
            ]
        return (*sentences, *self._collection()) if self.different_periods else tuple(sentences)

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The estimates as frames, by name."""
        tests = comparison_rows(self.comparison)
        differences = [
            {"dimension": of.dimension} | json_value(difference)
            for of in self.means
            for difference in of.differences
        ]
        coefficients = [
            {"dimension": model.dimension, "formula": model.model.formula, "term": term, **cells}
            for model in self.models
            if model.model is not None
            for term, cells in mixed_model_row(model.model)["coefficients"].items()
        ]
        tables: dict[str, Sequence[Mapping[str, Any]]] = {
            "counts": json_value(self.comparison.counts),
            "comparisons": [row for row in tests if not row["subset"].startswith("emotion:")],
            "by_emotion": [row for row in tests if row["subset"].startswith("emotion:")],
            "means": differences,
            "models": coefficients,
            "collected": json_value(self.collected),
            "multiverse": json_value(self.multiverse.specifications) if self.multiverse else [],
        }
        plain = {name: [row_scalars(row) for row in rows] for name, rows in tables.items()}
        return row_frames(plain) | {"raters": self.raters}

    def to_dict(self) -> dict[str, Any]:
        """What `analyze ratings --json` prints."""
        models = [dimension_model_row(model) for model in self.models]
        document: dict[str, Any] = {
            "study": self.study.name,
            "title": self.study.title,
            "design": self.study.design,
            "recognised_design": self.design,
            "model": None if self.model is None else self.model.to_dict(),
            "conclusions": [contract(conclusion) for conclusion in self.conclusions],
            **picked(self, "reference margins caveats"),
            "dimensions": json_value(self.study.dimensions),
            "look": json_value(self.look),
            "n": self.ratings.height,
            "collected": {
                "together": not self.different_periods if self._dated else None,
                "arms": json_value(self.collected),
            },
            "arms": _arms(self.comparison, self.means),
            "subsets": json_value(self.comparison.counts),
            "tests": comparison_rows(self.comparison),
            "overall": json_value(self.comparison.overall),
            "means": json_value(self.means),
            "paired": json_value(self.paired),
            "mixed_model": models[0] if models else None,
            "mixed_models": models,
            "raters": self._rater_document(),
            "exclusions": self._exclusion_document(),
            "multiverse": None if self.multiverse is None else self.multiverse.to_dict(),
            "bayes": bayes_document(self.bayes) if self.bayes else None,
            "preregistration": json_value(self.preregistration),
            "notes": list(self.caveats),
            "paragraphs": self.paragraphs(),
        }
        return document

    def summary(self) -> str:
        """Conclusions and caveats as text."""
        return summary_text((*self.conclusions, *self.bayes_conclusions), self.caveats)

    @property
    def bayes_conclusions(self) -> tuple[Conclusion, ...]:
        """What the posteriors say, where they were asked for."""
        return tuple(conclusion for model in self.bayes for conclusion in model.conclusions())

    def paragraphs(self) -> list[str]:
        """Methods first, then results, ready for a paper."""
        when = [] if self.different_periods else self._collection()
        notes = [note.replace(ADVICE, "") for note in self._notes()]
        design = design_paragraph(self.recognised, self.scales, self.means)
        parts = [self._registered(), " ".join([design, *notes, *when])]
        raters = self.rater_comparison
        if raters is not None and self.different_periods:
            parts.append(raters_paragraph(raters))
        parts.append(self.information)
        if len(self.arms) > 1:
            parts += self._methods()
        parts += [model.methods() for model in self.bayes]
        for dimension in self.dimensions:
            parts += self._results(dimension)
        parts.append(
            " ".join(
                " ".join([str(bayes_conclusion), *bayes_conclusion.caveats])
                for bayes_conclusion in self.bayes_conclusions
            )
        )
        if raters is not None and not self.different_periods:
            parts.append(raters_paragraph(raters))
        parts += self.exclusion_paragraphs()
        return list(dict.fromkeys(item for item in parts if item))

    def _methods(self) -> list[str]:
        """The mixed models, then the tests beside them."""
        fitted = models_paragraph(self.models, self.model, named=len(self.dimensions) > 1)
        tests = second_tests_paragraph(
            self.comparison,
            self.recognised,
            self.scales,
            self.means,
            margins=self.margins,
            look=self.look,
            paired=self.paired is not None,
        )
        return [fitted, tests]

    def _results(self, dimension: str) -> list[str]:
        """What was found on a dimension: the model first, then the other tests."""
        named, clusters = len(self.dimensions) > 1, self.recognised.clusters_text
        models = [model for model in self.models if model.dimension == dimension]
        modelled = [model_paragraph(item, self.conclusions, named=named) for item in models]
        others = [
            means_paragraph(mean, clusters=clusters)
            for mean in self.means
            if mean.dimension == dimension
        ]
        if dimension in counted_dimensions(self.comparison, self.scales):
            others.append(
                results_paragraph(self.comparison, dimension, named=named, clusters=clusters)
            )
            if self.paired is not None:
                others.append(paired_paragraph(self.paired, dimension, named=named))
        main = [
            item for item in self.differences if (item.dimension, item.kind) == (dimension, "all")
        ]
        others += equivalence_sentences(main, self.margins.get(dimension))
        others.append(disagreement_sentence(self.conclusions, dimension))
        limits = [
            sentence
            for model in models
            if not model.by_valence
            for sentence in assumption_sentences(self.conclusions, model, " ".join(modelled))
        ]
        return [*modelled, " ".join(item for item in others if item), " ".join(limits)]

    def exclusion_paragraphs(self) -> list[str]:
        """Which raters were excluded, and whether the results hold without them."""
        if self.exclusions is None:
            return []
        exclusions = self.exclusions.exclusions
        if not exclusions.excluded:
            return [exclusions_paragraph(exclusions)]
        paragraphs = [
            exclusions_paragraph(exclusions),
            robustness_paragraph(self.exclusions, counted_dimensions(self.comparison, self.scales)),
            mean_robustness(self.means, self.kept_means),
            model_robustness(self.models, self.kept_models),
        ]
        return [item for item in paragraphs if item]

    def _registered(self) -> str:
        if self.preregistration is None:
            return ""
        day, short = self.preregistration.written_at[:10], self.preregistration.hash[:12]
        text = f"The study was preregistered on {day} (hash {short}…)"
        return f"{text}." if self.preregistration.deviations else f"{text}, without deviations."

    @property
    def _dated(self) -> bool:
        return any(item.first is not None for item in self.collected)

    def _collection(self) -> list[str]:
        return collection_sentences(self.collected, comparable=self.rater_comparison is not None)

    def _rater_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "n": self.raters.height,
            "without_ratings": self.raters_without_ratings,
            "comparison": json_value(self.rater_comparison),
            "inconsistencies": None,
        }
        counts = self.inconsistencies
        if counts is not None:
            values = [int(count) for count in counts.counts if count >= 0]
            document["inconsistencies"] = {
                "n": counts.n,
                "most_possible": counts.most_possible,
                "counts": {str(value): values.count(value) for value in sorted(set(values))},
                "share_without": json_value(counts.share_without),
                "share_over_half": json_value(counts.share_over_half),
            }
        return document

    def _exclusion_document(self) -> dict[str, Any] | None:
        analyses = self.exclusions
        if analyses is None:
            return None
        return {
            "rules": declared(analyses.exclusions.rules),
            "counts": [
                json_value(count) | {"rule": rule_text(count.rule)}
                for count in analyses.exclusions.counts
            ],
            "raters": dict(analyses.exclusions.raters),
            "kept": dict(analyses.exclusions.kept),
            "alike": json_value(analyses.exclusions.alike),
            "tests": comparison_rows(analyses.kept),
            "arms": _arms(analyses.kept, self.kept_means),
            "means": json_value(self.kept_means),
            "mixed_models": [dimension_model_row(kept_model) for kept_model in self.kept_models],
        }


def _arms(comparison: ArmComparison, means: Sequence[MeanComparison]) -> list[dict[str, Any]]:
    """Every arm and dimension once: counted where its good ratings are, else with its mean."""
    others = [mean for mean in means if mean.dimension not in comparison.scales]
    return arm_rows(comparison) + mean_arm_rows(others)
