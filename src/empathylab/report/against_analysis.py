"""Respondents measured against a study of the lab, by people's ratings and a judge's."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import polars as pl

from empathylab.errors import InputError, MissingExtra
from empathylab.judging.against import Against, against, measured_by_people
from empathylab.judging.against_frames import (
    FEWEST_RATINGS,
    Ground,
    measured_replies,
    replies_frame,
    told_by,
)
from empathylab.judging.against_style import style_told
from empathylab.judging.leaderboard import Entry, ranked
from empathylab.judging.style_judge import STYLE_JUDGE
from empathylab.protocols import ReplyTemplate, reply_template, usual_template
from empathylab.report.judge_analysis import PANEL
from empathylab.situations import SituationSet
from empathylab.store import Lab, hash_of
from empathylab.store.judged_replies import judgement_days, repliers, reply_days
from empathylab.store.rated import collection_frame
from empathylab.store.selections import lab_chosen_situations
from empathylab.study.measuring import MeasuredStudy


@dataclass(frozen=True, slots=True)
class Asked:
    """By which words a later model is asked for replies, as the study's respondents were."""

    template: ReplyTemplate
    note: str
    """What to know of it; empty where it is the study's own."""

    @property
    def prompt(self) -> str:
        """As responses carry it."""
        return f"{self.template.id}@{self.template.version}"


def asked_by(lab: Lab, study: MeasuredStudy) -> Asked:
    """The words by which the study's models were asked; the lab's usual ones where not known."""
    told = study.template
    where = f"study {study.name}"
    if told is None:
        usual = usual_template(lab_chosen_situations(lab, study.situation_set)[0])
        return Asked(
            usual,
            "The study does not tell by which words its respondents were asked; "
            f"{usual.id}@{usual.version} is used.",
        )
    if "system" in told:
        return Asked(ReplyTemplate(**told), "")
    found = reply_template(str(told["template"]))
    if hash_of(dataclasses.asdict(found)) != told.get("fingerprint"):
        raise InputError(
            f"the words of the template {found.id} are not those that the study names",
            where=where,
            got=f"{found.id}@{found.version}",
            remedy="Use the version of EmpathyLab that the study was imported with.",
        )
    return Asked(found, str(told.get("note", "")))


def study_set(lab: Lab, study: MeasuredStudy) -> SituationSet:
    """The set of the study's situations, which must say what they said in the study."""
    whole, _ = lab_chosen_situations(lab, study.situation_set)
    known = {one.id: one for one in whole.situations}
    changed = [one.id for one in study.situations if known.get(one.id) != one]
    if changed:
        raise InputError(
            f"the lab's set {whole.id} has other words than the study for {len(changed)} of its "
            "situations",
            where=f"study {study.name}",
            got=changed[0],
            remedy="Import the study's archive into another lab, and measure there.",
        )
    return whole


def measure(
    lab: Lab, ground: Ground, respondent: str, judge: str, prompt: str, panel: Sequence[str] = ()
) -> Against:
    """The respondent against the study, by that judge: a model, `style`, or `panel`, which is the
    mean of the judges named in `panel`."""
    replies = replies_frame(measured_replies(lab, ground, respondent, prompt))
    if judge == STYLE_JUDGE:
        found = style_told(ground, replies, respondent)
        return against(
            ground, respondent, replies, found.told, judge=judge, left_out=found.left_out
        )
    told = told_by(lab, ground, panel if judge == PANEL else [judge])
    return against(ground, respondent, replies, _together(told), judge=judge)


def _together(told: pl.DataFrame) -> pl.DataFrame:
    """One value for each response: the mean over judges, of responses that all of them rated."""
    judges = told["judge"].n_unique()
    return (
        told.group_by("response", maintain_order=True)
        .agg(pl.col("told", "told_top").mean(), pl.len().alias("judges"))
        .filter(pl.col("judges") == judges)
        .drop("judges")
    )


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Everything `analyze leaderboard` gives."""

    ground: Ground
    study: MeasuredStudy
    asked: Asked
    entries: tuple[Entry, ...]
    notes: tuple[str, ...]


def leaderboard(
    lab: Lab,
    ground: Ground,
    study: MeasuredStudy,
    *,
    judge: str | None = None,
    known: Sequence[Against] = (),
) -> Leaderboard:
    """All respondents measured against the study: its own, and whoever replied as they did.

    Who was not rated by people is estimated by `judge`; where none is named, by the model whose
    interval is narrowest, or else by the judge that costs nothing. What is `known` already is not
    computed again.
    """
    asked = asked_by(lab, study)
    rated = ground.respondents
    days = {
        row["arm"]: (row["first"], row["last"])
        for row in collection_frame(lab, ground.study.name).iter_rows(named=True)
    }
    arms = {one.respondent: days.get(one.arm, (None, None)) for one in study.arms}
    notes: list[str] = []
    board = _Board(lab, ground, asked, arms, judge, tuple(known), notes)
    entries = [board.of_people(name) for name in rated]
    newcomers = [
        name for name in repliers(lab, asked.prompt, study.situation_set) if name not in rated
    ]
    entries += board.of_newcomers(newcomers)
    return Leaderboard(ground, study, asked, ranked(ground, entries), tuple(notes))


@dataclass(frozen=True, slots=True)
class _Board:
    lab: Lab
    ground: Ground
    asked: Asked
    days: dict[str | None, tuple[date | None, date | None]]
    judge: str | None
    known: tuple[Against, ...]
    notes: list[str]

    def of_people(self, name: str) -> Entry:
        """Whom people rated; sharpened by a judge where some replies have no rating."""
        replies = replies_frame(measured_replies(self.lab, self.ground, name, self.asked.prompt))
        found = measured_by_people(self.ground, name, parts=False)
        rated = self.ground.people.filter(respondent=name)["response"].n_unique()
        if len(replies) > rated:
            told = told_by(self.lab, self.ground)
            sharper = [
                against(
                    self.ground,
                    name,
                    replies,
                    _together(told.filter(judge=one)),
                    judge=one,
                    parts=False,
                )
                for one in told["judge"].unique(maintain_order=True)
                if self.judge in (None, one) and _covers(told.filter(judge=one), replies)
            ]
            found = min([found, *sharper], key=_width)
        return self._entry(name, found, replies)

    def of_newcomers(self, names: Sequence[str]) -> list[Entry]:
        """Those whom no person rated, as far as a judge can tell."""
        replies = {
            name: replies_frame(measured_replies(self.lab, self.ground, name, self.asked.prompt))
            for name in names
        }
        few = [name for name, rows in replies.items() if len(rows) < FEWEST_RATINGS]
        if few:
            self.notes.append(
                f"Left out, with usable replies to fewer than {FEWEST_RATINGS} of the study's "
                f"situations: {', '.join(few)}."
            )
        kept = {name: rows for name, rows in replies.items() if name not in few}
        if not kept:
            return []
        found = {name: self._by_models(name, rows) for name, rows in kept.items()}
        bare = [name for name, one in found.items() if one is None]
        if bare and self.judge in (None, STYLE_JUDGE):
            found |= self._by_style({name: kept[name] for name in bare})
        missing = [name for name, one in found.items() if one is None]
        if missing:
            self.notes.append(
                f"Left out, because no judge has rated them: {', '.join(missing)}. "
                f"Run `empathylab evaluate MODEL --against {self.ground.study.name} --judge MODEL`."
            )
        return [self._entry(name, one, kept[name]) for name, one in found.items() if one]

    def _by_models(self, name: str, replies: pl.DataFrame) -> Against | None:
        told = told_by(self.lab, self.ground, None if self.judge is None else [self.judge])
        found = [one for one in self._known(name) if one.judge not in (STYLE_JUDGE, PANEL)]
        done = {one.judge for one in found}
        for judge in told["judge"].unique(maintain_order=True):
            own = told.filter(judge=judge)
            if judge not in done and _covers(own, replies) and _covers(own, self.ground.people):
                found.append(
                    against(
                        self.ground, name, replies, _together(own), judge=str(judge), parts=False
                    )
                )
        return min(found, key=_width, default=None)

    def _known(self, name: str) -> list[Against]:
        return [
            one for one in self.known if one.respondent == name and self.judge in (None, one.judge)
        ]

    def _by_style(self, replies: dict[str, pl.DataFrame]) -> dict[str, Against | None]:
        done: dict[str, Against | None] = {
            name: one for name in replies for one in self._known(name) if one.judge == STYLE_JUDGE
        }
        rest = {name: rows for name, rows in replies.items() if name not in done}
        return done | (self._trained(rest) if rest else {})

    def _trained(self, replies: dict[str, pl.DataFrame]) -> dict[str, Against | None]:
        try:
            # Nobody of these was rated, so one training serves them all.
            found = style_told(self.ground, pl.concat(replies.values()), "")
        except (InputError, MissingExtra) as error:
            self.notes.append(f"The style judge is left out: {error}")
            return dict.fromkeys(replies)
        return {
            name: against(
                *(self.ground, name, rows, found.told),
                judge=STYLE_JUDGE,
                left_out=found.left_out,
                parts=False,
            )
            for name, rows in replies.items()
        }

    def _entry(self, name: str, found: Against, replies: pl.DataFrame) -> Entry:
        unknown = (None, None)
        rated = unknown if found.basis == "judge" else self.days.get(name, unknown)
        judged = None
        if found.judge == STYLE_JUDGE:
            judged = reply_days(self.lab, replies["response"].to_list())
        elif found.judge is not None:
            judged = judgement_days(
                self.lab, self.ground.study.row, found.judge, replies["response"].to_list()
            )
        head = found.headline
        count = head.n_judged + self.ground.people.filter(respondent=name)["response"].n_unique()
        return Entry(name, found, count, *rated, *(judged or unknown))


def _covers(told: pl.DataFrame, replies: pl.DataFrame) -> bool:
    """Whether the judge rated enough of the replies."""
    return replies.join(told, on="response", how="semi")["response"].n_unique() >= FEWEST_RATINGS


def _width(found: Against) -> tuple[float, float]:
    head = found.headline
    width = head.high - head.low
    return width if width == width else float("inf"), head.alike_high - head.alike_low
