"""How long a page takes, roughly: for planning and for the time one tells people beforehand.

Reading: 238 words a minute, the mean for silent reading of English non-fiction by adults
(Brysbaert, M. (2019). How many words do we read per minute? A review and meta-analysis of reading
rate. Journal of Memory and Language, 109, 104047). The seconds per answer are assumptions of this
project, measured on nobody: pilot the study before you promise a time.
"""

from __future__ import annotations

from empathylab.study.blocks.pages import INPUTS, PageContent
from empathylab.words import count_words

WORDS_PER_MINUTE = 238
SECONDS_OPTIONAL = 10.0
"""For free words that need not be given; most people leave them out."""
SECONDS_PER_PAGE = 2.0
"""For turning the page."""


def words_on(page: PageContent) -> int:
    """The words to read on the page; options repeated with every question count once."""
    texts = [page.text, *(part.text for part in page.parts), *(ask.label for ask in page.asks)]
    texts += [row.label for ask in page.asks for row in ask.rows]
    options = {tuple(option.label for option in ask.options) for ask in page.asks}
    texts += [label for labels in options for label in labels]
    return sum(map(count_words, texts))


def page_seconds(page: PageContent, writing_words: int = 0) -> float:
    """About how long the page takes; `writing_words` is the least that must be written."""
    reading = words_on(page) / WORDS_PER_MINUTE * 60
    answering = sum(
        ask.parts * INPUTS[ask.kind].seconds
        if ask.required or ask.kind != "paragraph"
        else SECONDS_OPTIONAL
        for ask in page.asks
    )
    # People compose text at about half a word a second; an assumption like the others.
    return SECONDS_PER_PAGE + max(reading, page.least_seconds) + max(answering, 2 * writing_words)
