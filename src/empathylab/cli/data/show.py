"""`empathylab data show`: a set, a draw, a study, or the responses, to read."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.tables import print_json, print_rows
from empathylab.errors import InputError, UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from empathylab.situations import Situation, SituationSet
    from empathylab.store import Lab
    from empathylab.store.ratings import Study

EXAMPLE = "Example: `empathylab data show responses --set dialogues --emotion proud`"
RESPONSES = "responses"
_MOST_LENGTHS = 50_000


def show(
    name: Annotated[str, argument("A set, a sample, a study, or the word responses.")],
    emotion: Annotated[str | None, option("Only this emotion.")] = None,
    topic: Annotated[str | None, option("Only this topic.")] = None,
    situation_set: Annotated[
        str | None, option("With responses: only those to this set.", "--set")
    ] = None,
    respondent: Annotated[str | None, option("With responses: only this respondent's.")] = None,
    limit: Annotated[int, option("How many situations to print; 0 prints all.", min=0)] = 20,
    lengths: Annotated[
        bool | None,
        option(
            "Show how long the replies are. Default: only for up to 50,000 replies.",
            show_default=False,
        ),
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Shows situations, replies or a study, with counts."""
    chosen = {"emotion": emotion, "topic": topic}
    wanted = {key: value for key, value in chosen.items() if value is not None}
    if name == RESPONSES:
        chosen |= {"set": situation_set, "respondent": respondent}
        _show_responses(lab, chosen, limit, as_json=json)
    elif wanted or not _show_study(lab, name, lengths, as_json=json):
        _show_set(lab, name, wanted, limit, lengths=lengths, as_json=json)


def _show_study(folder: Path, name: str, lengths: bool | None, *, as_json: bool) -> bool:
    """Whether there is such a study; what takes long to count in a large one comes last."""
    from empathylab.store import Lab, has_lab
    from empathylab.store.listings.summaries import count_raters, rating_counts
    from empathylab.store.ratings import lab_studies, preferences_frame

    if not has_lab(folder):
        return False
    with Lab.open(folder, create=False) as lab:
        study = lab_studies(lab).get(name)
        if study is None:
            return False
        head = {
            "study": name,
            "title": study.title,
            "design": f"{study.design} subjects",
            "status": study.status,
            "dimensions": study.dimensions,
            "raters": count_raters(lab, name),
            "ratings": rating_counts(lab, name).ratings,
        }
        if as_json:
            print_json(head | _study_details(lab, study, lengths))
            return True
        typer.echo(f"{head['title']} ({head['design']}, {head['status']})")
        typer.echo(f"{head['raters']:,} raters, {head['ratings']:,} ratings\n")
        compared = not head["ratings"] and not preferences_frame(lab, name).is_empty()
        analysis = "preferences" if compared else "ratings"
        _print_study(head | _study_details(lab, study, lengths) | {"analysis": analysis})
    return True


def _study_details(lab: Lab, study: Study, lengths: bool | None) -> dict[str, Any]:
    from empathylab.store.listings.summaries import (
        arms_rated,
        labels_given,
        rated_situations,
        study_arms,
    )
    from empathylab.store.situations import lab_situation_sets
    from empathylab.study.admin.embargo import is_running

    rated = rated_situations(lab, study.name)
    sets = rated["set"].unique(maintain_order=True).to_list()
    known = lab_situation_sets(lab)
    seen = set(rated["situation"])
    situations = [item for key in sets for item in known[key] if item.id in seen]
    running = is_running(study)
    named = study_arms(lab, study.name) if running else []
    if len(named) > 1:
        # Counts and the order of the first ratings tell which arm a participant is in.
        nothing = {"raters": None, "situations": None}
        arms = [
            {"arm": arm, "dimension": dimension.name, **nothing}
            for arm in named
            for dimension in study.dimensions
        ]
    else:
        arms = arms_rated(lab, study.name).to_dicts()
    return {
        "arms": arms,
        # How the arms fare is seen once the study is closed.
        "labels": [] if running else labels_given(lab, study.name).to_dicts(),
        "sets": sets,
        "counts": _counts(situations),
        "respondents": [
            row for key in sets for row in _replies_to(lab, known[key], situations, lengths=lengths)
        ],
    }


def _print_study(study: dict[str, Any]) -> None:
    rows = []
    for arm in study["arms"]:
        counts = {
            label["label"]: label["count"]
            for label in study["labels"]
            if (label["arm"], label["dimension"]) == (arm["arm"], arm["dimension"])
        }
        labels = next(
            dimension.labels
            for dimension in study["dimensions"]
            if dimension.name == arm["dimension"]
        )
        # A running study has no counts to show; zeros would be wrong.
        shown = labels if study["labels"] else ()
        rows.append({**arm, **{label: counts.get(label, 0) for label in shown}})
    print_rows(rows)
    if any(arm["raters"] is None for arm in study["arms"]):
        typer.echo("Counts by arm are shown once the study is closed.")
    _print_counts(study["counts"], study["respondents"])
    typer.echo(f"\nThe analysis: empathylab analyze {study['analysis']} --study {study['study']}")
    for each_set in study["sets"]:
        typer.echo(f"The replies: empathylab data show responses --set {each_set}")


def _show_set(
    folder: Path,
    name: str,
    wanted: dict[str, str],
    limit: int,
    *,
    lengths: bool | None,
    as_json: bool,
) -> None:
    from empathylab.situations import builtin_set
    from empathylab.store import Lab, has_lab
    from empathylab.store.selections import resolve_situations, selection_paragraph

    replies: list[dict[str, Any]] = []
    paragraph = None
    if has_lab(folder):
        with Lab.open(folder, create=False) as lab:
            whole, situations = resolve_situations(lab, name)
            replies = _replies_to(lab, whole, situations, lengths=lengths)
            paragraph = selection_paragraph(lab, name)
    else:
        whole = builtin_set(name)
        situations = whole.situations
    _check(wanted, whole)
    picked = [
        situation
        for situation in situations
        if all(getattr(situation, k) == v for k, v in wanted.items())
    ]
    counts = _counts(picked)
    if as_json:
        print_json({"set": name, "counts": counts, "respondents": replies, "situations": picked})
        return
    typer.echo(f"{whole.title} (version {whole.version}, {whole.licence})")
    typer.echo(paragraph or whole.description)
    _print_counts(counts, replies)
    _print_situations(picked, limit)


def _check(wanted: dict[str, str], whole: SituationSet) -> None:
    for kind, known in (("emotion", whole.emotions), ("topic", whole.topics)):
        if kind in wanted and wanted[kind] not in known:
            raise UnknownName(kind, wanted[kind], known, where=f"situation set {whole.id}")


def _counts(situations: Sequence[Situation]) -> dict[str, Any]:
    """How many situations there are of each emotion, valence and topic."""
    return {
        "situations": len(situations),
        **{
            name: dict(Counter(str(v) for v in values if v is not None).most_common())
            for name, values in (
                ("emotions", [situation.emotion for situation in situations]),
                ("valences", [situation.valence for situation in situations]),
                ("topics", [situation.topic for situation in situations]),
            )
        },
    }


def _replies_to(
    lab: Lab, whole: SituationSet, situations: Sequence[Situation], *, lengths: bool | None
) -> list[dict[str, Any]]:
    """How many usable replies each respondent gave to them, and how long they are.

    Of very many replies only the number is given, unless lengths are asked for.
    """
    import polars as pl

    from empathylab.analysis.json_values import json_value
    from empathylab.stats.lengths import LengthDistribution, length_distributions
    from empathylab.store import responses_frame, schema
    from empathylab.store.listings.summaries import replies_by_set

    counted = replies_by_set(lab).filter(pl.col("set") == whole.id, pl.col("usable") > 0)
    if lengths is None:
        lengths = counted["usable"].sum() <= _MOST_LENGTHS
    if not lengths:
        nothing = dict.fromkeys(field.name for field in dataclasses.fields(LengthDistribution))
        return [
            {**nothing, "respondent": name, "n": usable}
            for name, usable in counted.select("respondent", "usable").iter_rows()
        ]
    rules = (schema.situation_sets.c.name == whole.id, schema.responses.c.outcome == "valid")
    keys = [situation.id for situation in situations]
    frame = responses_frame(lab, *rules).filter(pl.col("situation").is_in(keys))
    return [json_value(length_distribution) for length_distribution in length_distributions(frame)]


def _print_counts(counts: dict[str, Any], replies: list[dict[str, Any]]) -> None:
    from empathylab.analysis.text.apa import counted

    typer.echo(f"\n{counted(counts['situations'], 'situation')}")
    for name in ("valence", "topic", "emotion"):
        by_value = counts[f"{name}s"]
        if by_value:
            listed = ", ".join(f"{key} {count:,}" for key, count in by_value.items())
            typer.echo(f"  {counted(len(by_value), name)}: {listed}")
    if replies and replies[0]["quantiles"] is None:
        rows = [{"respondent": reply["respondent"], "replies": reply["n"]} for reply in replies]
        typer.echo("\nReplies to the whole set; --lengths counts how many words they have")
        print_rows(rows)
    elif replies:
        typer.echo("\nReplies, and how many words they have")
        print_rows([_lengths(reply) for reply in replies])


def _lengths(row: dict[str, Any]) -> dict[str, Any]:
    from empathylab.analysis.text.numbers import number

    quantiles = row["quantiles"]
    return {
        "respondent": row["respondent"],
        "replies": f"{row['n']:,}",
        "mean": number(row["mean"]),
        "SD": number(row["sd"]),
        "shortest": row["shortest"],
        **{f"{float(share):.0%}": number(words, 0) for share, words in quantiles.items()},
        "longest": row["longest"],
    }


def _print_situations(picked: Sequence[Situation], limit: int) -> None:
    for item in picked[: limit or None]:
        label = ", ".join(part for part in (item.emotion, item.factor or item.topic) if part)
        head = (item.id, f"({label})" if label else "", item.title or "")
        typer.echo("\n" + " ".join(part for part in head if part))
        typer.echo(f"  {item.text}")
        for number, turn in enumerate(item.context):
            typer.echo(f"  {'hears' if number % 2 else 'said'}: {turn}")
        if item.utterance:
            typer.echo(f"  says: {item.utterance}")
        if item.counterpart:
            typer.echo(f"  if things go well: {item.counterpart}")
    _say_rest(len(picked), limit)


def _say_rest(count: int, limit: int) -> None:
    if limit and count > limit:
        typer.echo(f"\n… and {count - limit:,} more; --limit 0 prints all.", err=True)


def _show_responses(
    folder: Path, wanted: dict[str, str | None], limit: int, *, as_json: bool
) -> None:
    from empathylab.store import Lab, responses_frame, schema
    from empathylab.store.listings.contents import lab_contents
    from empathylab.store.listings.summaries import replied_situations

    columns = {
        "emotion": schema.situations.c.emotion,
        "topic": schema.situations.c.topic,
        "set": schema.situation_sets.c.name,
        "respondent": schema.respondents.c.name,
    }
    rules: list[Any] = []
    with Lab.open(folder, create=False) as lab:
        with lab.reading() as connection:
            empty = not lab_contents(connection)["replies"]
        if empty:
            raise InputError(
                "the lab has no responses",
                remedy="Run `empathylab respond MODEL` or `empathylab data import responses CSV`.",
            )
        for column, value in wanted.items():
            if value is None:
                continue
            rules.append(columns[column] == value)
            if replied_situations(lab, *rules).is_empty():
                frame = responses_frame(lab, *rules[:-1])
                known = frame[column].drop_nulls().unique().sort().to_list()
                raise UnknownName(column, value, known, where="the lab's responses")
        if as_json:
            print_json(
                {"responses": responses_frame(lab, *rules).drop("response", "run").to_dicts()}
            )
            return
        replied = replied_situations(lab, *rules)
        shown = replied["ids"].head(limit or replied.height).explode().to_list()
        frame = responses_frame(lab, *rules, schema.situations.c.id.in_(shown))
    _print_replies(frame)
    _say_rest(replied.height, limit)


def _print_replies(frame: pl.DataFrame) -> None:
    for group in frame.partition_by("set", "situation", maintain_order=True):
        first = group.row(0, named=True)
        label = ", ".join(part for part in (first["emotion"], first["topic"]) if part)
        typer.echo(f"\n{first['set']}, {first['situation']} ({label})")
        typer.echo(f"  {first['utterance'] or first['situation_text']}")
        for row in _rows(group):
            outcome = "" if row["outcome"] == "valid" else f" [{row['outcome']}]"
            typer.echo(f"  {row['respondent']}{outcome}: {row['text']}")


def _rows(frame: pl.DataFrame) -> Iterable[dict[str, Any]]:
    return frame.iter_rows(named=True)
