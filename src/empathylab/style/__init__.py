"""How respondents write, on plain frames; it knows no lab, no model and no web."""

from empathylab.style.catalogue import FEATURES, Feature
from empathylab.style.dic import read_dic
from empathylab.style.diversity import Diversity, diversity
from empathylab.style.emoji import emoji_counts, emoji_lists
from empathylab.style.features import features
from empathylab.style.lexicons import (
    Entry,
    Lexicon,
    builtin_lexicons,
    read_lexicon,
    read_lexicons,
    read_word_list,
    word_list,
    write_builtin_lists,
)
from empathylab.style.marks import MARKS
from empathylab.style.profiles import Figure, Profile, profile_table, profiles
from empathylab.style.sentiment import sentiment_missing, sentiment_scores
from empathylab.style.tokens import (
    mended,
    sentence_lists,
    sentences,
    text_series,
    word_lists,
    words,
)

__all__ = [
    "FEATURES",
    "MARKS",
    "Diversity",
    "Entry",
    "Feature",
    "Figure",
    "Lexicon",
    "Profile",
    "builtin_lexicons",
    "diversity",
    "emoji_counts",
    "emoji_lists",
    "features",
    "mended",
    "profile_table",
    "profiles",
    "read_dic",
    "read_lexicon",
    "read_lexicons",
    "read_word_list",
    "sentence_lists",
    "sentences",
    "sentiment_missing",
    "sentiment_scores",
    "text_series",
    "word_list",
    "word_lists",
    "words",
    "write_builtin_lists",
]
