"""The first page: what the lab has, and what happened last."""

from __future__ import annotations

from dataclasses import replace

from empathylab.store.listings.contents import lab_contents
from empathylab.view.pages.runs import any_running, runs_table
from empathylab.view.pages.studies import studies_table
from empathylab.view.rendering import Page
from empathylab.view.visits import Visit

_LINKS = {
    "replies": "/replies",
    "conversations": "/conversations",
    "administrations": "/scales",
    "runs": "/runs",
    "studies": "/studies",
}
_SHOWN = 6


def show_overview(visit: Visit) -> Page:
    """How much the lab has, its newest runs and its studies."""
    counts = lab_contents(visit.connection)
    runs, studies = (
        replace(table, size=_SHOWN, all_rows=f"/{table.name}", paged=False)
        for table in (runs_table(), studies_table())
    )
    return Page(
        "Overview",
        "overview",
        (runs, studies),
        {"counts": counts, "links": _LINKS},
        live=any_running(runs.read(visit.connection, 0, _SHOWN).rows),
    )
