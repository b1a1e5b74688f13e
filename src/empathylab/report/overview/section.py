"""The sections on the whole lab: overview, methods and data."""

from __future__ import annotations

import contextlib
import importlib.metadata
import platform
from collections.abc import Iterator, Sequence

from empathylab.analysis.overview import LabOverview
from empathylab.analysis.overview.first_screen import FirstScreen
from empathylab.analysis.overview.runs import RunSummary
from empathylab.analysis.overview.sources import DataSource
from empathylab.analysis.overview.tables import measured_sentences, overview_tables
from empathylab.analysis.results import ModelChoice
from empathylab.analysis.style.prose import paragraphs
from empathylab.analysis.text.apa import counted, listed
from empathylab.analysis.text.names import PEOPLE
from empathylab.analysis.text.numbers import number
from empathylab.report.blocks import Block, Fold, Partial, Row, Section, Table, Text, kept
from empathylab.report.scores.section import runs_fold

_COMPUTES = ("empathylab", "numpy", "scipy", "polars", "statsmodels", "altair")
_STYLE = (
    "Style is described from the texts alone: counts per response, words compared with the other "
    "respondents by the log odds ratio with an informative prior (Monroe et al. 2008), and how "
    "well authors are identified in cross-validation with all responses to a situation in one fold."
)
_RATINGS = (
    "Ratings are compared with the published test, with one that treats a rater's ratings as a "
    "cluster, and with an ordinal or linear mixed model in which raters and situations vary at "
    "random."
)
_PREFERENCES = (
    "Paired comparisons are described by Bradley and Terry's model with ties (Davidson 1970) and "
    "an effect of the order in which the two replies were shown. Standard errors are clustered by "
    "rater and situation; p values are corrected by Holm's method over pairs of arms."
)
_RECIPIENTS = (
    "Recipients' outcomes are compared by true author and label: F tests of types II and III where "
    "each participant rated one reply, otherwise a linear mixed model in which participants, "
    "repliers and replies vary at random. A value from before the reply is a covariate. p values "
    "of "
    "differences are corrected by Holm's method over the outcomes."
)
_SCALES = (
    "Each scale was answered at baseline and after situations to be imagined. A change is "
    "the mean after situations minus the mean at baseline; its interval treats situations "
    "and item orders as random samples. Arrows and t tests follow the published procedure "
    "(Huang et al. 2024), which treats administrations as independent; p values are "
    "corrected by Holm's method over rows of one level. A model's self-report is text, not a "
    "feeling."
)
_EXPORT = "`empathylab export` writes all tables."
_PEOPLE = (
    "People's changes in PANAS are those of 1,266 people after other situations (Huang et al. "
    "2024, Apathetic or Empathetic? Evaluating LLMs' Emotional Alignments with Humans)."
)


def overview_section(data: LabOverview, first: FirstScreen) -> Section:
    """What follows the first screen: all conclusions, caveats, and a row per respondent."""
    blocks = kept(
        Fold(
            id="conclusions",
            title=f"All {len(first.headlines)} main conclusions",
            printed=True,
            blocks=kept(Text([str(headline) for headline in first.headlines], "list")),
        )
        if len(first.headlines) > len(first.shown)
        else None,
        Fold(
            id="caveats",
            title=f"All {len(first.caveats)} caveats",
            printed=True,
            blocks=kept(Text(first.caveats, "list")) if len(first.caveats) > 1 else (),
        ),
        Fold(
            id="respondents",
            title="All respondents in a table",
            printed=True,
            blocks=[
                Table(title=table.title, rows=table.rows, caption=table.note)
                for table in overview_tables(data)
            ],
        ),
        Fold(
            id="measured",
            title="What was measured",
            printed=True,
            blocks=kept(Partial(template="measured.html.j2", data=measured_sentences(data)))
            if not data.is_empty
            else (),
        ),
    )
    return Section(id="overview", title="Overview", blocks=blocks)


def methods_section(data: LabOverview) -> Section:
    """How the numbers were computed, with paragraphs for a paper."""
    paragraphs = [_SCALES] if data.appraisal.changes else []
    paragraphs += [_RATINGS] if data.ratings else []
    paragraphs += [_PREFERENCES] if data.preferences else []
    paragraphs += [_RECIPIENTS] if data.recipients else []
    paragraphs += [_STYLE] if data.style else []
    panas = {change.respondent for change in data.appraisal.changes if change.scale == "panas"}
    paragraphs += [_PEOPLE] if panas and PEOPLE not in panas else []
    rows = list(_models(data))
    written = paper_paragraphs(data)
    blocks = kept(
        Text(paragraphs),
        Fold(
            id="methods-models",
            title="Models and tests",
            blocks=kept(Table(title="Models and tests", rows=rows, paper=False)),
        ),
        *(
            Fold(
                id=f"methods-{place}",
                title=f"For a paper: {title[:1].lower()}{title[1:]}",
                blocks=(Text(sentences),),
            )
            for place, (title, sentences) in enumerate(written, start=1)
        ),
    )
    return Section(id="methods", title="Methods", blocks=() if data.is_empty else blocks)


def paper_paragraphs(data: LabOverview) -> list[tuple[str, Sequence[str]]]:
    """Paragraphs on methods and results, each with its heading."""
    found: list[tuple[str, Sequence[str]]] = [
        (f"Ratings: {study.study.title}", tuple(study.paragraphs())) for study in data.ratings
    ]
    if data.style is not None:
        found.append(("Style", tuple(paragraphs(data.style.estimates))))
    return [(title, sentences) for title, sentences in found if sentences]


def _models(data: LabOverview) -> Iterator[Row]:
    """The model of each topic, and why it was chosen."""
    topics: list[tuple[str, ModelChoice | None]] = [
        (f"Ratings: {study.study.name}", study.model) for study in data.ratings
    ]
    topics += [("Scales", data.appraisal.model)]
    topics += [("Conversations", data.conversations.model)] if data.conversations else []
    topics += [(f"Judges: {judged.study}", judged.model) for judged in data.judges]
    topics += [(f"Preferences: {result.title}", result.model) for result in data.preferences]
    topics += [(f"Recipients: {result.title}", result.model) for result in data.recipients]
    topics += [(f"Scores by {scored.judge}", scored.model) for scored in data.scores]
    topics += [("Style", data.style.model)] if data.style else []
    for topic, model in topics:
        if model is not None:
            formula = f" {model.formula}" if model.formula else ""
            yield {
                "topic": topic,
                "model": f"{model.name}{formula}",
                "why": " ".join((model.reason, *model.dropped)) or "–",
            }


def data_section(data: LabOverview) -> Section:
    """Counts, licences, runs with their settings, answers that could not be used, and versions."""
    versions = ", ".join(f"{name} {version}" for name, version in installed_versions().items())
    unusable = [run for run in data.runs if run.invalid or run.failed or run.unanswered]
    blocks: list[Block] = [
        Table(title="What the results are based on", rows=_sources(data.sources), paper=False),
        Fold(
            id="data-licences",
            title="Licences",
            blocks=kept(Text(_licences(data.sources), "list")),
        ),
        Table(title="Answers by run", rows=[_run(run) for run in data.runs], paper=False),
        Fold(
            id="data-unusable",
            title="Answers that could not be used",
            blocks=kept(
                Table(
                    title="Answers that could not be used",
                    rows=[row for run in unusable for row in _unusable(run)],
                    paper=False,
                )
            ),
        ),
        Text(
            ("Every request was answered, and every answer could be read.",)
            if data.runs and not unusable
            else ()
        ),
    ]
    blocks.append(runs_fold(data.matrix))
    if data.runs:
        settings = Partial(template="settings.html.j2", data=data)
        blocks.append(
            Fold(
                id="data-settings",
                title="Settings: everything needed to repeat the runs",
                blocks=(settings,),
            )
        )
    blocks.append(Text(() if data.is_empty else (f"Versions: {versions}.",), "note"))
    return Section(id="data", title="Data", blocks=kept(*blocks), lead=_data_lead(data))


def _data_lead(data: LabOverview) -> tuple[str, ...]:
    """How many requests were made, what came of them, and where everything is."""
    if data.is_empty:
        return ()
    if not data.runs:
        return (f"`empathylab view` shows everything in the lab; {_EXPORT}",)
    answered = sum(run.answered for run in data.runs)
    valid = sum(run.valid for run in data.runs)
    tokens = sum(run.prompt_tokens + run.completion_tokens for run in data.runs)
    known = [run.cost for run in data.runs if run.cost is not None]
    cost = f", ${number(sum(known), 2)}" if known else ""
    unknown = len(data.runs) - len(known)
    cost += f" (the cost of {counted(unknown, 'run')} is unknown)" if unknown else ""
    asked = (
        f"{counted(len(data.runs), 'run')}: {counted(answered, 'answer')}, of which "
        f"{number(valid, 0)} could be used; {number(tokens, 0)} tokens{cost}."
    )
    return asked, f"`empathylab view` shows every request and answer; {_EXPORT}"


def _sources(sources: Sequence[DataSource]) -> list[Row]:
    """A row each; what is not counted only if there is any."""
    excluded = any(source.left_out for source in sources)
    return [
        {
            "data": source.kind,
            "name": source.name,
            "contents": source.count,
            **({"not counted": source.left_out or "–"} if excluded else {}),
        }
        for source in sources
    ]


def _licences(sources: Sequence[DataSource]) -> list[str]:
    """Every licence that is recorded, and what is under it."""
    named: dict[str, list[str]] = {}
    for source in sources:
        if source.licence:
            named.setdefault(source.licence, []).append(source.name.split(":")[0])
    return [f"{listed(names)}: {licence}" for licence, names in named.items()]


def _run(run: RunSummary) -> Row:
    return {
        "run": run.protocol,
        "respondent": run.respondent,
        "planned": number(run.planned, 0),
        "answered": number(run.answered, 0),
        "valid": number(run.valid, 0),
        "invalid": number(run.invalid_count, 0),
        "no answer": number(run.unanswered, 0),
        "retries": number(run.retries, 0),
        "tokens": number(run.prompt_tokens + run.completion_tokens, 0),
        "cost": "unknown" if run.cost is None else f"${number(run.cost, 2)}",
    }


def _unusable(run: RunSummary) -> Iterator[Row]:
    found = [
        (outcome.replace("_", " "), count, reason or "–") for outcome, reason, count in run.invalid
    ]
    found += [("not answered yet", run.unanswered, "–")] if run.unanswered else []
    found += [(f"no answer ({kind})", count, message) for kind, count, message in run.failed]
    for outcome, count, reason in found:
        yield {
            "run": run.protocol,
            "respondent": run.respondent,
            "outcome": outcome,
            "count": number(count, 0),
            "reason": reason,
        }


def installed_versions() -> dict[str, str]:
    """The versions of what the figures were computed with."""
    found = {"Python": platform.python_version()}
    for name in _COMPUTES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found
