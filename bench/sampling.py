"""Drawing 2,000 of 25,000 conversations, balanced, with every rule in force.

Prints `name value` lines: seconds for a draw over emotions and for one over emotions and length
bands, how much the counts per value differ, and how many each rule left out. The texts are made up
of invented words, with one conversation in fifty repeated with a word changed.
Left out: reading the conversations and storing the draw (see dialogues.py).
"""

from __future__ import annotations

import dataclasses
import time

from dialogues import Words
from empathylab.situations import DIALOGUE_EMOTIONS, Situation, SituationSet
from empathylab.situations.sampling.draws import draw

CONVERSATIONS = 25_000
COUNT = 2_000
BALANCES = {"emotions": ("emotion",), "emotions_and_lengths": ("emotion", "length")}


def made_up() -> SituationSet:
    words = Words(1)
    found: list[Situation] = []
    for number in range(CONVERSATIONS):
        if number % 50 == 49:
            copy = found[number - 7]
            text = f"{copy.text} indeed"
            found.append(dataclasses.replace(copy, id=f"conv-{number}", text=text))
            continue
        emotion = words.random.choices(DIALOGUE_EMOTIONS, range(20, 52))[0]
        said = words.sentence(2, 32)
        found.append(Situation(f"conv-{number}", words.sentence(), emotion, utterance=said))
    return SituationSet("made-up", 1, "Made up", "en", "CC0", False, "", tuple(found))


def main() -> None:
    situations = made_up()
    for name, balance in BALANCES.items():
        begun = time.perf_counter()
        drawn = draw(situations, COUNT, seed=1, balance=balance)
        print(f"{name}_seconds {time.perf_counter() - begun:.2f}")
        for one, counts in drawn.counts.items():
            print(f"{name}_{one}_spread {max(counts.values()) - min(counts.values())}")
    for reason, count in drawn.excluded.items():
        print(f"excluded_{reason.replace(' ', '_')} {count}")


if __name__ == "__main__":
    main()
