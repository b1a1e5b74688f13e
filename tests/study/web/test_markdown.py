"""The study's texts as safe HTML."""

from __future__ import annotations

import pytest

from empathylab.study.web.markdown import block_html, inline_html


def test_raw_html_is_shown_as_it_is_written() -> None:
    shown = block_html("<script>alert(1)</script> and <b onclick=x>bold</b>")
    assert "<script" not in shown
    assert "<b" not in shown
    assert "&lt;script&gt;" in shown


@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "vbscript:x"])
def test_a_link_cannot_run_anything(address: str) -> None:
    assert "href" not in block_html(f"[here]({address})")


def test_a_link_opens_beside_the_study() -> None:
    shown = inline_html("[help](https://help.test)")
    assert shown == (
        '<a href="https://help.test" target="_blank" rel="noopener noreferrer">help</a>'
    )


def test_a_picture_is_not_fetched() -> None:
    assert "<img" not in block_html("![x](https://elsewhere.test/pixel.png)")


def test_the_page_keeps_its_one_first_heading() -> None:
    assert block_html("# Big\n\n## Small") == "<h2>Big</h2>\n<h2>Small</h2>\n"
