"""Markdown as safe HTML: raw HTML is shown as it is written, pictures are not fetched."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup


# The same texts are drawn for everybody.
@functools.lru_cache(maxsize=512)
def block_html(text: str) -> Markup:
    """The text as paragraphs, lists and headings."""
    return Markup(_reader().render(text))  # noqa: S704 - the reader escapes what it is given


@functools.lru_cache(maxsize=2048)
def inline_html(text: str) -> Markup:
    """The text as part of a line."""
    return Markup(_reader().renderInline(text))  # noqa: S704 - the reader escapes what it is given


@functools.cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "breaks": False}).disable("image")
    reader.add_render_rule("link_open", _link)
    reader.add_render_rule("heading_open", _heading)
    reader.add_render_rule("heading_close", _heading)
    return reader


def _link(
    renderer: RendererHTML, tokens: Sequence[Token], number: int, options: Any, env: Any
) -> str:
    """A link opens beside the study, which stays where it is."""
    tokens[number].attrSet("target", "_blank")
    tokens[number].attrSet("rel", "noopener noreferrer")
    return renderer.renderToken(tokens, number, options, env)


def _heading(
    renderer: RendererHTML, tokens: Sequence[Token], number: int, options: Any, env: Any
) -> str:
    """The page has its one first heading already."""
    if tokens[number].tag == "h1":
        tokens[number].tag = "h2"
    return renderer.renderToken(tokens, number, options, env)
