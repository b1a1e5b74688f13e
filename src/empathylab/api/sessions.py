"""What became of the requests of a call: how many, which failed, and what to do about it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Any

from empathylab.errors import BudgetReached, IncompleteRun, LeftToShards

if TYPE_CHECKING:
    from empathylab.api.run_options import RunOptions
    from empathylab.runs import Tally


@dataclasses.dataclass(frozen=True, slots=True)
class Sessions:
    """The tallies of a call's runs."""

    tallies: tuple[Tally, ...]
    options: RunOptions

    @property
    def missing(self) -> int:
        """Requests without an answer; the same call asks them again."""
        return sum(tally.missing for tally in self.tallies)

    @property
    def runs(self) -> tuple[int, ...]:
        """The numbers of the runs in the lab."""
        return tuple(tally.run for tally in self.tallies if tally.run is not None)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that were asked."""
        return tuple(dict.fromkeys(tally.model for tally in self.tallies))

    def notes(self) -> list[str]:
        """How the settings affected the answers, and which requests got none."""
        from empathylab.runs.plans import CUT_OFF

        adjusted = {tally.model: tally.adjusted for tally in self.tallies if tally.adjusted}
        caveats = [
            f"{model} refused settings, so the requests were changed: {changes}."
            for model, changes in adjusted.items()
        ]
        cut_off = sum(tally.outcomes[CUT_OFF] for tally in self.tallies)
        if cut_off:
            caveats.append(
                f"{cut_off} answers were cut off while the model was reasoning. "
                "Set --max-tokens higher, or --reasoning-effort low."
            )
        return caveats

    def problem(self) -> BudgetReached | IncompleteRun | None:
        """Why requests have no answer; None if all have one."""
        capped = dict.fromkeys(tally.model for tally in self.tallies if tally.stopped == "cap")
        if capped:
            by_cost = self.options.max_cost is not None
            return BudgetReached(
                f"the limit stopped the run of {', '.join(capped)} with {self.missing} requests "
                "left",
                where="--max-cost" if by_cost else "--max-total-tokens",
                got=self.options.max_cost if by_cost else self.options.max_total_tokens,
                remedy=f"Answers so far are kept. Run the same command{self._resuming} with a "
                "higher limit to resume.",
            )
        if self.missing and self.options.shard and not any(t.failed for t in self.tallies):
            return LeftToShards(
                f"Shard {self.options.shard} is done; {self.missing} requests are left to other "
                "shards. Run the same command again when they are done."
            )
        if self.missing:
            return IncompleteRun(
                f"{self.missing} requests got no answer: {self._failures()}. "
                f"Run the same command again{self._resuming} to retry them."
            )
        return None

    @property
    def _resuming(self) -> str:
        """What to leave out of the command, so that it resumes."""
        options = self.options
        return " without --fresh" if options.fresh and not (options.shard or options.batch) else ""

    def caveats(self) -> list[str]:
        """What is missing and why, then what the settings had to do with the answers."""
        problem = self.problem()
        return [*([] if problem is None else [str(problem)]), *self.notes()]

    def require_complete(self) -> None:
        """Raises an error if a request has no answer."""
        if (problem := self.problem()) is not None:
            raise problem

    def rows(self) -> list[dict[str, Any]]:
        """The tallies as plain values."""
        return [tally_row(tally) for tally in self.tallies]

    def _failures(self) -> str:
        """How many requests failed in which way, each with the message of the first of them."""
        counts: Counter[str] = Counter()
        examples: dict[str, str] = {}
        for tally in self.tallies:
            counts += tally.failures
            examples = tally.examples | examples
        return ", ".join(
            f"{count} × {kind}" + (f" ({examples[kind]})" if kind in examples else "")
            for kind, count in sorted(counts.items())
        )


def tally_row(tally: Tally) -> dict[str, Any]:
    """A session's figures as plain values."""
    # Not asdict(), which cannot copy a Counter.
    content = {field.name: getattr(tally, field.name) for field in dataclasses.fields(tally)}
    return content | {"done": tally.done, "missing": tally.missing}
