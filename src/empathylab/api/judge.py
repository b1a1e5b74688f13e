"""Models as raters: which responses they judge, how they are asked, and the answers summed up."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from empathylab.api.run_options import Mode, RunKeywords, RunOptions, listed, require_at_least
from empathylab.api.workspace import Workspace
from empathylab.errors import InputError

if TYPE_CHECKING:
    from empathylab.api.run_results import JudgingResult
    from empathylab.judging.asking import Asking
    from empathylab.models import Model
    from empathylab.runs import Plan
    from empathylab.store import Lab
    from empathylab.store.judged_responses import JudgedResponse


def judge(
    workspace: Workspace,
    *models: str | Model,
    study: str | None = None,
    situation_set: str | None = None,
    respondent: str | Sequence[str] = (),
    dimension: str | Sequence[str] = (),
    sample: int | None = None,
    pairs: bool = False,
    mode: Mode = "structured",
    reason: bool = False,
    repeats: int = 1,
    orders: int = 1,
    retries: int = 1,
    **options: Unpack[RunKeywords],
) -> JudgingResult:
    """Lets models rate the responses of a study, or to a set, as blinded raters do.

    With `pairs` they choose between two replies, in both orders. `lab.analyze.judges()` shows
        how well judges agree with people.
    """
    from empathylab.api.run_results import JudgingResult
    from empathylab.judging.asking import Asking
    from empathylab.judging.function_judges import open_judges

    require_at_least(1, sample=sample, repeats=repeats, orders=orders)
    require_at_least(0, retries=retries)
    run = RunOptions.of(options)
    judged = _Judged(study, situation_set, listed(respondent), listed(dimension), sample, pairs)
    asking = Asking(
        mode=mode,
        repeats=repeats,
        temperature=0.0 if run.temperature is None else run.temperature,
        seed=run.seed,
        reason=reason,
        retries=retries,
        max_tokens=run.max_tokens,
    )
    if repeats > 1 and asking.temperature == 0:
        workspace.reporter.say(
            "At temperature 0, repeats only show how consistent the endpoint is. Set "
            "--temperature to see how consistent the judge is."
        )
    store = workspace.store()
    plan, replies = judged.plan(store, asking, orders)
    judges = open_judges(models, plan, run.open_models)
    sessions = workspace.run([run.job(model, [plan]) for model in judges], run)
    return JudgingResult(sessions, **judged.summed_up(store, [m.name for m in judges], replies))


@dataclasses.dataclass(frozen=True, slots=True)
class _Judged:
    """Which responses are judged, and on what."""

    study: str | None
    situation_set: str | None
    respondent: tuple[str, ...]
    dimension: tuple[str, ...]
    sample: int | None
    pairs: bool

    def __post_init__(self) -> None:
        if (self.study is None) == (self.situation_set is None):
            raise InputError(
                "name what to judge with either --study or --set",
                got="both" if self.study else "neither",
                remedy="Give --study NAME, or --set NAME.",
            )

    @property
    def source(self) -> str:
        """`study NAME` or `set NAME`."""
        return f"set {self.situation_set}" if self.study is None else f"study {self.study}"

    def plan(self, lab: Lab, asking: Asking, orders: int) -> tuple[Plan, Sequence[JudgedResponse]]:
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

        number, source = None, self.source
        if self.study is not None:
            judged = judged_study(lab, self.study)
            # With the version: a newer one of the same responses is judged for itself.
            named = judged.name.removesuffix(f"@{judged.version}")
            number, source = judged.row, f"study {named} (version {judged.version})"
            instrument = study_instrument(judged, self.dimension)
            replies = responses_to_judge(lab, judged, self.respondent)
        else:
            instrument = default_instrument(self.dimension)
            whole = set_responses(lab, self.situation_set or "")
            replies = select_responses(whole, self.respondent, where=source)
        replies = sampled(replies, self.sample, seed=asking.seed)
        if self.pairs:
            comparing = Comparing(instrument, replies, source, number, asking)
            return plan_comparing(comparing), replies
        judging = Judging(instrument, replies, source, number, asking, orders)
        return plan_judging(judging), replies

    def summed_up(
        self, lab: Lab, judges: Sequence[str], replies: Sequence[JudgedResponse]
    ) -> dict[str, Any]:
        """The judges' answers to these replies; by respondent only where no study is under way."""
        import polars as pl

        from empathylab.judging.summaries import preference_summary, rating_summary, win_summary
        from empathylab.store.judgements import lab_judgements, lab_preferences
        from empathylab.store.studies.embargo import studies_showing

        mine = [reply.response for reply in replies]
        hidden = bool(studies_showing(lab, mine))
        read = lab_preferences if self.pairs else lab_judgements
        frame = read(lab, self.study, embargoed=True).filter(
            pl.col("judge").is_in(judges),
            pl.col("first_response" if self.pairs else "response").is_in(mine),
        )
        if self.study is None:
            frame = frame.filter(pl.col("study").is_null())
        summary: dict[str, Any] = {
            "source": self.source,
            "responses": len(mine),
            "respondents": [],
            "hidden": hidden,
        }
        if self.pairs:
            summary["judges"] = preference_summary(frame)
            summary["respondents"] = [] if hidden else win_summary(frame)
            return summary
        # Means over different respondents, subtracted from each other, would give that of one.
        summary["judges"] = rating_summary(frame, by_respondent=False, spread=not hidden)
        return (
            summary
            if hidden
            else summary | {"respondents": rating_summary(frame, by_respondent=True)}
        )
