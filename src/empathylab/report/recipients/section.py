"""The section on what recipients of replies say."""

from __future__ import annotations

from collections.abc import Sequence

from empathylab.analysis.recipients import RecipientsResult
from empathylab.analysis.recipients.rows import (
    agreement_rows,
    cell_rows,
    change_rows,
    effect_rows,
    test_rows,
)
from empathylab.report.blocks import (
    Block,
    Fold,
    Heading,
    Section,
    Table,
    Text,
    conclusions_fold,
    kept,
    slug,
)
from empathylab.report.recipients.figures import figures

_ABOUT = (
    "The participants wrote about an experience of their own and rated the reply that they got. "
    "The author is who really wrote the reply; the label is what participants read about the "
    "author."
)
_AGREEMENT = "Recipients, onlookers and judges"


def recipients_section(results: Sequence[RecipientsResult], lead: Sequence[str]) -> Section:
    """Study by study; without blocks where the lab has none."""
    blocks: list[Block] = []
    for result in results:
        blocks += _study(result, named=len(results) > 1)
    if blocks:
        blocks.insert(0, Text((_ABOUT,)))
    return Section(id="recipients", title="Recipients", blocks=blocks, lead=lead)


def _study(result: RecipientsResult, *, named: bool) -> list[Block]:
    place = f"recipients-{slug(result.study or result.title)}"
    tables = {
        "Means by author and label": cell_rows(result),
        "F tests": test_rows(result),
        "Differences in points": effect_rows(result),
        "Change from before to after": change_rows(result),
        _AGREEMENT: agreement_rows(result),
    }
    return list(
        kept(
            Heading(id=place, title=result.title) if named else None,
            *figures(result),
            Text(result.caveats, "caveats"),
            conclusions_fold(place, result.conclusions),
            *(
                Fold(
                    id=f"{place}-{slug(title)}",
                    title=title,
                    blocks=kept(
                        Table(
                            title=f"{title}: {result.title}", rows=rows, paper=title != _AGREEMENT
                        )
                    ),
                )
                for title, rows in tables.items()
            ),
        )
    )
