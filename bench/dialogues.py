"""Importing 25,000 conversations from an archive in EmpatheticDialogues' format.

Prints `name value` lines: rows and megabytes of the archive, seconds to read and to store it, all
together, seconds for importing it again, and the process's greatest memory. The texts are made up
of invented words; as in the published archive, the rows of valid and test carry a hundred
candidates, and some rows are broken.
Left out: PostgreSQL, and the published archive itself, which is not here.
"""

from __future__ import annotations

import io
import random
import resource
import tarfile
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from empathylab.situations.emotions import DIALOGUE_EMOTIONS
from empathylab.situations.sources.empatheticdialogues import read_dialogues
from empathylab.store import Lab
from empathylab.store.imports.releases import content_hash, import_release

CONVERSATIONS = {"train": 19_500, "valid": 2_800, "test": 2_700}
HEADER = "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags\n"
SYLLABLES = "ba de fi go hu ka le mi no pu ra se ti vo wa ze".split()  # noqa: SIM905
CANDIDATES = 100


class Words:
    """Sentences of invented words, some of which are far more frequent than others."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.words = ["".join(self.random.choices(SYLLABLES, k=1 + n % 3)) for n in range(12_000)]
        self.weights = list(accumulate(1 / (n + 3) for n in range(len(self.words))))

    def sentence(self, least: int = 6, most: int = 32) -> str:
        count = self.random.randint(least, most)
        text = " ".join(self.random.choices(self.words, cum_weights=self.weights, k=count))
        return text.replace(" ba ", "_comma_ ", 1) + "."


def rows(split: str, count: int, words: Words) -> Iterator[str]:
    pool = [words.sentence() for _ in range(1_000)] if split != "train" else []
    for number in range(count):
        emotion = words.random.choices(DIALOGUE_EMOTIONS, range(20, 52))[0]
        prompt = words.sentence()
        key = f"hit:{number}_conv:{split}{number}"
        for turn in range(1, words.random.choice((4, 4, 4, 4, 4, 5, 5)) + 1):
            listener = turn % 2 == 0
            extra = f",{'|'.join(words.random.choices(pool, k=CANDIDATES))}" if pool else ""
            line = (
                f"{key},{turn},{emotion},{prompt},{number + listener},{words.sentence()},"
                f"5|5|5_4|4|4,{extra if listener else ''}\n"
            )
            yield line
    yield f"hit:{count}_conv:{split}broken,1,sad,one, two, three,7,too many cells,5|5|5,,,\n"


def make_archive(path: Path, seed: int = 1) -> int:
    """How many rows the archive at the path has got."""
    words, total = Words(seed), 0
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for split, count in CONVERSATIONS.items():
            with tempfile.TemporaryFile() as file:
                file.write(HEADER.encode())
                for line in rows(split, count, words):
                    file.write(line.encode())
                    total += 1
                member = tarfile.TarInfo(f"empatheticdialogues/{split}.csv")
                member.size = file.tell()
                file.seek(0)
                archive.addfile(member, io.BufferedReader(file))  # type: ignore[type-var]
    return total


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "empatheticdialogues.tar.gz"
        print(f"rows {make_archive(path)}")
        print(f"archive_mb {path.stat().st_size / 1e6:.1f}")
        with Lab.open(Path(place) / "lab") as lab:
            for name in ("first", "again"):
                begun = time.perf_counter()
                release = read_dialogues(path)
                read = time.perf_counter()
                done = import_release(
                    lab,
                    release,
                    kind="empatheticdialogues",
                    source=path.name,
                    fingerprint=content_hash(release),
                )
                ended = time.perf_counter()
                if name == "first":
                    print(f"conversations {len(release.situation_set)}")
                    print(f"read_seconds {read - begun:.2f}")
                    print(f"store_seconds {ended - read:.2f}")
                print(f"{name}_seconds {ended - begun:.2f}")
                assert (done.change == "added") == (name == "first")
    print(f"peak_mb {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}")


if __name__ == "__main__":
    main()
