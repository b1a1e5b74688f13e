"""The style judge on replies of a respondent that it was not trained on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from empathylab.analysis.benchmark.frames import PREDICTIONS, ReferenceRatings
from empathylab.analysis.judges.ordinal_ridge import fit_ordinal_ridge
from empathylab.analysis.judges.style_judge import FEWEST_SITUATIONS, PENALTY, style_text
from empathylab.errors import InputError
from empathylab.style.authorship.classifier import situation_folds

_FOLDS = 5
_TOLERANCE = 1e-4
"""Of the search; a finer one changes a predicted proportion by at most 0.016, in twice the time."""


@dataclass(frozen=True, slots=True)
class StylePredictions:
    """The style judge's ratings, trained on people's ratings of all others."""

    predicted: pl.DataFrame
    """response, predicted, predicted_top: of the newcomer and of the others."""
    left_out: dict[str, pl.DataFrame]
    """The same by a judge that was trained without this respondent, too."""


def style_predictions(
    reference: ReferenceRatings, replies: pl.DataFrame, newcomer: str
) -> StylePredictions:
    """The judge's ratings of the newcomer's replies and of those that people rated.

    Situations are dealt into folds: every reply, the newcomer's too, is rated by a judge that saw
    no rating of a reply to the same situation, and none of the newcomer. To estimate its error on
    an unknown respondent, it is also trained without each of the others.

    Raises InputError with ratings of replies to fewer than 10 situations.
    """
    columns = ["response", "respondent", "situation", "text"]
    texts = pl.concat([reference.people.select(columns), replies.select(columns)])
    texts = texts.unique("response", keep="first", maintain_order=True).drop_nulls("text")
    others = [name for name in reference.respondents if name != newcomer]
    rated = reference.people.filter(pl.col("respondent").is_in(others))
    situations = rated["situation"].n_unique()
    if situations < FEWEST_SITUATIONS:
        raise InputError(
            "the style judge needs rated replies to more situations",
            got=situations,
            remedy=f"It learns from at least {FEWEST_SITUATIONS}; name a model with --judge.",
        )
    trainer = _Trainer(reference, texts, rated)
    whole = trainer.predicted(others)
    left = (
        {name: trainer.predicted([other for other in others if other != name]) for name in others}
        if len(others) > 1
        else {}
    )
    return StylePredictions(whole, left)


class _Trainer:
    """The replies as numbers, and the ratings to train on."""

    def __init__(
        self, reference: ReferenceRatings, texts: pl.DataFrame, rated: pl.DataFrame
    ) -> None:
        self.texts = texts
        self.top = reference.top
        # Scales and weights of the predictors need no rating, so all texts may be looked at.
        self.matrix = style_text(texts).matrix(np.ones(len(texts), dtype=np.bool_))
        self.fold = situation_folds(texts["situation"].to_list(), _FOLDS)
        place = texts.select("response", _reply=pl.int_range(pl.len()))
        rows = rated.join(place, on="response", how="inner", maintain_order="left")
        self.of = rows["_reply"].to_numpy()
        self.who = rows["respondent"].to_numpy()
        self.ratings = rows["rating"].to_numpy()

    def predicted(self, respondents: list[str]) -> pl.DataFrame:
        """The ratings of judges that were trained on ratings of these respondents."""
        predicted, top = np.zeros(len(self.texts)), np.zeros(len(self.texts))
        chosen = np.isin(self.who, respondents)
        for number in range(_FOLDS):
            out = self.fold == number
            train = chosen & ~out[self.of]
            values = self.ratings[train]
            if len(np.unique(values)) < 2:
                level = values.mean() if len(values) else self.ratings[chosen].mean()
                predicted[out], top[out] = level, float(level == self.top)
                continue
            # From scratch: a start that saw this fold would leak through so coarse a search.
            judge = fit_ordinal_ridge(
                *(self.matrix[self.of[train]], values),
                penalty=PENALTY,
                tolerance=_TOLERANCE,
            )
            shares = judge.shares(self.matrix[out])
            predicted[out] = shares @ np.asarray(judge.categories)
            highest = judge.categories[-1] == self.top
            top[out] = shares[:, -1] if highest else 0.0
        columns = {"response": self.texts["response"], "predicted": predicted, "predicted_top": top}
        return pl.DataFrame(columns, PREDICTIONS)
