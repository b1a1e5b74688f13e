"""The charts of recipients' results, each with its name, title and note."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from empathylab.analysis.json_values import finite
from empathylab.analysis.recipients import RecipientsResult
from empathylab.analysis.recipients.prose import cell_name
from empathylab.report.blocks import Figure
from empathylab.report.estimate_charts import estimates_chart

_CELLS = "Means with 95% intervals, by who wrote the reply and how it was labelled."
_AGREEMENT = (
    "Correlation over the same replies, with 95% intervals from a bootstrap over recipients. "
    "Agreement with onlookers does not show agreement with the people who received the replies."
)


def figures(result: RecipientsResult) -> Iterator[Figure]:
    """Means by condition, change by condition, and agreement with other raters."""
    cells = [cell for found in result.outcomes for cell in found.cells]
    if cells:
        yield Figure(
            name="cells",
            title="How recipients rated the replies",
            spec=_cells_chart(result, cells, title="mean"),
            note=_CELLS,
        )
    changes = [cell for found in result.outcomes for cell in found.changes[1:]]
    if changes:
        yield Figure(
            name="changes",
            title="Change from before to after the reply",
            spec=_cells_chart(result, changes, title="change in points", zero=True),
            note="Mean change with 95% intervals. Without a group that got no reply, a change is "
            "not the effect of the reply.",
        )
    known = [found for found in result.agreement if found.correlation == found.correlation]
    if known:
        rows = [
            {
                "raters": f"{found.first} and {found.second}",
                "rated": found.outcome
                if found.outcome == found.dimension
                else f"{found.outcome} with {found.dimension}",
                "estimate": found.correlation,
                "low": finite(found.low),
                "high": finite(found.high),
                "n": found.n,
            }
            for found in known
        ]
        yield Figure(
            name="agreement",
            title="Recipients, onlookers and judges on the same replies",
            spec=estimates_chart(
                rows,
                who="raters",
                title="correlation",
                form=".2f",
                ends=(-1.0, 1.0),
                zero=True,
                panels="rated",
                coloured=False,
            ),
            note=_AGREEMENT,
        )


def _cells_chart(
    result: RecipientsResult, cells: list[Any], *, title: str, zero: bool = False
) -> dict[str, Any]:
    rows = [
        {
            "condition": cell_name(cell),
            "outcome": cell.outcome,
            "estimate": cell.mean,
            "low": finite(cell.low),
            "high": finite(cell.high),
            "n": cell.n,
        }
        for cell in cells
    ]
    several = len(result.outcomes) > 1
    return estimates_chart(
        rows,
        who="condition",
        title=title,
        form=".2f",
        zero=zero,
        panels="outcome" if several else None,
        coloured=False,
    )
