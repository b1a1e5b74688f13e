"""The tables of an exported lab: each with its columns, their meaning and its query."""

from __future__ import annotations

from collections.abc import Mapping

from empathylab.export.source import LabSource
from empathylab.export.tables import judges, recipients, responses, runs, scales, studies
from empathylab.table_specs import TableSpec

TABLES: Mapping[str, TableSpec[LabSource]] = {
    spec.name: spec
    for spec in (
        responses.SITUATION_SETS,
        responses.SITUATIONS,
        responses.RESPONDENTS,
        responses.RESPONSES,
        responses.STYLE,
        scales.SCALES,
        scales.ADMINISTRATIONS,
        scales.ITEM_ANSWERS,
        scales.SCORES,
        studies.STUDIES,
        *studies.STUDY_TABLES,
        recipients.RECIPIENTS,
        judges.JUDGEMENTS,
        judges.PREFERENCES,
        runs.RUNS,
        runs.IMPORTS,
    )
}
"""Every table that an export can hold, in the order of the dictionary."""
