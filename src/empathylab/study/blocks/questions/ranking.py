"""Ranking: all options in the order of the participant's preference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from empathylab.study.blocks.forms import FormReader, is_whole
from empathylab.study.blocks.questions.interface import PartsQuestion


class RankingQuestion(PartsQuestion):
    """All options in order, the first in place 1."""

    kind: Literal["ranking"]

    input: ClassVar = "ranking"

    def read(self, form: FormReader) -> None:
        """Every option in a place of its own."""
        given = form.parts(self.name, self.values)
        if given is None or (not given and not self.required):
            return
        places = range(1, len(self.options) + 1)
        if any(not is_whole(place) or int(place) not in places for place in given.values()):
            form.refuse(self.name, "not-an-option")
            return
        ranks = {value: int(given[value]) for value in self.values if value in given}
        if ranks:
            form.values[self.name] = ranks
        if len(set(ranks.values())) < len(ranks):
            form.refuse(self.name, "same-place")
        elif not ranks:
            form.refuse(self.name, "missing")
        elif len(ranks) < len(self.options):
            form.refuse(self.name, "unranked")

    def parts(self, value: Any) -> Mapping[str, Any]:
        """The place of each option."""
        return dict(value)

    @property
    def part_values(self) -> tuple[str, str]:
        """The ranks."""
        return " Rank (1 = first) of:", f"1 to {len(self.options)}"
