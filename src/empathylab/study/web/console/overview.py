"""The first page: how far the study is."""

from __future__ import annotations

from starlette.responses import Response

from empathylab.study.admin.monitoring import BOUND, LATEST_PAGES
from empathylab.study.web.console.charts import arrival_bars
from empathylab.study.web.console.rendering import page
from empathylab.study.web.console.texts import text
from empathylab.study.web.console.visits import Visit

_VERDICTS = {
    "alike": text("The raters of all arms are similar, to within {bound} standard deviations."),
    "different": text("The arms have different raters. State this when you report the comparison."),
    "unclear": text("No difference was found, but there are too few raters to call them similar."),
    "too few": text("There are too few raters yet to compare the arms."),
    "one arm": text("There is one group of raters, so there is nothing to compare."),
}


def show_overview(visit: Visit) -> Response:
    """How far the study is, never which arm leads."""
    watched = visit.console.watch()
    study = visit.console.launched.study
    return page(
        visit,
        "overview",
        text("Overview"),
        watched=watched,
        kinds={one.id: one.kind for one in study.blocks},
        chart=arrival_bars(watched.by_time),
        verdicts=_VERDICTS,
        bound=BOUND,
        latest=LATEST_PAGES,
        places=sum(one.places for one in watched.arms),
        now=visit.console.clock(),
        pay="",
    )
