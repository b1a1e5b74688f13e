"""The judge that costs nothing, on replies of somebody whom it was not trained on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from empathylab.analysis.benchmark.frames import TOLD, Ground
from empathylab.analysis.judges.ordinal_ridge import fit_ordinal_ridge
from empathylab.analysis.judges.style_judge import FEWEST_SITUATIONS, PENALTY, style_text
from empathylab.errors import InputError
from empathylab.style.authorship.classifier import situation_folds

_FOLDS = 5
_TOLERANCE = 1e-4
"""Of the search; a finer one changes a foretold share by 0.016 at most, and takes twice as long."""


@dataclass(frozen=True, slots=True)
class StyleTold:
    """What the style judge says, trained on people's ratings of all others."""

    told: pl.DataFrame
    """response, told, told_top: of the newcomer and of the others."""
    left_out: dict[str, pl.DataFrame]
    """The same by a judge that was trained without this respondent, too."""


def style_told(ground: Ground, replies: pl.DataFrame, newcomer: str) -> StyleTold:
    """What the judge says of the newcomer's replies and of those that people rated.

    Situations are dealt into folds: every reply, the newcomer's too, is rated by a judge that saw
    no rating of a reply to the same situation, and none of the newcomer. So that it can be tried on
    somebody it does not know, it is also trained without each of the others.

    Raises InputError with ratings of replies to fewer than 10 situations.
    """
    columns = ["response", "respondent", "situation", "text"]
    texts = pl.concat([ground.people.select(columns), replies.select(columns)])
    texts = texts.unique("response", keep="first", maintain_order=True).drop_nulls("text")
    others = [name for name in ground.respondents if name != newcomer]
    rated = ground.people.filter(pl.col("respondent").is_in(others))
    situations = rated["situation"].n_unique()
    if situations < FEWEST_SITUATIONS:
        raise InputError(
            "the style judge needs rated replies to more situations",
            got=situations,
            remedy=f"It learns from at least {FEWEST_SITUATIONS}; name a model with --judge.",
        )
    trainer = _Trainer(ground, texts, rated)
    whole = trainer.told(others)
    left = (
        {name: trainer.told([one for one in others if one != name]) for name in others}
        if len(others) > 1
        else {}
    )
    return StyleTold(whole, left)


class _Trainer:
    """The replies as numbers, and the ratings to train on."""

    def __init__(self, ground: Ground, texts: pl.DataFrame, rated: pl.DataFrame) -> None:
        self.texts = texts
        self.top = ground.top
        # Scales and weights of the predictors need no rating, so all texts may be looked at.
        self.matrix = style_text(texts).matrix(np.ones(len(texts), dtype=np.bool_))
        self.fold = situation_folds(texts["situation"].to_list(), _FOLDS)
        place = texts.select("response", _reply=pl.int_range(pl.len()))
        rows = rated.join(place, on="response", how="inner", maintain_order="left")
        self.of = rows["_reply"].to_numpy()
        self.who = rows["respondent"].to_numpy()
        self.ratings = rows["rating"].to_numpy()

    def told(self, respondents: list[str]) -> pl.DataFrame:
        """What judges say that were trained on ratings of these respondents."""
        told, top = np.zeros(len(self.texts)), np.zeros(len(self.texts))
        chosen = np.isin(self.who, respondents)
        for number in range(_FOLDS):
            out = self.fold == number
            train = chosen & ~out[self.of]
            values = self.ratings[train]
            if len(np.unique(values)) < 2:
                level = values.mean() if len(values) else self.ratings[chosen].mean()
                told[out], top[out] = level, float(level == self.top)
                continue
            # From scratch: a start that saw this fold would shine through so coarse a search.
            judge = fit_ordinal_ridge(
                *(self.matrix[self.of[train]], values),
                penalty=PENALTY,
                tolerance=_TOLERANCE,
            )
            shares = judge.shares(self.matrix[out])
            told[out] = shares @ np.asarray(judge.categories)
            highest = judge.categories[-1] == self.top
            top[out] = shares[:, -1] if highest else 0.0
        found = {"response": self.texts["response"], "told": told, "told_top": top}
        return pl.DataFrame(found, TOLD)
