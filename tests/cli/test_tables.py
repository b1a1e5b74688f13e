"""Tables on stdout: no name and no heading is cut off, however narrow the terminal."""

from __future__ import annotations

import sys

import pytest

from empathylab.cli.tables import print_rows

NAME = "together/meta-llama/Llama-3.3-70B-Instruct-Turbo"
ROWS = [{"provider": NAME, "last_answer": "2026-11-16", "instrument": "panas (version 1)"}] * 2


@pytest.mark.parametrize(("terminal", "lines"), [(False, 3), (True, 6)])
def test_a_table_too_wide_for_the_terminal_is_a_line_per_value(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    terminal: bool,
    lines: int,
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
    print_rows(ROWS)
    out = capsys.readouterr().out
    assert len(out.splitlines()) == lines
    assert out.count(NAME) == 2
    assert "last answer" in out
    assert "…" not in out


def test_a_table_that_fits_stays_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    print_rows(ROWS)
    assert len(capsys.readouterr().out.splitlines()) == 3
