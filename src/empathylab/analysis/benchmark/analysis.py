"""Respondents measured against a study of the lab, by people's ratings and a judge's."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import polars as pl
from sqlalchemy import select

from empathylab.analysis.benchmark.estimates import against, measured_by_people
from empathylab.analysis.benchmark.frames import (
    FEWEST_RATINGS,
    Ground,
    Judgements,
    every_measured_reply,
    measured_replies,
    replies_frame,
    study_ground,
    told_by,
)
from empathylab.analysis.benchmark.leaderboard import Compared, Entry, ranked
from empathylab.analysis.benchmark.measurements import Against
from empathylab.analysis.benchmark.style_judge import style_told
from empathylab.analysis.judges.analysis import PANEL
from empathylab.analysis.judges.prose import several_ways
from empathylab.analysis.judges.style_judge import STYLE_JUDGE
from empathylab.analysis.ratings.collection_period_notes import apart_notes
from empathylab.errors import InputError
from empathylab.protocols import ReplyTemplate, reply_template, usual_template
from empathylab.protocols.reply_templates import template_versions
from empathylab.situations import SituationSet
from empathylab.store import Lab, hash_of, schema
from empathylab.store.judged_replies import repliers, reply_days
from empathylab.store.rated import collection_frame
from empathylab.store.selections import lab_chosen_situations
from empathylab.study.added_arms.instruments import MeasuredStudy, measured_study


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
        usual = _held_version(
            lab, usual_template(lab_chosen_situations(lab, study.situation_set)[0])
        )
        return Asked(
            usual,
            "The study does not tell by which words its respondents were asked; "
            f"{usual.id}@{usual.version} is used.",
        )
    if "system" in told:
        return Asked(ReplyTemplate(**told), "")
    found = reply_template(f"{told['template']}@{told['version']}")
    if hash_of(dataclasses.asdict(found)) != told.get("fingerprint"):
        raise InputError(
            f"the words of the template {found.id} are not those that the study names",
            where=where,
            got=f"{found.id}@{found.version}",
            remedy="Use the version of EmpathyLab that the study was imported with.",
        )
    return Asked(found, str(told.get("note", "")))


def _held_version(lab: Lab, newest: ReplyTemplate) -> ReplyTemplate:
    """The template in the newest version that the lab holds replies to; else the newest.

    Models measured earlier were asked in that version, and stay comparable.
    """
    with lab.reading() as connection:
        prompts = set(connection.execute(select(schema.responses.c.prompt).distinct()).scalars())
    held = [one for one in template_versions(newest.id) if f"{one.id}@{one.version}" in prompts]
    return max(held, key=lambda one: one.version, default=newest)


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
    lab: Lab,
    ground: Ground,
    respondent: str,
    judge: str,
    prompt: str,
    panel: Sequence[str] = (),
    *,
    keys: Collection[tuple[str, str]] | None = None,
) -> Against:
    """The respondent against the study, by that judge: a model, `style`, or `panel`, which is the
    mean of the judges named in `panel`.

    With `keys`, sets and situations, only the replies to these, and those that people rated.
    """
    known = measured_replies(lab, ground, respondent, prompt)
    replies = replies_frame(
        [one for one in known if keys is None or (one.set, one.situation.id) in keys]
    )
    if judge == STYLE_JUDGE:
        found = style_told(ground, replies, respondent)
        result = against(
            ground, respondent, replies, found.told, judge=judge, left_out=found.left_out
        )
        return dataclasses.replace(result, notes=_apart(lab, ground, result))
    told = told_by(lab, ground, panel if judge == PANEL else [judge], replies)
    result = against(ground, respondent, replies, _together(told), judge=judge)
    members = tuple(told["judge"].unique(maintain_order=True)) if judge == PANEL else ()
    notes = (*_ways(told), *_apart(lab, ground, result))
    return dataclasses.replace(result, members=members, notes=notes)


def _apart(lab: Lab, ground: Ground, found: Against) -> tuple[str, ...]:
    """Where fresh ratings are compared with older ones: when, and whether the raters are alike."""
    if found.basis == "judge":
        return ()
    others = dict.fromkeys(one.other for one in found.differences)
    return apart_notes(lab, ground, [found.respondent, *others])


def _ways(told: pl.DataFrame) -> tuple[str, ...]:
    """That a judge was asked in several ways, of which one is used."""
    several = told.filter(pl.col("ways") > 1).unique("judge", maintain_order=True)
    return tuple(several_ways(row["judge"], row["ways"]) for row in several.iter_rows(named=True))


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
    pairs: tuple[Compared, ...]
    """Each two of them, held against each other."""
    notes: tuple[str, ...]


def leaderboard(
    lab: Lab,
    ground: Ground,
    study: MeasuredStudy,
    *,
    judge: str | None = None,
    known: Sequence[Against] = (),
    style: bool = True,
) -> Leaderboard:
    """All respondents measured against the study: its own, and whoever replied as they did.

    Who was not rated by people is estimated by `judge`; where none is named, by the model that
    judged, by the mean of all where several did, or else by the judge that costs nothing. How
    narrow an interval is plays no part: who takes the narrowest takes the luckiest. What is `known`
    already is not computed again. Without `style`, the judge that costs nothing is not trained.
    """
    asked = asked_by(lab, study)
    rated = ground.respondents
    writers = {ground.writer(name) for name in rated}
    days = {
        row["arm"]: (row["first"], row["last"])
        for row in collection_frame(lab, ground.study.name).iter_rows(named=True)
    }
    arms = {name: days.get(ground.arm(name), (None, None)) for name in rated}
    by_first = sorted(rated, key=lambda name: name != "human")
    notes = [*apart_notes(lab, ground, by_first)] if rated else []
    replied = repliers(lab, asked.prompt, study.situation_set)
    # Whose replies came with the study and were rated by a model alone did not reply by a prompt.
    brought = ground.imported["respondent"].unique(maintain_order=True)
    newcomers = [
        name
        for name in dict.fromkeys([*replied, *brought])
        if name not in rated and name not in writers
    ]
    replies = every_measured_reply(lab, ground, asked.prompt, [*rated, *newcomers])
    board = _Board(
        lab,
        ground,
        Judgements.read(lab, ground),
        {name: replies_frame(rows) for name, rows in replies.items()},
        arms,
        judge,
        tuple(known),
        notes,
        style=style,
    )
    entries = [*(board.of_people(name) for name in rated), *board.of_newcomers(newcomers)]
    ranking = ranked(entries)
    return Leaderboard(ground, study, asked, ranking.entries, ranking.pairs, tuple(notes))


def report_leaderboard(lab: Lab, study: str) -> Leaderboard | None:
    """The leaderboard of a closed study, as a report shows it: without training a judge.

    None where it would only say again what the ratings say: people rated two respondents at most,
    and no judge stands in for anybody, or all ratings are the same.
    """
    ground = study_ground(lab, study)
    if ground.top <= ground.lowest:
        return None
    if len(ground.respondents) <= 2 and told_by(lab, ground).is_empty():
        return None
    board = leaderboard(lab, ground, measured_study(lab, study), style=False)
    judged = any(one.found.judge is not None for one in board.entries)
    return board if len(board.entries) > 2 or (judged and len(board.entries) == 2) else None


@dataclass(frozen=True, slots=True)
class _Board:
    lab: Lab
    ground: Ground
    judgements: Judgements
    replies: Mapping[str, pl.DataFrame]
    """Of each respondent."""
    days: dict[str, tuple[date | None, date | None]]
    judge: str | None
    known: tuple[Against, ...]
    notes: list[str]
    panels: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    """Whose mean stands in, for each respondent that several judged."""
    style: bool = True
    """Whether the judge that costs nothing may stand in where nobody else can."""

    def of_people(self, name: str) -> Entry:
        """Whom people rated; sharpened by a judge where some replies have no rating."""
        replies = self.replies[name]
        rated = self.ground.people.filter(respondent=name)["response"].n_unique()
        if len(replies) > rated:
            told = self.judgements.told(self._wanted, replies)
            if standing := _standing(told, replies):
                found = self._told(name, replies, standing)
                # A judge of nothing but what people rated says nothing that they do not.
                if found.basis == "people and judge":
                    self._note(name, standing, told)
                    return self._entry(name, found, replies)
        return self._entry(name, measured_by_people(self.ground, name, parts=False), replies)

    def of_newcomers(self, names: Sequence[str]) -> list[Entry]:
        """Those whom no person rated, as far as a judge can tell."""
        replies = {name: self.replies[name] for name in names}
        few = [name for name, rows in replies.items() if len(rows) < FEWEST_RATINGS]
        if few:
            self.notes.append(
                f"Left out, with usable replies to fewer than {FEWEST_RATINGS} of the study's "
                f"situations: {', '.join(few)}."
            )
        kept = {name: rows for name, rows in replies.items() if name not in few}
        if not kept:
            return []
        found = {}
        for name, rows in list(kept.items()):
            try:
                found[name] = self._by_models(name, rows)
            except InputError as error:
                self.notes.append(f"Left out is {name}: {error}")
                del kept[name]
        bare = [name for name, one in found.items() if one is None]
        if bare and self.style and self.judge in (None, STYLE_JUDGE):
            if self.judge is None and not self.judgements.told().is_empty():
                self.notes.append(
                    f"No model has rated enough of {', '.join(bare)} and of what people rated: "
                    "the style judge stands in, which knows little."
                )
            found |= self._by_style({name: kept[name] for name in bare})
        missing = [name for name, one in found.items() if one is None]
        if missing:
            self.notes.append(
                f"Left out, because no judge has rated them: {', '.join(missing)}. "
                f"Run `empathylab evaluate MODEL --against {self.ground.study.name} --judge MODEL`."
            )
        return [self._entry(name, one, kept[name]) for name, one in found.items() if one]

    def _by_models(self, name: str, replies: pl.DataFrame) -> Against | None:
        told = self.judgements.told(self._wanted, replies)
        standing = _standing(told, replies, self.ground.people)
        known = [one for one in self._known(name) if one.judge not in (STYLE_JUDGE, PANEL)]
        if standing is None:
            return known[0] if known else None
        same = [one for one in known if one.judge == standing.judge]
        found = same[0] if same else self._told(name, replies, standing)
        self._note(name, standing, told)
        return found

    @property
    def _wanted(self) -> list[str] | None:
        return None if self.judge in (None, PANEL) else [str(self.judge)]

    def _note(self, name: str, standing: _Standing, told: pl.DataFrame) -> None:
        """Says once what to know of those who stand in, and keeps who they are."""
        notes = list(_ways(told.filter(pl.col("judge").is_in(standing.members))))
        if standing.judge == PANEL:
            self.panels[name] = standing.members
            members = ", ".join(standing.members)
            notes.append(f"Where the judge is {PANEL}, it is the mean of {members}.")
        self.notes.extend(one for one in notes if one not in self.notes)

    def _told(self, name: str, replies: pl.DataFrame, standing: _Standing) -> Against:
        found = against(
            self.ground, name, replies, standing.told, judge=standing.judge, parts=False
        )
        members = standing.members if standing.judge == PANEL else ()
        return dataclasses.replace(found, members=members)

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
        except InputError as error:
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
            judged = self.judgements.days(self.panels.get(name, (found.judge,)), replies)
        head = found.headline
        count = head.n_judged + self.ground.people.filter(respondent=name)["response"].n_unique()
        return Entry(name, found, count, *rated, *(judged or unknown))


@dataclass(frozen=True, slots=True)
class _Standing:
    """Who stands in for people, and what is said of each response."""

    judge: str
    members: tuple[str, ...]
    told: pl.DataFrame


def _standing(told: pl.DataFrame, *needed: pl.DataFrame) -> _Standing | None:
    """The judge that rated enough of all that is needed, or the mean of those that did.

    Where these have too little in common, the one that rated the most. Nobody looks at how well
    they do.
    """
    enough = [
        str(one)
        for one in told["judge"].unique(maintain_order=True)
        if all(_covers(told.filter(judge=one), rows) for rows in needed)
    ]
    together = _together(told.filter(pl.col("judge").is_in(enough)))
    if len(enough) > 1 and all(_covers(together, rows) for rows in needed):
        return _Standing(PANEL, tuple(sorted(enough)), together)
    most = max(enough, key=lambda one: (told.filter(judge=one).height, one), default=None)
    if most is None:
        return None
    return _Standing(most, (most,), _together(told.filter(judge=most)))


def _covers(told: pl.DataFrame, replies: pl.DataFrame) -> bool:
    """Whether the judge rated enough of the replies."""
    return replies.join(told, on="response", how="semi")["response"].n_unique() >= FEWEST_RATINGS
