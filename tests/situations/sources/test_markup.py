"""Texts without HTML."""

from __future__ import annotations

import pytest

from empathylab.situations.sources.markup import without_markup


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("plain words", "plain words"),
        ("<p>One</p><p>Two</p>", " One  Two "),
        ("a <b>bold</b> <I>claim</I>", "a bold claim"),
        ('<a href="https://x.example/?a=1&b=2">here</a>', "here"),
        ("one<br/>two<BR>three", "one two three"),
        ("a<script>alert('x')</script>b<!-- c -->d", "a b d"),
        ("Tom &amp; Ann &#39;s &#x2014; &nbsp;x", "Tom & Ann 's —  x"),
    ],
)
def test_tags_and_entities_go(text: str, plain: str) -> None:
    assert without_markup(text) == plain


@pytest.mark.parametrize(
    "text", ["I <3 you", "<sigh> again", "3 < 4 and 5 > 4", "R&B; no, R&D", "AT&T", "a <- b"]
)
def test_what_a_person_wrote_stays(text: str) -> None:
    assert without_markup(text) == text
