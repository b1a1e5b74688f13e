"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from empathylab.analysis.overview.collect import LabOverview
from empathylab.analysis.overview.first_screen import first_screen
from empathylab.analysis.scores.gates import gates_sentence
from empathylab.analysis.text.numbers import moment, number, p_value, percent, signed
from empathylab.report.blocks import Block, Figure, Section
from empathylab.report.colours import DARK, PEOPLE, SHOWN_PEOPLE, Colours
from empathylab.report.overview.figures import main_figure
from empathylab.report.sections import report_colours, report_sections
from empathylab.report.vega import vega_bundle
from empathylab.report.writing import page_asset, page_environment, write_whole

REPORT_FILE = "report.html"
_SCRIPTS = ("charts.js", "report.js", "replies.js")
STYLES = ("base.css", "report.css", "leaderboard.css", "conversations.css")
# A figure with its sign, a p value, an interval, a dash, or an empty cell.
_NUMBER = re.compile(r"[<>≥≤+−$\s]*[\d.(\[]|[–-]?%?$|F\(|χ")
_LETTERS = re.compile(r"[^\W\d_]{4,}")


def write_report(overview: LabOverview, folder: Path) -> Path:
    """Writes the report into that folder; its path."""
    return write_whole(folder / REPORT_FILE, render(overview))


def render(data: LabOverview) -> str:
    """The report's HTML."""
    first = first_screen(data)
    sections = report_sections(data, first)
    main = main_figure(first.chart) if first.chart is not None else None
    specs = _Specs(report_colours(data))
    return sections_page(
        "report.html.j2",
        specs,
        data=data,
        first=first,
        gates=gates_sentence(data.gates),
        failed=[gate for gate in data.gates if not gate.passed],
        main=main,
        sections=sections,
        anchors=_anchors(sections),
    )


def sections_page(template: str, specs: _Specs, **given: Any) -> str:
    """A page of sections with the styles and scripts that show them."""
    environment = page_environment()
    environment.filters |= {
        "number": number,
        "signed": signed,
        "moment": moment,
        "percent": percent,
        "p_value": p_value,
        "number_columns": number_columns,
        "kind": lambda block: type(block).__name__.lower(),
        "sentence": sentence_markup,
        "shown": shown_name,
        "heading": shown_heading,
        "breakable": breakable,
    }
    body = environment.get_template(template).render(
        chart=specs.place,
        style="".join(page_asset(name) for name in STYLES),
        **given,
    )
    # The charts are known once the page is made; what is drawn stands after it.
    tail = environment.get_template("scripts.html.j2").render(
        specs=specs.specs,
        dark=DARK,
        vega=vega_bundle() if specs.specs else "",
        script="".join(page_asset(name) for name in _SCRIPTS),
    )
    return body.replace("</body>", f"{tail}</body>", 1)


class _Specs:
    """The page's charts, each drawn once however often it is asked for."""

    def __init__(self, colours: Colours) -> None:
        self.colours = colours
        self.specs: list[dict[str, Any]] = []

    def place(self, figure: Figure) -> int:
        """The number of the figure's specification."""
        self.specs.append(self.colours.applied(figure.spec))
        return len(self.specs) - 1


def _anchors(sections: Sequence[Section]) -> set[str]:
    """Every id that a link can point to."""
    blocks: list[Block] = [block for section in sections for block in section.walk()]
    inside = {block.id for block in blocks if hasattr(block, "id")}
    return inside | {section.id for section in sections}


def shown_name(value: object) -> object:
    """The value of a cell; the respondent `human` is shown as people."""
    return SHOWN_PEOPLE if value == PEOPLE else value


def shown_heading(name: str) -> str:
    """The heading of a column; `human` at its end is shown as people: `predicted as people`."""
    return re.sub(rf"\b{PEOPLE}$", SHOWN_PEOPLE, name)


def breakable(value: object) -> Markup:
    """The name with places where a narrow cell can break it; never within numbers such as 9/24."""
    text = str(escape(value))
    return Markup(re.sub(r"(?<=[_/:])(?=[^\W\d])", "<wbr>", text))  # noqa: S704 - escaped above


def sentence_markup(sentence: str) -> Markup:
    """The sentence with commands as code, and figures that a line's end does not part."""
    text = str(escape(sentence))
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\bn = (?=\d)", "n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}", text)
    text = re.sub(r"(\[[+−\d.]+%?,) (?=[+−\d.]+%?\])", "\\1\N{NO-BREAK SPACE}", text)
    return Markup(text)  # noqa: S704 - escaped above


def number_columns(rows: Sequence[Mapping[str, object]]) -> set[str]:
    """The names of the columns whose cells are all numbers, intervals or nothing."""
    return {
        name
        for name in (rows[0] if rows else ())
        if all(_is_number(str(row[name])) for row in rows if row[name] is not None)
    }


def _is_number(cell: str) -> bool:
    """Whether it begins like a number and is no phrase, such as `12 replies by 3 people`."""
    return bool(_NUMBER.match(cell)) and len(_LETTERS.findall(cell)) < 2
