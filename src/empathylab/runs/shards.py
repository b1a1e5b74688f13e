"""A run divided between several machines that share one lab."""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from empathylab.errors import InputError
from empathylab.runs.plans import Pending


class Shard(NamedTuple):
    """One of the parts of a run."""

    number: int = 1
    parts: int = 1

    @classmethod
    def read(cls, text: str) -> Shard:
        """The shard in a text such as 3/8."""
        numbers = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        if numbers is None or not 1 <= int(numbers[1]) <= int(numbers[2]):
            raise InputError(
                "a shard must be NUMBER/TOTAL with a number from 1 to the total, such as 3/8",
                where="--shard",
                got=text,
                remedy="For example, run eight commands with 1/8 to 8/8.",
            )
        return cls(int(numbers[1]), int(numbers[2]))

    def holds(self, pending: Pending) -> bool:
        """Whether the request is of this part; what follows from it is, too."""
        first = pending.thread[0].request if pending.thread else pending.request
        digest = hashlib.sha256(first.first_key.encode()).digest()
        return int.from_bytes(digest[:8]) % self.parts == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"


WHOLE = Shard()
