"""`croissant.json`: what an export's files and columns are, for machines.

Croissant 1.0 of MLCommons with its RAI vocabulary: JSON-LD beside the files. Data set hubs and
conferences read it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from empathylab import __version__

FILE = "croissant.json"
_TYPES = {
    "text": "sc:Text",
    "whole number": "sc:Integer",
    "number": "sc:Float",
    "true or false": "sc:Boolean",
    "moment": "sc:DateTime",
}
_ENCODINGS = {
    "csv": "text/csv",
    "jsonl": "application/jsonlines",
    "parquet": "application/x-parquet",
    "eval": "application/zip",
}
_TERMS = [
    "citeAs",
    "column",
    "conformsTo",
    "containedIn",
    "datasetVersion",
    "extract",
    "field",
    "fileObject",
    "fileProperty",
    "fileSet",
    "format",
    "includes",
    "isLiveDataset",
    "jsonPath",
    "key",
    "md5",
    "parentField",
    "path",
    "recordSet",
    "references",
    "regex",
    "repeated",
    "replace",
    "separator",
    "source",
    "subField",
    "transform",
]


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """A column of a table."""

    name: str
    """As in the file."""
    meaning: str
    type: str
    """As the data dictionary calls it, or `moment`."""


@dataclass(frozen=True, slots=True)
class DescribedTable:
    """A table, and the file that holds it."""

    name: str
    meaning: str
    file: str
    columns: Sequence[DescribedColumn] = ()


@dataclass(frozen=True, slots=True)
class DescribedData:
    """What a reader must know of the data as a whole."""

    name: str
    description: str
    tables: Sequence[DescribedTable]
    sums: Mapping[str, str] = field(hash=False)
    """The SHA-256 of each file."""
    published: str
    """The last day on which data was collected, as YYYY-MM-DD."""
    licences: Iterable[str] = ()
    raters: int = 0
    """People whose ratings or answers are among the data."""
    models: Sequence[str] = ()
    way: str = ""
    """From the description's folder to the files."""


def croissant_file(data: DescribedData) -> bytes:
    """The description as JSON-LD."""
    listed = sorted({licence for licence in data.licences if licence}) or ["not stated"]
    document = {
        "@context": _context(),
        "@type": "sc:Dataset",
        "conformsTo": [
            "http://mlcommons.org/croissant/1.0",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "name": data.name,
        "description": data.description,
        "version": "1.0.0",
        "datePublished": data.published,
        "license": listed,
        "url": "https://pypi.org/project/empathylab/",
        "creator": {"@type": "sc:Organization", "name": "Not stated: add the authors"},
        "citeAs": f"{data.name} ({data.published}). Measured with EmpathyLab {__version__}.",
        "keywords": ["empathy", "language models", "ratings", "questionnaires"],
        **_responsible(data),
        "distribution": [_file(table, data) for table in data.tables],
        "recordSet": [_records(table) for table in data.tables if table.columns],
    }
    return f"{json.dumps(document, ensure_ascii=False, indent=1)}\n".encode()


def _context() -> dict[str, Any]:
    terms: dict[str, Any] = {name: f"cr:{name}" for name in _TERMS}
    terms["conformsTo"] = "dct:conformsTo"
    terms["equivalentProperty"] = "cr:equivalentProperty"
    terms["samplingRate"] = "cr:samplingRate"
    return {
        "@language": "en",
        "@vocab": "https://schema.org/",
        **terms,
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "examples": {"@id": "cr:examples", "@type": "@json"},
        "cr": "http://mlcommons.org/croissant/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "dct": "http://purl.org/dc/terms/",
        "sc": "https://schema.org/",
    }


def _file(table: DescribedTable, data: DescribedData) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": table.file,
        "name": table.file,
        "description": table.meaning,
        "contentUrl": f"{data.way}{table.file}",
        "encodingFormat": _ENCODINGS.get(table.file.rpartition(".")[2], "application/octet-stream"),
        "sha256": data.sums[table.file],
    }


def _records(table: DescribedTable) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.meaning,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{table.name}/{column.name}",
                "name": f"{table.name}/{column.name}",
                "description": column.meaning,
                "dataType": _TYPES[column.type],
                "source": {
                    "fileObject": {"@id": table.file},
                    "extract": {"column": column.name},
                },
            }
            for column in table.columns
        ],
    }


def _responsible(data: DescribedData) -> dict[str, Any]:
    """The RAI properties, from what the data hold."""
    people, models = data.raters, ", ".join(data.models)
    collected = []
    if models:
        collected.append(f"Language models were asked by EmpathyLab: {models}.")
    if people:
        collected.append(f"{people} people rated replies or answered scales in studies.")
    return {
        "rai:dataCollection": " ".join(collected) or "See the table imports for the sources.",
        "rai:dataCollectionType": [
            *(["Experiments"] if models else []),
            *(["Surveys"] if people else []),
        ]
        or ["Secondary Data Analysis"],
        "rai:personalSensitiveInformation": [
            "Raters have random names; platform ids and comments are left out. What raters "
            "said about themselves (such as age or country) is in the table raters."
            if people
            else "None: the data set has no data about people."
        ],
        "rai:dataBiases": [
            "Built-in situations and personas are not validated: see the column validated.",
            "Models as judges and simulated people differ from people.",
        ],
        "rai:dataLimitations": [
            "Results hold for the prompts, model versions and dates in the table runs."
        ],
        "rai:dataUseCases": [
            "Comparing how empathetic models and people are. Not for clinical decisions."
        ],
        "rai:dataSocialImpact": "High scores do not show that a model understands or feels.",
        "rai:hasSyntheticData": bool(models),
    }
