"""How the answer parser's time grows with the length of an answer, on texts made to be hard.

Prints `name value` lines: seconds for the longest text that is read, and how often longer ten
times the text takes (10 is linear).
Left out: answers over 100,000 characters, which are not read at all.
"""

from __future__ import annotations

import time

from empathylab.scales import builtin_scale, item_order, parse_answer

PIECES = {
    "digits": "1 2 3 ",
    "labels": "1 = extremely ",
    "lines": "1. Interested\n",
    "brackets": "{[",
    "prose": "It was a long day, and then another. ",
}


def seconds(text: str) -> float:
    scale = builtin_scale("panas")
    begun = time.perf_counter()
    parse_answer(text, scale, item_order(scale, 1, 0))
    return time.perf_counter() - begun


def main() -> None:
    for name, piece in PIECES.items():
        short = (piece * 10_000)[:10_000]
        long = (piece * 100_000)[:100_000]
        first, second = seconds(short), seconds(long)
        print(f"{name}_seconds {second:.2f}")
        print(f"{name}_growth_10x {second / first:.1f}")


if __name__ == "__main__":
    main()
