"""Whether a text is in English, by its most common small words."""

from __future__ import annotations

import polars as pl

from empathylab.style.text.tokens import word_lists

_ENGLISH_WORDS = """
the of and to is it that you i was for on are with as his they be at this have from had by but not
what all were we when your can there an which she do how their if would her him has my so about just
like get been who its no me did them out up he or will i'm it's that's you're don't i've can't
didn't sorry hope great good thanks know feel really very too some yes yeah oh wow congratulations
am could should must here a in
"""
# German, French, Spanish, Italian, Portuguese and Dutch.
_OTHER_WORDS = """
der das und ist nicht ich du sie wir ihr mir mich dir dich ein eine einen auch auf mit für den dem
sich aber wie bei oder wenn noch nur sehr schon war hast bist leid tut
le la les des est et pas je tu il elle nous vous que qui dans pour sur avec une mais c'est j'ai suis
très tout votre ton
el los las que en por para con una pero muy más es está lo siento mucho eres te y
che di non sono mi ti si per come più molto della dispiace è hai ho
o os um uma não você muito sinto isso seu sua eu com mais
het een van niet ik je zijn dat met voor maar heel wat jij ook
"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_OTHERS = frozenset(_OTHER_WORDS.split()) - _ENGLISH
_LETTERS = r"\p{L}"
_LATIN = r"\p{Latin}"
_MANY = 6


def english(texts: pl.Series) -> pl.Series:
    """Whether each text may be in English.

    Texts mostly in another script are not, nor are those with more small words of other European
    languages than English ones, nor those of six words or more without a single English small word.
    Shorter texts in Latin script get the benefit of the doubt, and so do texts without letters.
    """
    given = texts.cast(pl.String).fill_null("")
    words = word_lists(given)
    frame = pl.DataFrame({"text": given, "words": words}).select(
        latin=pl.col("text").str.count_matches(_LATIN) * 2
        >= pl.col("text").str.count_matches(_LETTERS),
        size=pl.col("words").list.len(),
        own=_count(_ENGLISH),
        foreign=_count(_OTHERS),
    )
    return frame.select(
        english=pl.col("latin")
        & (pl.col("own") >= pl.col("foreign"))
        & ((pl.col("own") > 0) | (pl.col("size") < _MANY))
    )["english"]


def _count(listed: frozenset[str]) -> pl.Expr:
    return pl.col("words").list.eval(pl.element().is_in(sorted(listed)).cast(pl.Int64)).list.sum()
