"""Which situations of a set meet the criteria, by the answers of a norming study."""

from __future__ import annotations

import dataclasses
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from empathylab.analysis.norming.criteria import Criteria, NormedSituation
from empathylab.analysis.results import Conclusion, Result, row_frames
from empathylab.errors import InputError
from empathylab.scales import Scale
from empathylab.situations import Situation, SituationSet
from empathylab.stats.intervals import wilson
from empathylab.store import Lab
from empathylab.store.situations import lab_situation_set
from empathylab.store.studies.norms import SituationAnswers, norming_answers
from empathylab.store.studies.records import find_study

MEASURES = ("valence", "arousal", "realism", "imaginability", "distress")
"""The items of the scale that are no emotions."""

_CAVEAT = (
    "A situation that meets the criteria evokes the intended emotion in people like these raters, "
    "as they report it; other readers may feel differently."
)


@dataclass(frozen=True, slots=True)
class Norming(Result):
    """The result of a norming study."""

    main_table: ClassVar[str] = "situations"
    study: str
    situation_set: SituationSet
    criteria: Criteria
    raters: int
    situations: tuple[NormedSituation, ...]
    caveats: tuple[str, ...] = (_CAVEAT,)

    @property
    def kept(self) -> tuple[NormedSituation, ...]:
        """Those that meet the criteria."""
        return tuple(situation for situation in self.situations if situation.meets)

    @property
    def design(self) -> Mapping[str, Any]:
        """How many people rated which set."""
        return {
            "study": self.study,
            "set": self.situation_set.id,
            "version": self.situation_set.version,
            "raters": self.raters,
        }

    @property
    def model(self) -> None:
        """Norms are means and proportions, of no model."""
        return

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """How many situations meet the criteria."""
        return (
            Conclusion(
                kind="descriptive",
                sentence=self.sentence,
                subject=self.situation_set.id,
                estimate=len(self.kept) / len(self.situations),
                unit="proportion",
                n=len(self.situations),
                caveats=self.caveats,
            ),
        )

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Raters' answers about each situation, one row each."""
        return row_frames({"situations": [situation.row() for situation in self.situations]})

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            **self.design,
            "meets": len(self.kept),
            "conclusion": self.sentence,
            **self.stated(),
            "situations": [situation.row() for situation in self.situations],
        }

    @property
    def sentence(self) -> str:
        """The conclusion."""
        return (
            f"{len(self.kept)} of {len(self.situations)} situations meet the criteria: the "
            f"intended emotion is the strongest for at least {self.criteria.top:.0%} of raters "
            f"and {self.criteria.lead:g} point ahead of any other, realism is at least "
            f"{self.criteria.realism:g} of 7, and at least {self.criteria.raters} raters saw it."
        )

    def normed_set(self, *, only_kept: bool = False) -> SituationSet:
        """The set with what raters said; validated where all of its situations meet the criteria.

        A situation that no rater saw has no norms, and a set that holds one is not validated.
        """
        normed = {situation.situation: situation for situation in self.situations}
        situations = tuple(
            dataclasses.replace(item, norms=normed[item.id].norms()) if item.id in normed else item
            for item in self.situation_set
            if not only_kept or (item.id in normed and normed[item.id].meets)
        )
        if not situations:
            raise InputError(
                "no situation meets the criteria",
                where=f"study {self.study}",
                remedy="Write the whole set, without --only-kept, and see what they lack.",
            )
        complete = all(
            situation.id in normed and normed[situation.id].meets for situation in situations
        )
        return dataclasses.replace(
            self.situation_set,
            id=f"{self.situation_set.id}-normed",
            version=1,
            validated=complete,
            description=f"{self.situation_set.description} Normed in the study {self.study} by "
            f"{self.raters} raters: {self.sentence}",
            situations=situations,
        )


def from_lab(
    lab: Lab, study: str = "norming", criteria: Criteria | None = None, *, simulated: bool = False
) -> Norming:
    """The norms from a study of the lab; with `simulated`, also from its bots, to try it out."""
    with lab.reading() as connection:
        record = find_study(connection, study)
        rows = norming_answers(connection, record.id, simulated=simulated) if record else ()
    if record is None or not rows:
        raise InputError(
            "the lab has no answers about situations from a study with this name",
            where="analyze norming",
            got=study,
            remedy="Make a study with `empathylab study new FILE --preset norming`.",
        )
    [answers, *_] = rows
    first = answers.answers[0]
    whole = lab_situation_set(lab, f"{first.set}@{first.version}")
    return from_answers(study, whole, answers.scale, answers.answers, criteria or Criteria())


def from_answers(
    study: str,
    whole: SituationSet,
    scale: Scale,
    answers: Sequence[SituationAnswers],
    criteria: Criteria,
) -> Norming:
    """The norms by these answers."""
    items = {part.id: part.items[0] for part in scale.subscales}
    words = {name: scale.require_words()[item - 1] for name, item in items.items()}
    by_situation: dict[str, list[SituationAnswers]] = {}
    for answer in answers:
        by_situation.setdefault(answer.situation, []).append(answer)
    normed = tuple(
        _normed(item, items, words, by_situation[item.id], criteria)
        for item in whole
        if item.id in by_situation
    )
    raters = len({answer.rater for answer in answers})
    return Norming(study, whole, criteria, raters, normed)


def _normed(
    situation: Situation,
    items: Mapping[str, int],
    words: Mapping[str, str],
    answers: Sequence[SituationAnswers],
    criteria: Criteria,
) -> NormedSituation:
    means = {
        name: statistics.fmean(answer.values[item] for answer in answers)
        for name, item in items.items()
    }
    emotions = [name for name in items if name not in MEASURES]
    target = situation.emotion if situation.emotion in emotions else None
    top = low = intensity = lead = named = rival = None
    if target is not None:
        top = statistics.fmean(_share(answer, items, emotions, target) for answer in answers)
        low = float(wilson(top, len(answers))[0])
        intensity = means[target]
        rival = max(
            (emotion for emotion in emotions if emotion != target), key=lambda item: means[item]
        )
        lead = intensity - means[rival]
        named = _named(answers, (target, *_adjective(words[target])))
    failed = (
        *(["raters"] if len(answers) < criteria.raters else []),
        *(["emotion"] if target is None else []),
        *(["top"] if top is not None and top < criteria.top else []),
        *(["lead"] if lead is not None and lead < criteria.lead else []),
        *(["realism"] if means.get("realism", criteria.realism) < criteria.realism else []),
    )
    return NormedSituation(
        situation=situation.id,
        emotion=situation.emotion,
        raters=len(answers),
        top=top,
        top_low=low,
        intensity=intensity,
        rival=rival,
        lead=lead,
        named=named,
        means=means,
        failed=failed,
    )


def _share(
    answers: SituationAnswers, items: Mapping[str, int], emotions: Sequence[str], target: str
) -> float:
    """1 where the target is the strongest emotion, 1/k where k are equally strong, else 0."""
    highest = max(answers.values[items[name]] for name in emotions)
    strongest = [name for name in emotions if answers.values[items[name]] == highest]
    return 1 / len(strongest) if target in strongest else 0.0


def _adjective(statement: str) -> tuple[str, ...]:
    """The word for the emotion in a statement such as `I would feel angry.`"""
    match = re.fullmatch(r"I would feel (\w+)\.", statement)
    return (match[1],) if match else ()


def _named(answers: Sequence[SituationAnswers], names: Sequence[str]) -> float | None:
    """The proportion of labels that begin a word as one of the emotion's names does."""
    labels = [answer.label.lower() for answer in answers if answer.label]
    if not labels:
        return None
    stems = "|".join(re.escape(name[: max(4, len(name) - 3)]) for name in names)
    return statistics.fmean(re.search(rf"\b(?:{stems})", label) is not None for label in labels)
