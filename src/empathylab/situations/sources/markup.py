"""Texts from the web as a person reads them: without tags and entities."""

from __future__ import annotations

import html
import re

_BREAKS = "br|p|div|li|ul|ol|tr|h[1-6]|blockquote|hr"
_INLINE = "a|b|i|u|s|em|strong|span|font|small|big|sub|sup|code|img|center|strike|td|th|table|body"
# Only names that HTML has: a heart (<3) or <sigh> is what the person wrote.
_TAG = re.compile(rf"<\s*/?\s*(?:({_BREAKS})|{_INLINE})(?:\s[^<>]*)?/?\s*>", re.IGNORECASE)
_UNSEEN = re.compile(r"<\s*(script|style)\b.*?<\s*/\s*\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
# Entities without their semicolon are left alone: they may be part of an address.
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.IGNORECASE)


def without_markup(text: str) -> str:
    """The text without HTML's tags and scripts, and with its entities as characters."""
    if "<" in text:
        text = _UNSEEN.sub(" ", text)
        text = _TAG.sub(lambda tag: " " if tag[1] else "", text)
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text).replace("\xa0", " ")
    return text
