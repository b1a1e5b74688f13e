"""The chart script and its cache."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest
import vl_convert

from empathylab.report.vega import vega_bundle


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _name: tmp_path / "cache")
    return tmp_path / "cache"


def test_the_script_is_kept_and_read_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = vega_bundle()
    assert "vegaEmbed" in made
    monkeypatch.delattr(vl_convert, "javascript_bundle")
    assert vega_bundle() == made


def test_half_a_script_is_made_anew(cache: Path) -> None:
    made = vega_bundle()
    [file] = cache.iterdir()
    file.write_text(made[:1000])
    assert vega_bundle() == made


def test_a_cache_that_cannot_be_written_is_done_without(cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    assert "vegaEmbed" in vega_bundle()
