"""A result as a notebook shows it: conclusions, caveats, its table, and what else it holds."""

from __future__ import annotations

from html import escape
from typing import Any

import polars as pl

from empathylab.report.figures import parts, result_figures

_MOST_ROWS = 10
_MOST_COLUMNS = 12


def result_html(result: Any) -> str:
    """The result as HTML, without scripts or styles of its own."""
    conclusions = [escape(str(conclusion)) for conclusion in result.conclusions]
    caveats = [escape(caveat) for caveat in result.caveats]
    shown = [f"<p><strong>{escape(type(result).__name__)}</strong></p>"]
    shown += [_list(conclusions)] if conclusions else [frame_html(result.to_frame())]
    if caveats:
        shown.append(f"<p>Caveats</p>{_list(caveats)}")
    charts = [figure.name for part in parts(result) for figure in result_figures(part)]
    offers = {".tables": list(result.tables), ".plot()": list(dict.fromkeys(charts))}
    shown += [
        f"<p><code>{name}</code>: {escape(', '.join(names))}</p>"
        for name, names in offers.items()
        if names
    ]
    return f"<div>{''.join(shown)}</div>"


def frame_html(frame: pl.DataFrame) -> str:
    """The first rows and columns of a frame as a table."""
    names = frame.columns[:_MOST_COLUMNS]
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row) + "</tr>"
        for row in frame.select(names).head(_MOST_ROWS).iter_rows()
    )
    size = f"{frame.height:,} rows, {frame.width} columns"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table><p>{size}</p>"


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _list(items: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"
