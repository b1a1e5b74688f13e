"""How many words a text has: the one count for lengths, limits, strata and reading times.

`style` cuts texts into words for its features, and the checks on replies cut them into tokens to
find repetition; those cuts are finer and take single characters.
"""

from __future__ import annotations

import re

# Thai, Lao, Burmese, Khmer, Kana and Han: scripts that put no spaces between words.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")


def count_words(text: str) -> int:
    """The number of words: what stands between spaces, as `wc -w` counts.

    In scripts without spaces two characters count as one word, which is near the mean length of
    a Chinese word in running text.
    """
    runs = _UNSPACED.findall(text)
    if not runs:
        return len(text.split())
    others = [piece for piece in _UNSPACED.sub(" ", text).split() if any(map(str.isalnum, piece))]
    return len(others) + sum((len(run) + 1) // 2 for run in runs)
