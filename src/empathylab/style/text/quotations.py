"""Quoted passages, and those inside others.

A pair of straight marks is one passage; so is every opening curly mark. Single marks are also
apostrophes: they count where one opens before a word (but for `'em`, `'cause` …) and one closes
behind a word.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from empathylab.stats.arrays import Numbers
from empathylab.style.text.marks import counted, counted_all
from empathylab.style.text.segments import Codes

_PATTERNS = {
    "straight": '["＂]',
    "curly": "[“‟]",
    "low": "„",
    "guillemets": "[«»‹›]",
    "corners": "[「『]",
    "clipped": r"^['‘’](?i:cause|em|til|till|tis|twas|bout|n|round|cos|coz)\b",
    "single_opens": r"^[(\"“„«\[*_—]*['‘]\p{L}|[—(\"“]['‘]\p{L}",
    "single_closes": r"[\p{L}\p{N}.,!?…]['’][)\"”».,;:!?…\]*_—]*$",
}
_OUTER = r"“[^“”]*”|\"[^\"]*\"|«[^«»]*»|„[^„“”]*[“”]"
_INNER = r"[\s“\"«„(—]['‘]\p{L}[^“”\"«»]*?[\p{L}\p{N}.,!?…]['’](?:[\s“”\"».,;:!?)—]|$)"
_CORNERED = "「[^」]*『"


def quotation_columns(pieces: pl.Series) -> dict[str, Numbers]:
    """For each piece, its quotation marks of each kind."""
    return counted_all(pieces, {f"_{name}": pattern for name, pattern in _PATTERNS.items()})


def quotation_counts(texts: pl.Series, totals: Mapping[str, Codes]) -> dict[str, Numbers]:
    """For each text, its quoted passages and those inside others, from its totals of marks."""
    opens = totals["_single_opens"] - np.minimum(totals["_clipped"], totals["_single_opens"])
    singles = np.minimum(opens, totals["_single_closes"])
    # “ closes what „ has opened.
    doubles = (
        totals["_straight"] // 2
        + np.maximum(totals["_curly"], totals["_low"])
        + totals["_guillemets"] // 2
    )
    nested = np.zeros(len(texts), dtype=np.int64)
    places = np.flatnonzero(((doubles > 0) & (singles > 0)) | (totals["_corners"] > 1))
    perhaps = texts.gather(places)
    passages = perhaps.str.extract_all(_OUTER).list.join("\n")
    nested[places] = counted(passages, _INNER) + counted(perhaps, _CORNERED)
    return {
        "quotations": doubles + singles + totals["_corners"],
        "nested_quotations": nested,
    }
