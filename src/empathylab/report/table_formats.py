"""Rows as tables for a paper or a spreadsheet: Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from empathylab.errors import UnknownName
from empathylab.tables import harmless_cell

Row = Mapping[str, Any]

_NUMBER = re.compile(r"[+\-−]?[\d.,]+(e[+\-]?\d+)?%?", re.IGNORECASE)
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"\textbar{}",
    "−": r"$-$",
    "–": "--",
    "×": r"$\times$",
    "χ": r"$\chi$",
    "²": r"$^2$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "α": r"$\alpha$",
    "ε": r"$\varepsilon$",
    "κ": r"$\kappa$",
    "ρ": r"$\rho$",
    "ω": r"$\omega$",
    "→": r"$\rightarrow$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
}


def table(rows: Sequence[Row], style: str, *, caption: str = "", label: str = "") -> str:
    """The rows in one of the formats: markdown, latex or csv."""
    formats: dict[str, Callable[[], str]] = {
        "markdown": lambda: markdown_table(rows, caption=caption),
        "latex": lambda: latex_table(rows, caption=caption, label=label),
        "csv": lambda: csv_table(rows),
    }
    if style not in formats:
        raise UnknownName("table format", style, formats)
    return formats[style]()


def markdown_table(rows: Sequence[Row], *, caption: str = "") -> str:
    """A Markdown table, numbers to the right; empty where there are no rows."""
    columns = _columns(rows)
    if not columns:
        return ""
    rule = ["---:" if _numeric(rows, column) else ":---" for column in columns]
    lines = [[_markdown(column) for column in columns], rule]
    lines += [[_markdown(_cell(row.get(column))) for column in columns] for row in rows]
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
    return f"{_markdown(caption)}\n\n{body}" if caption else body


def latex_table(rows: Sequence[Row], *, caption: str = "", label: str = "") -> str:
    """A LaTeX table for the package booktabs, numbers to the right; empty without rows."""
    columns = _columns(rows)
    if not columns:
        return ""
    places = "".join("r" if _numeric(rows, column) else "l" for column in columns)
    lines = [_latex_line(columns), r"\midrule"]
    lines += [_latex_line([_cell(row.get(column)) for column in columns]) for row in rows]
    head = [r"\begin{table}", r"\centering"]
    if caption:
        head.append(rf"\caption{{{_latex(caption)}}}")
    if label:
        head.append(rf"\label{{{label}}}")
    head += [rf"\begin{{tabular}}{{{places}}}", r"\toprule"]
    return "\n".join([*head, *lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def csv_table(rows: Sequence[Row]) -> str:
    """CSV with a header; numbers unrounded, missing ones empty.

    Text that a spreadsheet would run as a formula gets an apostrophe in front: names of raters and
    arms come from strangers. A number, with or without its interval, stays as it is.
    """
    columns = _columns(rows)
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    if columns:
        writer.writerow([harmless_cell(column) for column in columns])
    for row in rows:
        writer.writerow([_csv_cell(row.get(column)) for column in columns])
    return written.getvalue()


def _columns(rows: Sequence[Row]) -> list[str]:
    """Every column of any row, in the order of first appearance."""
    return list(dict.fromkeys(column for row in rows for column in row))


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if _missing(value) else str(value)


def _numeric(rows: Sequence[Row], column: str) -> bool:
    """Every cell that is not empty reads as a number."""
    cells = [_cell(row.get(column)) for row in rows]
    shown = [cell for cell in cells if cell not in ("–", "")]
    return bool(shown) and all(
        _NUMBER.fullmatch(cell.removeprefix("< ").removeprefix("> ")) for cell in shown
    )


def _markdown(text: str) -> str:
    escaped = re.sub(r"([\\`*_|\[\]])", r"\\\1", " ".join(text.split()))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))


def _latex_line(cells: Sequence[str]) -> str:
    return " & ".join(_latex(cell) for cell in cells) + r" \\"


def _csv_cell(value: Any) -> str:
    if _missing(value):
        return ""
    if isinstance(value, (bool, int, float)):
        return str(value).lower() if isinstance(value, bool) else repr(value)
    return harmless_cell(str(value))
