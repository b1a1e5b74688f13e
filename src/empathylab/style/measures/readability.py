"""Readability of English: syllables, Flesch's reading ease, the Flesch–Kincaid grade.

Syllables are counted by rule, not looked up: one for each group of vowels, less the silent endings
(`-e` unless `-le` follows a consonant, `-es` and `-ed` where they are not spoken), plus two vowels
that are two syllables (`ia`, `eo`, `-ying` …) and `-n't` after d or s; one at least. Against the
CMU Pronouncing Dictionary that is right for 99.6 % of the words in the responses of Welivita & Pu,
on which the rule was sharpened, and for 92 % of the dictionary's own words.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.stats.arrays import Numbers

_VOWELS = r"[aeiouyàáâãäåæèéêëìíîïòóôõöøœùúûüýÿ]+"
_SILENT = (
    r"[^aeiouylb\W]e\b|[^y]be\b|[aeiouy]le\b|que\b|[aeio]gue\b"
    r"|[^aeiouytd\W]ed\b|[^aeiouysxzcglh\W]es\b|[aeiouy]les\b|[^sc\W]hes\b"
    r"|[^aeiouy\W]e(?:ly|ments?|ful|fully|less|ness|some|where|ty)\b|\bsome[^dr\W]|\beveryt"
)
_APART = (
    r"[^ctgs]ia[^rg]|[^ctgs]ia\b|ciat|[^ctgxs]io[^u]|[^ctgxs]io\b|[rvnlbd]iou|[^aeiouy\W]ier\b"
    r"|[rd]ea\b|eo\b|eo[^up]|[aeiouy]ing|[ds]n't\b|[dt]'ve\b|\banyo|eali[tsz]|creat|react"
    r"|ua[tl]|uou|dial|poe[mt]|[^qg]uie|iet|[dr]ien[ct]|sm\b|oyal"
)
_LATIN = r"^[^\p{L}]*(?:\p{Latin}[^\p{L}]*)+$"


def syllable_counts(words: pl.Series) -> Numbers:
    """The syllables of each English word in lower case, by rule; one at least."""
    groups = words.str.count_matches(_VOWELS).cast(pl.Int64)
    silent = words.str.count_matches(_SILENT).cast(pl.Int64)
    hiatus = words.str.count_matches(_APART).cast(pl.Int64)
    syllables: Numbers = np.maximum((groups - silent + hiatus).to_numpy(), 1)
    return syllables


def in_latin_letters(words: pl.Series) -> Numbers:
    """1 for each word of Latin letters, 0 for others and for numbers."""
    flags: Numbers = words.str.contains(_LATIN).to_numpy().astype(np.int64)
    return flags


def flesch_reading_ease(
    words: Numbers, sentences: Numbers, syllables: Numbers
) -> NDArray[np.float64]:
    """Flesch's reading ease: about 100 for very easy English, 0 for very hard; NaN without words.

    206.835 − 1.015 · words/sentences − 84.6 · syllables/words. Made for running English text of
    100 words and more: for one short response it is noisy, and for other languages meaningless.

    Flesch, R. (1948). A new readability yardstick. Journal of Applied Psychology 32, 221–233.
    """
    length, density = _ratios(words, sentences, syllables)
    return 206.835 - 1.015 * length - 84.6 * density


def flesch_kincaid_grade(
    words: Numbers, sentences: Numbers, syllables: Numbers
) -> NDArray[np.float64]:
    """The US school grade that reads such English: 0.39 · words/sentences + 11.8 · syllables/words
    − 15.59; NaN without words.

    Kincaid, J. P., et al. (1975). Derivation of new readability formulas for Navy enlisted
    personnel. Research Branch Report 8-75, Naval Technical Training Command.
    """
    length, density = _ratios(words, sentences, syllables)
    return 0.39 * length + 11.8 * density - 15.59


def _ratios(
    words: Numbers, sentences: Numbers, syllables: Numbers
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    some = np.where(words > 0, words, np.nan)
    return some / np.where(sentences > 0, sentences, np.nan), syllables / some
