"""How fast style features are, against the plain-Python `liwc` package, and how they grow.

Prints `name value` lines. Over 100,000 made-up responses of 30 words and a .dic of 1,000 entries in
40 categories: every counting feature of `features`, readability included, against `liwc`, which
counts the categories of the same .dic and nothing else, in the way its documentation shows (a
pattern finds the words, each is looked up). Reading the .dic is left out on both sides.

`speedup_over_liwc` compares the two; `speedup_with_diversity` is the same with MATTR and MTLD, and
`speedup_over_lookup` leaves out the time in which liwc's words are found. `growth_10x` is from
100,000 to 1,000,000 responses (10 is linear). `peak_mb` is the most memory the process held, with
the million texts and their table of features; `working_mb` is what the million added.
Left out: sentiment (VADER takes about a second for 10,000 responses).
"""

from __future__ import annotations

import itertools
import random
import re
import resource
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import polars as pl

from empathylab.style import features, read_lexicon

RESPONSES, WORDS, ENTRIES, CATEGORIES = 100_000, 30, 1_000, 40
OPENINGS = (
    "I'm so sorry,",
    "I understand.",
    "Thank you!",
    "Have you tried",
    "Well...",
    "**Note:**",
)
CLOSINGS = ("😀", "👍🏽 :)", "Are you okay?", "— take care!", "(maybe)", "You should talk to them.")


def vocabulary(source: random.Random, size: int = 20_000) -> list[str]:
    syllables = ["".join(pair) for pair in itertools.product("bdfgklmnprstvz", "aeiou")]
    made = {"".join(source.choices(syllables, k=source.randint(1, 4))) for _ in range(2 * size)}
    return sorted(made)[:size]


def responses(source: random.Random, words: list[str], count: int) -> list[str]:
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
    made = []
    for _ in range(count):
        chosen = source.choices(words, cum_weights=weights, k=WORDS)
        chosen[9] += "."
        chosen[10] = chosen[10].capitalize()
        chosen[19] += ","
        opening, closing = source.choice(OPENINGS), source.choice(CLOSINGS)
        inside = chosen[: WORDS - len(opening.split()) - len(closing.split())]
        made.append(" ".join([opening, *inside, closing]))
    return made


def dictionary(source: random.Random, words: list[str], path: Path) -> None:
    lines = ["%", *(f"{number}\tcategory{number}" for number in range(1, CATEGORIES + 1)), "%"]
    entries = {word[:4] + "*" if source.random() < 0.4 else word for word in words[:2_000]}
    for entry in sorted(entries)[:ENTRIES]:
        numbers = sorted(source.sample(range(1, CATEGORIES + 1), source.randint(1, 4)))
        lines.append("\t".join([entry, *map(str, numbers)]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def liwc_seconds(path: Path, texts: list[str]) -> tuple[float, float]:
    """Seconds to find the words and seconds to look them up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import liwc
    parse, _ = liwc.load_token_parser(str(path))
    word = re.compile(r"\w+")
    begun = time.perf_counter()
    cut = [[found[0] for found in word.finditer(text.lower())] for text in texts]
    between = time.perf_counter()
    counts = [Counter(category for token in tokens for category in parse(token)) for tokens in cut]
    assert len(counts) == len(texts)
    return between - begun, time.perf_counter() - between


def feature_seconds(frame: pl.DataFrame, path: Path, *, diversity: bool = False) -> float:
    lexicons = [read_lexicon(path)]
    begun = time.perf_counter()
    table = features(frame, lexicons=lexicons, sentiment=False, diversity=diversity)
    seconds = time.perf_counter() - begun
    assert table.height == frame.height
    assert table.width > 100
    return seconds


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    source = random.Random(7)
    words = vocabulary(source)
    texts = responses(source, words, RESPONSES)
    frame = pl.DataFrame({"respondent": "model", "situation": range(RESPONSES), "text": texts})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.dic"
        dictionary(source, words, path)
        finding, looking = liwc_seconds(path, texts)
        feature_seconds(frame.head(1_000), path)
        ours = min(feature_seconds(frame, path) for _ in range(3))
        print(f"liwc_seconds {finding + looking:.2f}")
        print(f"features_seconds {ours:.2f}")
        print(f"speedup_over_liwc {(finding + looking) / ours:.1f}")
        print(f"speedup_over_lookup {looking / ours:.1f}")
        more = min(feature_seconds(frame, path, diversity=True) for _ in range(3))
        print(f"speedup_with_diversity {(finding + looking) / more:.1f}")
        del texts
        million = pl.concat([frame] * 10)
        held = peak_mb()
        longer = feature_seconds(million, path)
        print(f"growth_10x {longer / ours:.1f}")
        print(f"peak_mb {peak_mb():.0f}")
        print(f"working_mb {peak_mb() - held:.0f}")


if __name__ == "__main__":
    main()
