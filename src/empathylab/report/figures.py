"""Every chart of the report as a function of an analysis result: what `result.plot` calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from empathylab.analysis.appraisal.result import AppraisalResult
from empathylab.analysis.benchmark.leaderboard import LeaderboardResult
from empathylab.analysis.benchmark.result import BenchmarkResult
from empathylab.analysis.conversations import ConversationsAnalysis
from empathylab.analysis.judges.result import JudgesResult
from empathylab.analysis.overview import LabOverview
from empathylab.analysis.overview.first_screen import first_screen
from empathylab.analysis.preferences import PreferencesResult
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.recipients import RecipientsResult
from empathylab.analysis.scores import ScoresResult
from empathylab.analysis.style.result import StyleResult
from empathylab.errors import InputError
from empathylab.report.appraisal.figures import figures as appraisal_figures
from empathylab.report.benchmark.figures import benchmark_figures, leaderboard_figures
from empathylab.report.blocks import Figure
from empathylab.report.colours import Colours
from empathylab.report.conversations.figures import figures as conversation_figures
from empathylab.report.judges.figures import figures as judge_figures
from empathylab.report.overview.figures import main_figure
from empathylab.report.pictures import notebook_config
from empathylab.report.preferences.figures import figures as preference_figures
from empathylab.report.ratings.figures import figures as rating_figures
from empathylab.report.recipients.figures import figures as recipient_figures
from empathylab.report.replies.section import lengths_figure
from empathylab.report.scores.figures import figures as score_figures
from empathylab.report.style.figures import figures as style_figures

_WIDTH = 560


def plot(result: Any, name: str | None = None) -> Any:
    """The chart of that name as an Altair chart; without a name, the first."""
    import altair as alt

    found = {
        figure.name: (part, figure) for part in parts(result) for figure in result_figures(part)
    }
    if not found:
        raise InputError(
            "there is nothing to draw",
            got=type(result).__name__,
            remedy="This result has no charts; see result.tables for its numbers.",
        )
    name = next(iter(found)) if name is None else name
    if name not in found:
        raise InputError(
            "the result has no chart of that name", got=name, remedy=f"Use {', '.join(found)}."
        )
    part, figure = found[name]
    spec = Colours(_names(part)).applied(figure.spec)
    if spec.get("width") == "container":
        spec["width"] = _WIDTH
    spec["config"] = notebook_config()
    kinds: dict[str, Any] = {
        "layer": alt.LayerChart,
        "facet": alt.FacetChart,
        "vconcat": alt.VConcatChart,
    }
    kind = next((kind for key, kind in kinds.items() if key in spec), alt.Chart)
    chart: Any = type(kind.__name__, (_OfflineChart, kind), {})
    return chart.from_dict(spec | {"title": figure.title}, validate=False)


class _OfflineChart:
    """An Altair chart that a notebook shows as SVG: Altair's own way loads scripts from the web."""

    def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> Any:
        import altair as alt
        import vl_convert

        chart: Any = self
        if alt.renderers.active != "default":  # the user chose another one
            return super()._repr_mimebundle_(*args, **kwargs)  # type: ignore[misc]
        return {
            "image/svg+xml": vl_convert.vegalite_to_svg(chart.to_dict()),
            "text/plain": f"<{type(chart).__name__}>",
        }


def parts(result: Any) -> Iterable[Any]:
    """The results whose charts this one has: its own, or those of what it holds."""
    return getattr(result, "parts", (result,))


def result_figures(result: Any) -> list[Figure]:
    """The charts that a result has something for."""
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):
        for kind, figures in _FIGURES.items():
            if isinstance(result, kind):
                return list(figures(result))
    return []


def _of_lab(data: LabOverview) -> Iterable[Figure]:
    chart = first_screen(data).chart
    if chart is not None:
        yield main_figure(chart)
    lengths = lengths_figure(data)
    if lengths is not None:
        yield lengths


_FIGURES: dict[type, Callable[[Any], Iterable[Figure]]] = {
    RatingsResult: rating_figures,
    AppraisalResult: appraisal_figures,
    JudgesResult: judge_figures,
    ConversationsAnalysis: conversation_figures,
    ScoresResult: score_figures,
    PreferencesResult: preference_figures,
    RecipientsResult: recipient_figures,
    StyleResult: lambda result: style_figures(result.estimates),
    LeaderboardResult: leaderboard_figures,
    BenchmarkResult: benchmark_figures,
    LabOverview: _of_lab,
}


def _names(result: Any) -> Iterable[str]:
    """The respondents of the result, so that each keeps its colour in all charts of it."""
    if isinstance(result, RatingsResult):
        return result.arms
    if isinstance(result, LabOverview):
        return result.respondents
    if isinstance(result, ConversationsAnalysis):
        return list(dict.fromkeys(item.respondent for item in result.respondents))
    if isinstance(result, PreferencesResult):
        return result.fitted.names
    found = result.design.get("respondents", ())
    return [str(name) for name in found]
