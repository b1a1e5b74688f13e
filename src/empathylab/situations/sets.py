"""Situations and sets of them, read from TOML files."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from empathylab.errors import InputError, UnknownName
from empathylab.situations.content_notes import content_tags
from empathylab.situations.emotions import Valence, valence_of


@dataclass(frozen=True, slots=True)
class Situation:
    """What a person experiences."""

    id: str
    """Unique within its set."""
    text: str
    """The situation as a text."""
    emotion: str | None = None
    """What it would make most people feel."""
    valence: Valence | None = None
    """Whether that is pleasant; `mixed` where it is both."""
    factor: str | None = None
    """What brings the emotion about."""
    topic: str | None = None
    """What it is about: work, parenting …"""
    utterance: str | None = None
    """What the person says about it first."""
    counterpart: str | None = None
    """A version of the situation in which things go well."""
    title: str | None = None
    """What the person put above it, in a forum."""
    context: tuple[str, ...] = ()
    """What was said before the utterance: the person first, then in turns."""
    tags: tuple[str, ...] = field(default=(), compare=False)
    """What readers should be warned of: see `content_tags`."""
    norms: Mapping[str, float] | None = field(default=None, compare=False)
    """The norms from a norming study: see `analysis.norming`."""

    def content(self) -> dict[str, Any]:
        """All that a hash is made of: the texts and labels, without what is said about them."""
        return {name: getattr(self, name) for name in _HASHED}


_HASHED = [
    declared.name
    for declared in dataclasses.fields(Situation)
    if declared.name not in ("tags", "norms")
]


@dataclass(frozen=True, slots=True)
class SituationSet:
    """Situations that belong together, with where they come from."""

    id: str
    version: int
    title: str
    language: str
    licence: str
    validated: bool
    """Whether people confirmed that the situations evoke what they are meant to."""
    description: str
    situations: tuple[Situation, ...]

    def __len__(self) -> int:
        return len(self.situations)

    def __iter__(self) -> Iterator[Situation]:
        return iter(self.situations)

    @property
    def emotions(self) -> tuple[str, ...]:
        """The emotions of the set, in order of first appearance."""
        return self._different("emotion")

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics of the set, in order of first appearance."""
        return self._different("topic")

    @property
    def grouped_by(self) -> Literal["emotion", "topic"]:
        """What its situations are spread over: emotions, or topics where some name no emotion."""
        named = all(situation.emotion for situation in self.situations)
        return "emotion" if named or not self.topics else "topic"

    @property
    def fingerprint(self) -> str:
        """A hash that changes when any text or label changes."""
        table = dataclasses.asdict(dataclasses.replace(self, situations=()))
        table["situations"] = [situation.content() for situation in self.situations]
        for row in table["situations"]:
            # Fields that came later count only where they hold something: older hashes stay true.
            for name in ("title", "context"):
                if not row[name]:
                    del row[name]
        content = json.dumps(table, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def factors(self) -> tuple[str, ...]:
        """The factors of the set, in order of first appearance."""
        return self._different("factor")

    def _different(self, field: str) -> tuple[str, ...]:
        values = (getattr(situation, field) for situation in self.situations)
        return tuple(dict.fromkeys(value for value in values if value))

    def first_per_group(self, count: int) -> tuple[Situation, ...]:
        """The first `count` of each emotion (or topic: see `grouped_by`).

        Of each factor one is taken before any factor's second.
        """
        groups: dict[str | None, list[Situation]] = {}
        for situation in self.situations:
            groups.setdefault(getattr(situation, self.grouped_by), []).append(situation)
        return tuple(
            chosen for group in groups.values() for chosen in _spread_over_factors(group)[:count]
        )

    def first_per_factor(self, count: int) -> tuple[Situation, ...]:
        """The first `count` of each factor; a situation without a factor counts by its emotion."""
        counts: dict[tuple[str | None, str | None], int] = {}
        chosen = []
        for situation in self.situations:
            group = (situation.emotion, situation.factor)
            counts[group] = counts.get(group, 0) + 1
            if counts[group] <= count:
                chosen.append(situation)
        return tuple(chosen)

    def only(self, *, emotion: str | None = None, factor: str | None = None) -> SituationSet:
        """The set's situations of that emotion and factor, under the set's own name."""
        if emotion is not None and emotion not in self.emotions:
            raise UnknownName("emotion", emotion, self.emotions, where=f"situation set {self.id}")
        if factor is not None and factor not in self.factors:
            raise UnknownName("factor", factor, self.factors, where=f"situation set {self.id}")
        kept = tuple(
            situation
            for situation in self.situations
            if emotion in (None, situation.emotion) and factor in (None, situation.factor)
        )
        return dataclasses.replace(self, situations=kept)


def _spread_over_factors(situations: list[Situation]) -> list[Situation]:
    seen: dict[str | None, int] = {}
    rounds: list[tuple[int, int, Situation]] = []
    for position, situation in enumerate(situations):
        turn = seen[situation.factor] = seen.get(situation.factor, -1) + 1
        rounds.append((turn, position, situation))
    return [situation for _, _, situation in sorted(rounds, key=lambda entry: entry[:2])]


@cache
def builtin_sets() -> dict[str, SituationSet]:
    """The newest version of each set that ships with the package, by id."""
    newest: dict[str, SituationSet] = {}
    for builtin_version in builtin_versions().values():
        if (
            builtin_version.id not in newest
            or newest[builtin_version.id].version < builtin_version.version
        ):
            newest[builtin_version.id] = builtin_version
    return newest


@cache
def builtin_versions() -> dict[str, SituationSet]:
    """All versions of the sets that ship with the package, as `id@version`.

    Older versions stay, because the labs that were made with them refer to them.
    """
    folder = files("empathylab.situations") / "builtin"
    folders = [folder, *(path for path in folder.iterdir() if path.is_dir())]
    sets = [
        parse_set(entry.read_text(encoding="utf-8"), where=entry.name)
        for entry in sorted(
            (entry for folder in folders for entry in folder.iterdir()),
            key=lambda entry: entry.name,
        )
        if entry.name.endswith(".toml")
    ]
    return {f"{each_set.id}@{each_set.version}": each_set for each_set in sets}


def builtin_set(set_id: str) -> SituationSet:
    """The newest built-in set of that id, or the version that `id@version` names."""
    sets = builtin_versions() if "@" in set_id else builtin_sets()
    if set_id not in sets:
        raise UnknownName("situation set", set_id, sets)
    return sets[set_id]


def parse_set(toml: str, *, where: str) -> SituationSet:
    """The set written in a TOML text; `where` names the text in errors."""
    try:
        data = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            "this is not valid TOML", where=where, got=str(error), remedy="Fix the file."
        ) from error
    rows = data.pop("situations", [])
    _check_keys(data, SituationSet, exempt={"situations"}, where=where)
    situations = tuple(
        _parse_situation(row, where=f"{where}, situation {number}")
        for number, row in enumerate(rows, start=1)
    )
    _refuse_duplicates(situations, where=where)
    return SituationSet(**data, situations=situations)


def _parse_situation(row: dict[str, Any], *, where: str) -> Situation:
    if "valence" not in row and (valence := valence_of(str(row.get("emotion")))):
        row = row | {"valence": valence}
    _check_keys(row, Situation, exempt=set(), where=where)
    if row.get("valence") not in (*get_args(Valence), None):
        raise InputError(
            "'valence' must be positive, negative or mixed",
            where=where,
            got=row["valence"],
            remedy="Fix the situation.",
        )
    if not row.get("emotion") and not row.get("topic"):
        raise InputError(
            "'emotion' is missing", where=where, remedy="Add 'emotion', or 'topic' for a post."
        )
    check_tags(row.get("tags", ()), where=where)
    lists = {name: tuple(row.get(name, ())) for name in ("context", "tags")}
    return Situation(**{**row, **lists})


def check_tags(tags: Sequence[str], *, where: str) -> None:
    """Raises UnknownName for a tag that is not in the vocabulary."""
    for tag in tags:
        if tag not in content_tags():
            raise UnknownName("tag", tag, content_tags(), where=where)


def _check_keys(row: dict[str, Any], shape: type, *, exempt: set[str], where: str) -> None:
    fields = {f.name: f for f in dataclasses.fields(shape) if f.name not in exempt}
    for key in row:
        if key not in fields:
            raise UnknownName("key", key, fields, where=where, remedy="Fix the file.")
    for name, declared in fields.items():
        if declared.default is dataclasses.MISSING and row.get(name) in (None, ""):
            raise InputError(f"{name!r} is missing", where=where, remedy=f"Add {name!r}.")


def _refuse_duplicates(situations: tuple[Situation, ...], *, where: str) -> None:
    seen: set[str] = set()
    for situation in situations:
        if situation.id in seen:
            raise InputError(
                "two situations have the same id",
                where=where,
                got=situation.id,
                remedy="Give each situation its own id.",
            )
        seen.add(situation.id)
