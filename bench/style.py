"""How fast style features are, against the plain-Python `liwc` package, and how they grow.

Prints `name value` lines. Over 100,000 made-up responses of 30 words and a .dic of 1,000 entries in
40 categories: every counting feature of `features`, readability included, against `liwc`, which
counts the categories of the same .dic and nothing else, in the way its documentation shows: a
generator finds the words by a pattern, and each is looked up. Wall clock, the best of several runs
that alternate, so that a busy machine slows both. Reading the .dic is left out on both sides.
`features` uses the cores there are (`cores`), `liwc` one.

`speedup_over_liwc` compares the two; `speedup_one_thread` is the processor time of both, all cores
together; `speedup_with_diversity` is by wall clock, with MATTR and MTLD. `growth_10x` is from
100,000 to 1,000,000 other responses (10 is linear; the median of three). `peak_mb` is the most
memory the process held, with the million texts and their table of features; `working_mb` is what
the million added, of which `table_mb` is the table that comes back.
Left out: sentiment (VADER takes about a second for 10,000 responses).
"""

from __future__ import annotations

import itertools
import os
import random
import re
import resource
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import polars as pl

from empathylab.style import features, read_lexicon

RESPONSES, WORDS, ENTRIES, CATEGORIES, ROUNDS = 100_000, 30, 1_000, 40, 5
OPENINGS = (
    "I'm so sorry,",
    "I understand.",
    "Thank you!",
    "Have you tried",
    "Well...",
    "**Note:**",
    "Oh no!\n\nThat's",
    "It's okay, don't",
)
CLOSINGS = (
    "😀",
    "👍🏽 :)",
    "Are you okay?",
    "— take care!",
    "(maybe)",
    "You should talk to them.",
    '"we can\'t"',
    "You’ve got this! 💛",
)


class Seconds(NamedTuple):
    """How long something took."""

    wall: float
    processor: float


def vocabulary(source: random.Random, size: int = 20_000) -> list[str]:
    syllables = ["".join(pair) for pair in itertools.product("bdfgklmnprstvz", "aeiou")]
    made = {"".join(source.choices(syllables, k=source.randint(1, 4))) for _ in range(2 * size)}
    words = sorted(made)
    source.shuffle(words)
    return [word + "'s" if source.random() < 0.03 else word for word in words[:size]]


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


def tokenize(text: str) -> Iterator[str]:
    for match in re.finditer(r"\w+", text, re.UNICODE):
        yield match.group(0)


def liwc_counts(parse: Callable[[str], Iterator[str]], texts: list[str]) -> list[Counter[str]]:
    return [
        Counter(category for token in tokenize(text.lower()) for category in parse(token))
        for text in texts
    ]


def parser(path: Path) -> Callable[[str], Iterator[str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import liwc
    parse: Callable[[str], Iterator[str]] = liwc.load_token_parser(str(path))[0]
    return parse


def timed(work: Callable[[], object]) -> Seconds:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - wall, time.process_time() - processor)


def least(runs: list[Seconds]) -> Seconds:
    return Seconds(min(run.wall for run in runs), min(run.processor for run in runs))


def frame_of(texts: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"respondent": "model", "situation": range(len(texts)), "text": texts})


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    source = random.Random(7)
    words = vocabulary(source)
    texts = responses(source, words, RESPONSES)
    frame = frame_of(texts)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.dic"
        dictionary(source, words, path)
        parse, lexicons = parser(path), [read_lexicon(path)]

    def ours(frame: pl.DataFrame, *, diversity: bool = False) -> pl.DataFrame:
        return features(frame, lexicons=lexicons, sentiment=False, diversity=diversity)

    ours(frame.head(1_000))
    theirs, own = [], []
    for _ in range(ROUNDS):
        theirs.append(timed(lambda: liwc_counts(parse, texts)))
        own.append(timed(lambda: ours(frame)))
    liwc, fast = least(theirs), least(own)
    print(f"cores {os.cpu_count()}")
    print(f"liwc_seconds {liwc.wall:.2f}")
    print(f"features_seconds {fast.wall:.3f}")
    print(f"features_processor_seconds {fast.processor:.3f}")
    print(f"speedup_over_liwc {liwc.wall / fast.wall:.1f}")
    print(f"speedup_one_thread {liwc.processor / fast.processor:.1f}")
    more = least([timed(lambda: ours(frame, diversity=True)) for _ in range(3)])
    print(f"speedup_with_diversity {liwc.wall / more.wall:.1f}")
    million = pl.concat(
        frame_of(responses(source, words, RESPONSES)).with_columns(
            pl.col("situation") + part * RESPONSES
        )
        for part in range(10)
    )
    held = peak_mb()
    growth = []
    for _ in range(3):
        short = median(timed(lambda: ours(frame)).wall for _ in range(3))
        growth.append(timed(lambda: ours(million)).wall / short)
    print(f"growth_10x {median(growth):.1f}")
    print(f"peak_mb {peak_mb():.0f}")
    print(f"working_mb {peak_mb() - held:.0f}")
    print(f"table_mb {ours(million.head(1_000)).estimated_size() * 1_000 / 2**20:.0f}")
    print("left_out sentiment, reading the .dic")


if __name__ == "__main__":
    main()
