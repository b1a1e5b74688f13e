"""`empathylab data import`: replies and their ratings."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.data.imports.options import (
    LicenceOption,
    MapOption,
    NameOption,
    ReplaceOption,
    SetOption,
    TableArgument,
    own_set_id,
    slug,
)
from empathylab.cli.data.imports.progress import ImportProgress, import_progress
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.tables import print_json, print_notes, print_rows
from empathylab.errors import InputError, UnknownName
from empathylab.tables import TableParts, first_row, key_values, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from empathylab.situations import SituationSet
    from empathylab.situations.sources.released import RatedStudy, Release
    from empathylab.store.imports.releases import ImportedRelease

WELIVITA_EXAMPLE = (
    "Example: `empathylab data import welivita dataset_and_ratings.csv "
    "--demographics demographics_human.csv`"
)
DIALOGUES_EXAMPLE = (
    "Example: `empathylab data import empatheticdialogues empatheticdialogues.tar.gz`"
)
POSTS_EXAMPLE = "Example: `empathylab data import posts posts.csv`"
RESPONSES_EXAMPLE = "Example: `empathylab data import responses replies.csv --set dialogues`"
RATINGS_EXAMPLE = (
    "Example: `empathylab data import ratings ratings.csv --set dialogues --labels Bad,Okay,Good`"
)


def welivita(
    path: Annotated[Path, argument("The released CSV, with any number of arms.")],
    demographics: Annotated[
        list[Path] | None, option("The platform's file with data about the raters; repeatable.")
    ] = None,
    name: Annotated[str, option("The ID of the set and the study in the lab.")] = ("welivita-2024"),
    respondent: Annotated[
        list[str] | None,
        option("An arm's respondent, such as gpt4=openai/gpt-4.", metavar="ARM=NAME"),
    ] = None,
    emotions: MapOption = None,
    replace: ReplaceOption = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports the rated replies of Welivita & Pu 2024: situations, replies, raters, ratings."""
    from empathylab.api.imports import read_welivita

    release = read_welivita(
        path,
        demographics or (),
        name,
        respondents=key_values(respondent, option="--respondent"),
        emotions=key_values(emotions, option="--map"),
    )
    _store(lab, release, "welivita", path, replace=replace, as_json=json)


def empatheticdialogues(
    path: Annotated[Path, argument("The archive, a folder with its CSV files, or one of them.")],
    turns: Annotated[
        int, option("Which of the listener's replies to take; earlier ones are context.", min=1)
    ] = 1,
    split: Annotated[
        list[str] | None, option("Only this part of the data: train, valid or test; repeatable.")
    ] = None,
    name: Annotated[str | None, option("The set's id in the lab.")] = None,
    emotions: MapOption = None,
    replace: ReplaceOption = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports EmpatheticDialogues: situations, what the speaker says first, and people's replies.

    Rows that cannot be read are counted with their reason; nothing is dropped silently.
    """

    mapping = key_values(emotions, option="--map")
    store_dialogues(lab, path, turns, split, name, mapping, replace=replace, as_json=json)


def store_dialogues(
    lab: Path,
    path: Path,
    turns: int = 1,
    split: Sequence[str] | None = None,
    name: str | None = None,
    emotions: Mapping[str, str] | None = None,
    *,
    replace: bool = False,
    as_json: bool,
) -> None:
    """Reads EmpatheticDialogues' files and stores them."""
    from empathylab.situations.sources.dialogue_rows import SPLITS
    from empathylab.situations.sources.empatheticdialogues import read_dialogues
    from empathylab.situations.sources.tables import check_set_id

    if name is not None:
        check_set_id(name, path.name)
    # One file of the three is that split, and not a smaller version of the whole.
    alone = (path.stem,) if path.is_file() and path.stem in SPLITS else SPLITS
    splits = tuple(split) if split else alone
    release = read_dialogues(path, turns=turns, splits=splits, emotions=emotions, name=name)
    _store(lab, release, "empatheticdialogues", path, replace=replace, as_json=as_json)


def posts(
    path: Annotated[
        Path,
        argument("A table with domain and post, and optionally title, human_reply and id."),
    ],
    name: NameOption = None,
    title: Annotated[str | None, option("The set's title.")] = None,
    licence: LicenceOption = "not stated",
    replace: ReplaceOption = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports forum posts, with a person's reply to each (as in Lee et al. 2024)."""
    from empathylab.situations.sources.reply_tables import posts_from

    release = posts_from(
        read_table(path),
        where=path.name,
        set_id=own_set_id(name, path),
        title=title or path.stem,
        licence=licence,
        first_row=first_row(path),
    )
    _store(lab, release, "posts", path, replace=replace, as_json=json)


def responses(
    path: TableArgument,
    situation_set: SetOption = None,
    name: NameOption = None,
    respondent: Annotated[
        str | None, option("Who wrote the replies, such as human, if the file has no such column.")
    ] = None,
    licence: LicenceOption = "not stated",
    emotions: MapOption = None,
    replace: ReplaceOption = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports replies from a table with the columns situation, respondent and text.

    Optional columns: sample and kind (model or human). The file can also contain the situations, in
    the columns situation_text, emotion, valence, topic, title and utterance.
    """
    from empathylab.situations.sources.reply_tables import replies_from

    with import_progress(path) as progress:
        table = TableParts(path, progress.reading(path))
        known = _named_set(lab, situation_set, table)
        release = replies_from(
            table,
            where=path.name,
            situation_set=known,
            set_id="" if known else own_set_id(name, path),
            title=path.stem,
            licence=licence,
            respondent=respondent,
            emotions=key_values(emotions, option="--map"),
            first_row=first_row(path),
        )
        done = _stored(lab, release, "responses", path, progress, replace=replace)
    print_release(done, as_json=json)


def ratings(
    path: TableArgument,
    situation_set: SetOption = None,
    study: Annotated[str | None, option("The study's name. Default: the file's name.")] = None,
    labels: Annotated[str | None, option("The scale's labels, lowest first: Bad,Okay,Good")] = None,
    points: Annotated[
        str | None, option("The scale's values, if not all were used: 1,2,3,4,5")
    ] = None,
    raters: Annotated[
        Path | None, option("A table about the raters: rater, and any columns (age, seconds …).")
    ] = None,
    replace: ReplaceOption = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports ratings from a table with the columns situation, respondent, rater and rating.

    Optional columns: dimension, sample, label, seconds and rater_kind (person or model). With the
    columns text and situation_text, the file also contains the replies and situations; otherwise
    the lab must already have them.
    """
    from empathylab.situations.sources.rating_tables import ratings_from
    from empathylab.situations.sources.released import Release
    from empathylab.situations.sources.reply_tables import replies_from

    with import_progress(path) as progress:
        table = TableParts(path, progress.reading(path))
        rated_study = ratings_from(
            table,
            where=path.name,
            name=study or slug(path.stem),
            title=study or path.stem,
            labels=_listed(labels),
            points=_numbers(points),
            people=None if raters is None else read_table(raters),
            people_where="" if raters is None else raters.name,
            first_row=first_row(path),
        )
        known = _named_set(lab, situation_set, table)
        if "text" in next(iter(table)).columns:
            set_id = "" if known else own_set_id(None, path)
            brought = replies_from(
                table,
                where=path.name,
                situation_set=known,
                set_id=set_id,
                title=path.stem,
                first_row=first_row(path),
            )
            release = dataclasses.replace(brought, study=rated_study)
        elif known is not None:
            release = Release(known, {}, (), rated_study)
        else:
            raise InputError(
                "the file does not say which responses these ratings belong to",
                where=path.name,
                remedy="Name the set with --set, or add the columns 'text' and 'situation_text'.",
            )
        if not labels and not points:
            release = dataclasses.replace(release, notes=(*release.notes, *_inferred(rated_study)))
        done = _stored(lab, release, "ratings", path, progress, replace=replace)
    print_release(done, as_json=json)


def _named_set(folder: Path, name: str | None, table: TableParts) -> SituationSet | None:
    """The set of that name, or the one a sample of that name was drawn from; None without one."""
    from empathylab.store import Lab
    from empathylab.store.selections import resolve_situations

    if name is None:
        return None
    with Lab.open(folder) as lab:
        try:
            return resolve_situations(lab, name)[0]
        except UnknownName as error:
            if error.near or "situation_text" not in next(iter(table)).columns:
                raise
            raise InputError(
                error.what,
                remedy="Leave out --set: the file contains the situations, which become a new set.",
            ) from None


def _inferred(study: RatedStudy) -> list[str]:
    """Which points the scale is taken to have, where they follow from the ratings alone."""
    notes = []
    for dimension in study.dimensions:
        if dimension.values and not dimension.labels:
            low, high = dimension.values[0], dimension.values[-1]
            notes.append(
                f"{dimension.name}: read as a scale from {low:g} to {high:g}, the lowest and "
                "highest rating in the file. If the scale has more points, name them with --points."
            )
    return notes


def _listed(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _numbers(text: str | None) -> list[float]:
    try:
        return [float(part) for part in _listed(text)]
    except ValueError:
        raise InputError(
            "--points needs numbers", got=text, remedy="Write them with commas: 1,2,3"
        ) from None


def _store(
    lab: Path, release: Release, kind: str, path: Path, *, replace: bool, as_json: bool
) -> None:
    done = _stored(lab, release, kind, path, ImportProgress(None), replace=replace)
    print_release(done, as_json=as_json)


def _stored(
    lab: Path, release: Release, kind: str, path: Path, progress: ImportProgress, *, replace: bool
) -> ImportedRelease:
    from empathylab.api.imports import store_release
    from empathylab.store import Lab

    rows = len(release.replies) + (len(release.study.ratings) if release.study else 0)
    tick = progress.storing(rows)
    with Lab.open(lab) as opened:
        return store_release(opened, release, kind, path, replace=replace, tick=tick)


def print_release(done: ImportedRelease, *, as_json: bool) -> None:
    """What a source brought or changed; what a reader should know goes to stderr."""
    if as_json:
        print_json(done)
        return
    study = f", study {done.study}" if done.study else ""
    typer.echo(
        f"{done.source}: {done.change} (set {done.situation_set}, version {done.version}{study})"
    )
    rows: Sequence[dict[str, object]] = [
        {name: value or None for name, value in dataclasses.asdict(thing).items()}
        for thing in done.things
    ]
    if rows:
        print_rows(rows)
    print_notes(done.notes)
