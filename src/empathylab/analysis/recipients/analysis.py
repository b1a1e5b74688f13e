"""From a table or a study of recipients to one result."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import polars as pl

from empathylab.analysis.cache import cached_when_closed
from empathylab.analysis.recipients.agreement import agreements
from empathylab.analysis.recipients.columns import RecipientTable, read_columns
from empathylab.analysis.recipients.estimates import adjusted, outcome_result
from empathylab.analysis.recipients.received import received_replies
from empathylab.analysis.recipients.result import RecipientsResult
from empathylab.errors import InputError, UnknownName
from empathylab.store import Lab
from empathylab.store.ratings import Study
from empathylab.store.recipients import ratings_of_replies, recipient_studies
from empathylab.study.admin.embargo import require_closed

Margins = float | Mapping[str, float] | None


def from_table(
    frame: pl.DataFrame,
    *,
    roles: Mapping[str, str] | None = None,
    outcomes: Sequence[str] = (),
    before: Mapping[str, str] | None = None,
    margin: Margins = None,
    ratings: pl.DataFrame | None = None,
    where: str = "table",
    confidence: float = 0.95,
    seed: int = 1,
) -> RecipientsResult:
    """The analysis of a table with one row per participant and reply.

    `roles` name the columns of participant, response (the true author), label, replier and reply
    where they are not recognised; `before` the values from before the reply. `margin` is the
    smallest difference that matters, in points, for all outcomes or by outcome. `ratings` are
    those of onlookers and judges on the same replies (see `agreements`).
    """
    table = read_columns(frame, roles=roles, outcomes=outcomes, before=before, where=where)
    margins = _margins(margin, table)
    results = adjusted(
        [
            outcome_result(table, outcome, margin=margins.get(outcome), confidence=confidence)
            for outcome in table.outcomes
        ]
    )
    result = RecipientsResult(table, results)
    return result if ratings is None else with_ratings(result, ratings, seed=seed)


def from_lab(
    lab: Lab,
    study: str | None = None,
    *,
    outcomes: Sequence[str] = (),
    margin: Margins = None,
    confidence: float = 0.95,
    seed: int = 1,
    peek: str | None = None,
    who: str = "researcher",
) -> RecipientsResult:
    """The analysis of a closed study with recipients; an open one needs a reason to `peek`."""
    chosen = recipient_study(lab, study)
    require_closed(lab, chosen, peek=peek, who=who)
    with lab.reading() as connection:
        rows = received_replies(connection, chosen.name)
    if not rows:
        raise InputError(
            "no participant has finished the study yet",
            where=f"study {chosen.name}",
            remedy="Wait until participants have finished.",
        )
    frame = pl.DataFrame(rows, infer_schema_length=None)
    replaced = int(frame["replaced"].sum()) if "replaced" in frame.columns else 0
    frame = frame.drop("replaced", strict=False)
    frame = frame.drop(name for name in frame.columns if frame[name].null_count() == frame.height)

    def analyse() -> RecipientsResult:
        return from_table(
            frame,
            outcomes=outcomes,
            margin=margin,
            where=f"study {chosen.name}",
            confidence=confidence,
            seed=seed,
        )

    inputs = [frame, list(outcomes), margin, confidence, seed]
    result = cached_when_closed(lab, chosen, "recipients", inputs, analyse)
    ratings = ratings_of_replies(lab, chosen.name)
    if not ratings.is_empty():
        result = with_ratings(result, ratings, where="ratings of its replies", seed=seed)
    return dataclasses.replace(result, study=chosen.name, title=chosen.title, replaced=replaced)


def recipient_study(lab: Lab, name: str | None) -> Study:
    """The study of that name; without a name the only one with recipients."""
    studies = recipient_studies(lab)
    if name is not None and name not in studies:
        raise UnknownName("study with recipients", name, studies)
    if len(studies) != 1 and name is None:
        raise InputError(
            "the lab has several studies with recipients"
            if studies
            else "the lab has no study with recipients",
            got=", ".join(studies) or None,
            remedy="Name one with --study."
            if studies
            else "Name a file, or run `empathylab data import recipients FILE`.",
        )
    return studies[name] if name is not None else next(iter(studies.values()))


def with_ratings(
    result: RecipientsResult, ratings: pl.DataFrame, *, where: str = "ratings", seed: int = 1
) -> RecipientsResult:
    """The result with onlookers' and judges' ratings of the same replies beside it."""
    confidence = result.outcomes[0].confidence
    agreement = agreements(result.table, ratings, where=where, seed=seed, confidence=confidence)
    return dataclasses.replace(result, agreement=agreement)


def _margins(given: Margins, table: RecipientTable) -> dict[str, float]:
    if given is None:
        return {}
    named = given if isinstance(given, Mapping) else dict.fromkeys(table.outcomes, given)
    for outcome, margin in named.items():
        if outcome not in table.outcomes:
            raise UnknownName("outcome", outcome, table.outcomes)
        if not margin > 0:
            raise InputError(
                f"the margin of {outcome} must be above 0 points",
                got=margin,
                remedy="Declare the smallest difference that would matter.",
            )
    return dict(named)
