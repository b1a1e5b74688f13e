"""Models as raters: from the caller's options to the runner's plan, and the answers summed up."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from empathylab.api.run_options import Mode, RunOptions, require_at_least
from empathylab.errors import InputError

if TYPE_CHECKING:
    from empathylab.judging.asking import Asking
    from empathylab.runs import Plan
    from empathylab.store import Lab
    from empathylab.store.judged_responses import JudgedResponse


@dataclasses.dataclass(frozen=True, slots=True)
class JudgingOptions:
    """Which responses are judged, and how the judges are asked."""

    study: str | None = None
    situation_set: str | None = None
    respondent: Sequence[str] = ()
    dimension: Sequence[str] = ()
    sample: int | None = None
    pairs: bool = False
    mode: Mode = "structured"
    reason: bool = False
    repeats: int = 1
    orders: int = 1
    retries: int = 1

    def __post_init__(self) -> None:
        require_at_least(1, sample=self.sample, repeats=self.repeats, orders=self.orders)
        require_at_least(0, retries=self.retries)
        if (self.study is None) == (self.situation_set is None):
            raise InputError(
                "one of --study and --set must say what is judged",
                got="both" if self.study else "neither",
                remedy="Give --study NAME, or --set NAME.",
            )

    @property
    def source(self) -> str:
        """`study NAME` or `set NAME`."""
        return f"set {self.situation_set}" if self.study is None else f"study {self.study}"

    def asking(self, options: RunOptions) -> Asking:
        """How each response is asked about."""
        from empathylab.judging.asking import Asking

        return Asking(
            mode=self.mode,
            repeats=self.repeats,
            temperature=0.0 if options.temperature is None else options.temperature,
            seed=options.seed,
            reason=self.reason,
            retries=self.retries,
            max_tokens=options.max_tokens,
        )

    def plan(self, lab: Lab, options: RunOptions) -> tuple[Plan, Sequence[JudgedResponse]]:
        """The requests, which are the same for all judges, and what is judged."""
        from empathylab.judging.instruments import default_instrument, study_instrument
        from empathylab.judging.pairs import Comparing, plan_comparing
        from empathylab.judging.sampling import sampled
        from empathylab.judging.single import Judging, plan_judging
        from empathylab.store.judged_responses import (
            judged_study,
            responses_to_judge,
            select_responses,
            set_responses,
        )

        asking, respondents = self.asking(options), tuple(self.respondent)
        number, source = None, self.source
        if self.study is not None:
            found = judged_study(lab, self.study)
            # With the version: a newer one of the same responses is judged for itself.
            named = found.name.removesuffix(f"@{found.version}")
            number, source = found.row, f"study {named} (version {found.version})"
            instrument = study_instrument(found, tuple(self.dimension))
            replies = responses_to_judge(lab, found, respondents)
        else:
            instrument = default_instrument(tuple(self.dimension))
            whole = set_responses(lab, self.situation_set or "")
            replies = select_responses(whole, respondents, where=source)
        replies = sampled(replies, self.sample, seed=asking.seed)
        if self.pairs:
            comparing = Comparing(instrument, replies, source, number, asking)
            return plan_comparing(comparing), replies
        judging = Judging(instrument, replies, source, number, asking, self.orders)
        return plan_judging(judging), replies

    def summed_up(
        self, lab: Lab, judges: Sequence[str], replies: Sequence[JudgedResponse]
    ) -> dict[str, Any]:
        """The judges' answers to these replies; by respondent only where no study is under way."""
        import polars as pl

        from empathylab.judging.summaries import preference_summary, rating_summary, win_summary
        from empathylab.store.judged_responses import shown_in_open_study
        from empathylab.store.judgements import lab_judgements, lab_preferences

        mine = [reply.response for reply in replies]
        hidden = shown_in_open_study(lab, mine)
        read = lab_preferences if self.pairs else lab_judgements
        frame = read(lab, self.study).filter(
            pl.col("judge").is_in(judges),
            pl.col("first_response" if self.pairs else "response").is_in(mine),
        )
        if self.study is None:
            frame = frame.filter(pl.col("study").is_null())
        found: dict[str, Any] = {
            "source": self.source,
            "responses": len(mine),
            "respondents": [],
            "hidden": hidden,
        }
        if self.pairs:
            found["judges"] = preference_summary(frame)
            found["respondents"] = [] if hidden else win_summary(frame)
            return found
        # Over the responses of one arm alone, the mean would be that arm's.
        one_arm = bool(self.respondent) or len({reply.respondent for reply in replies}) == 1
        spread = not (hidden and one_arm)
        found["judges"] = rating_summary(frame, by_respondent=False, spread=spread)
        return (
            found if hidden else found | {"respondents": rating_summary(frame, by_respondent=True)}
        )
