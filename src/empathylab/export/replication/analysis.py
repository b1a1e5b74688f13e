"""Makes the tables of this package again from its data, with EmpathyLab's public functions.

    python analysis.py

reads `data/`, writes `regenerated/`, and says of every table whether it is, byte for byte, the one
in `tables/`. Exit code 0: all are; 1: some are not. No lab is needed: the data are the files.

In the CSV files numbers have six digits that count, so that the last bits of another machine's
arithmetic make no difference; Markdown and LaTeX are rounded as a paper prints them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from empathylab.analysis.appraisal.result import place_label
from empathylab.analysis.appraisal.self_reports import validity_and_patterns
from empathylab.analysis.json_values import json_value
from empathylab.analysis.ratings import RatingsResult, from_table
from empathylab.analysis.ratings.collection_periods import collection_table
from empathylab.analysis.ratings.mixed_models import (
    coefficient_table,
    mean_rows,
    mixed_model_row,
    random_table,
    undetermined,
)
from empathylab.analysis.ratings.mixed_models import mean_table as model_mean_table
from empathylab.analysis.ratings.rows import (
    all_arms_table,
    comparison_rows,
    comparison_table,
    conclusion_table,
    count_table,
    mean_table,
    paired_table,
    rater_table,
)
from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import number, p_value, signed
from empathylab.errors import EmpathyLabError, UserError
from empathylab.export.reading import exported_tables, read_exported
from empathylab.export.replication.judges import judge_tables
from empathylab.export.replication.recipients import recipient_tables
from empathylab.export.replication.style import style_tables
from empathylab.export.replication.tables import (
    Read,
    ResultTable,
    exported_dimensions,
    file_name,
    flat,
    plain_table,
    scalars,
    write_result_tables,
)
from empathylab.report.appraisal.tables import side_by_side
from empathylab.scales import Scale, scale_from_dict
from empathylab.stats import (
    Clmm,
    Lmm,
    alignment_summaries,
    distances,
    scale_changes,
)
from empathylab.store.ratings import Study

_KINDS = ("all", "valence", "emotion")
_OF_THE_EXPORT = ("status", "outcome", "excluded", "language", "day")
"""Columns of the raters that the export adds to what is known about them."""


def main(package: Path) -> int:
    """Exit code: whether every table came out as it is in the package."""
    again = write_tables(package / "data", package / "regenerated")
    wrong = 0
    for name in again:
        kept = package / "tables" / name
        same = kept.is_file() and kept.read_bytes() == again[name]
        wrong += not same
        sys.stdout.write(f"{'same' if same else 'DIFFERENT'}  {name}\n")
    for kept in sorted((package / "tables").iterdir()):
        if kept.name not in again:
            wrong += 1
            sys.stdout.write(f"MISSING  {kept.name}\n")
    sys.stdout.write(f"{len(again)} files written, {wrong} different from the package\n")
    return 1 if wrong else 0


def write_tables(data: Path, folder: Path) -> dict[str, bytes]:
    """The files by name, after they were written: each table as CSV, Markdown and LaTeX."""
    return write_result_tables(tables(data), folder)


def tables(data: Path) -> list[ResultTable]:
    """Every table that the data allow."""
    known = exported_tables(data)

    def read(name: str) -> pl.DataFrame | None:
        return read_exported(data, name) if name in known else None

    parts = (
        _of_studies,
        _of_scales,
        _of_self_reports,
        style_tables,
        judge_tables,
        recipient_tables,
    )
    return [table for part in parts for table in part(read)]


# Ratings: what `analysis.ratings` says about the exported ratings.


def _of_studies(read: Read) -> Iterator[ResultTable]:
    studies, ratings = read("studies"), read("ratings")
    if studies is None or ratings is None or read("raters") is None:
        return
    names: set[str] = set()
    for row in studies.filter(~pl.col("results_hidden")).iter_rows(named=True):
        rated = ratings.filter(study=row["study"])
        people = _own(read("raters"), row["study"]).filter(kind="person")["rater"].implode()
        if rated.filter(pl.col("rater").is_in(people)).is_empty():
            continue
        slug = file_name(row["study"], names)
        try:
            yield from _of_study(_result(_study(row), rated, read), slug)
        except UserError as error:
            problem = {"study": row["study"], "not analysed": str(error)}
            yield from plain_table(f"ratings-{slug}", row["title"], [problem])


def _study(row: Mapping[str, Any]) -> Study:
    dimensions = exported_dimensions(row)
    return Study(row["study"], row["title"], row["design"], dimensions, row["status"])


def _own(frame: pl.DataFrame | None, study: str) -> pl.DataFrame:
    """A table's rows of that study."""
    return pl.DataFrame() if frame is None else frame.filter(study=study).drop("study")


def _result(study: Study, ratings: pl.DataFrame, read: Read) -> RatingsResult:
    """The analysis of a study by the exported tables, which is that of the lab."""
    raters = _own(read("raters"), study.name)
    answers = _own(read("scale_answers"), study.name)
    scales = read("scales")
    return from_table(
        ratings,
        study=study,
        arms=_own(read("arms"), study.name) if read("arms") is not None else None,
        raters=raters.drop(_OF_THE_EXPORT, strict=False),
        answers=answers.filter(phase="default") if answers.height else None,
        scales=[] if scales is None else [_scale(row) for row in scales.iter_rows(named=True)],
    )


def _scale(row: Mapping[str, Any]) -> Scale:
    """A questionnaire of the export, whose wording stays in the lab."""
    subscales = json.loads(row["subscales"])
    return scale_from_dict(
        {
            "id": row["scale"],
            "version": row["scale_version"],
            "name": row["name"] or row["scale"],
            "citation": row["citation"] or "unknown",
            "licence": row["licence"] or "unknown",
            "instruction": "unknown",
            "items": row["items"],
            "minimum": int(row["minimum"]),
            "maximum": int(row["maximum"]),
            "reversed": json.loads(row["reversed"]),
            "rule": row["rule"],
            "subscales": [
                {"id": name, "name": name, "items": items} for name, items in subscales.items()
            ],
            "total": row["has_total"],
        }
    )


def _of_study(result: RatingsResult, slug: str) -> Iterator[ResultTable]:
    title, reference = result.study.title, result.reference
    rows, shown = result.to_frame().to_dicts(), conclusion_table(result.conclusions)
    yield ResultTable(f"ratings-{slug}-conclusions", f"{title}: conclusions", rows, shown)
    comparison = result.comparison
    if comparison.scales:
        counts = [
            flat(count) for kind in _KINDS for count in comparison.counts if count.kind == kind
        ]
        shown = [row for kind in _KINDS for row in count_table(comparison, kind)]
        yield ResultTable(f"ratings-{slug}-counts", f"{title}: ratings by arm", counts, shown)
        tests = [scalars(row) for row in comparison_rows(comparison)]
        shown = [row for kind in _KINDS for row in comparison_table(comparison, kind)]
        if tests:
            caption = f"{title}: good ratings compared with {reference}"
            yield ResultTable(f"ratings-{slug}-tests", caption, tests, shown)
    paired = result.paired
    if paired is not None:
        caption = f"{title}: arms paired by {paired.unit}, compared with {reference}"
        values = [flat(test, nested=True) for test in paired.tests]
        yield ResultTable(f"ratings-{slug}-paired", caption, values, paired_table(paired))
        values = [
            flat(test, nested=True) | {"arms": ", ".join(test.arms)} for test in paired.overall
        ]
        caption = f"{title}: all arms at once, paired by {paired.unit}"
        yield ResultTable(f"ratings-{slug}-paired-overall", caption, values, all_arms_table(paired))
    shown = [row for kind in _KINDS for row in mean_table(result.means, kind)]
    if shown:
        values = [
            flat(mean) | {"dimension": of.dimension} for of in result.means for mean in of.means
        ]
        yield ResultTable(f"ratings-{slug}-means", f"{title}: mean ratings by arm", values, shown)
    used: set[str] = set()
    names = {dimension: file_name(dimension, used) for dimension in result.scales.continuous}
    for model in result.models:
        if model.model is not None:
            name = f"ratings-{slug}-model-{names[model.dimension]}"
            name += "-by-valence" if model.by_valence else ""
            yield from _of_model(model.model, name, f"{title}: {model.dimension}")
    days = collection_table(result.collected)
    if days:
        caption = f"{title}: when the arms were rated"
        yield ResultTable(f"ratings-{slug}-days", caption, json_value(result.collected), days)
    if result.rater_comparison is not None:
        rows = rater_table(result.rater_comparison)
        yield from plain_table(f"ratings-{slug}-raters", f"{title}: raters", rows)


def _of_model(model: Clmm | Lmm, name: str, title: str) -> Iterator[ResultTable]:
    document, unknown = mixed_model_row(model), undetermined(model)
    values = [
        {"term": term, **(dict.fromkeys(scalars(cells)) if term in unknown else scalars(cells))}
        for part in ("thresholds", "coefficients")
        for term, cells in document.get(part, {}).items()
    ]
    yield ResultTable(name, f"{title}, {model.formula}", values, coefficient_table(model))
    caption = f"{title}, {model.formula}: random effects"
    yield from plain_table(f"{name}-random", caption, random_table(model))
    if not unknown:
        caption = f"{title}, means of the arms by the model"
        means = [scalars(row) for row in mean_rows(model, "arm")]
        yield ResultTable(f"{name}-means", caption, means, model_mean_table(model, "arm"))


# Scales: the change from rest, and how far it is from people's.


def _of_scales(read: Read) -> Iterator[ResultTable]:
    scores = read("scores")
    if scores is None:
        return
    counted = scores.filter(pl.col("counted") & ~pl.col("counterpart"))
    changes = scale_changes(counted)
    if not changes:
        return
    values, shown = [], []
    for change in changes:
        label = place_label(change.level, change.emotion, change.factor)
        values.append(flat(change) | {"label": label})
        shown.append(
            {
                "respondent": change.respondent,
                "scale": change.scale,
                "subscale": change.subscale,
                "after": label,
                "n": number(change.n, 0),
                "at baseline": f"{number(change.default_mean)} ± {number(change.default_sd)}",
                "after a situation": f"{number(change.mean)} ± {number(change.sd)}",
                "change": signed(change.delta),
                "direction": {"up": "↑", "down": "↓", "none": "–"}[change.direction],
                "p Holm": p_value(change.p_holm),
                "p clustered": p_value(change.cluster_p),
                "g": number(change.effect_size, 2),
            }
        )
    yield ResultTable(
        "scales-changes", "Scores after situations compared with baseline", values, shown
    )
    used: set[str] = set()
    for table in side_by_side(changes):
        name = f"scales-side-by-side-{file_name(table.scale, used)}"
        yield from plain_table(name, f"{table.title}. {table.caption}", table.rows)
    summaries = alignment_summaries(distances(changes))
    if summaries:
        values = [flat(summary) for summary in summaries]
        shown = [
            {
                "respondent": summary.respondent,
                "scale": summary.scale,
                "distance from people": number(summary.distance, 2),
                "95% interval": f"{number(summary.low, 2)} to {number(summary.high, 2)}",
                "factors": number(summary.factors, 0),
            }
            for summary in summaries
        ]
        caption = "Distance of changes from people's (1 = the SD of people's changes)"
        yield ResultTable("scales-alignment", caption, values, shown)


# Self-reports: whether what models say of themselves can be believed.


def _of_self_reports(read: Read) -> Iterator[ResultTable]:
    asked, items, scales = read("administrations"), read("item_answers"), read("scales")
    if asked is None or items is None or scales is None:
        return
    named = pl.when("counterpart").then(pl.col("situation") + " / counterpart")
    models = asked.filter(pl.col("used") & (pl.col("kind") != "human")).with_columns(
        situation=pl.coalesce(named, "situation"), order_index="order"
    )
    of = ["respondent", "scale", "scale_version"]
    values = []
    for (respondent, name, version), group in models.group_by(of, maintain_order=True):
        scale = scales.filter(scale=name, scale_version=version).row(-1, named=True)
        valid = group.filter(outcome="valid")
        answers = items.join(valid.drop("counterpart"), on="administration")
        validity, _ = validity_and_patterns(answers, group, _scale(scale))
        reasons = {"reasons": " ".join(map(note_text, validity.reasons))}
        mine = {"respondent": respondent, "scale": name, "verdict": validity.verdict}
        values.append(mine | flat(validity) | reasons)
    shown = [
        {"respondent": row["respondent"], "scale": row["scale"], "verdict": row["verdict"]}
        | {"administrations": number(row["administrations"], 0), "reasons": row["reasons"]}
        for row in values
    ]
    if values:
        yield ResultTable("scales-validity", "Whether self-reports can be believed", values, shown)


if __name__ == "__main__":
    try:
        sys.exit(main(Path(__file__).resolve().parent))
    except EmpathyLabError as error:
        sys.exit(f"Error: {error}")
