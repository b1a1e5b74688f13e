"""Replies to people who tell about a situation: from the caller's options to the runner's plans."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from empathylab.api.run_options import RunOptions, require_at_least
from empathylab.errors import InputError, UnknownName

if TYPE_CHECKING:
    from empathylab.protocols import ReplyTemplate
    from empathylab.runs import Plan
    from empathylab.situations import Situation, SituationSet
    from empathylab.store import Lab

MOST_UNASKED = 200
"""So many situations of a set are taken without being asked for."""


@dataclasses.dataclass(frozen=True, slots=True)
class ReplyOptions:
    """To which situations models reply, and how long."""

    situation_set: str = "dialogues"
    language: str | None = None
    situations: int | None = None
    emotion: Sequence[str] = ()
    samples: int = 1
    template: str | None = None
    words: int | str | None = None
    least_words: int | None = None
    most_words: int | None = None
    retries: int = 1

    def __post_init__(self) -> None:
        require_at_least(0, situations=self.situations, retries=self.retries)
        require_at_least(
            1, samples=self.samples, least_words=self.least_words, most_words=self.most_words
        )

    def plans(self, lab: Lab, model: str, options: RunOptions) -> list[Plan]:
        """The requests to one model."""
        from empathylab.protocols import (
            Responding,
            plan_responding,
            reply_template,
            usual_template,
        )
        from empathylab.protocols.reply_templates import in_language
        from empathylab.protocols.translations import set_in_language
        from empathylab.store.selections import resolve_situations

        named = None if self.template is None else reply_template(self.template)
        wanted = set_in_language(lab, self.situation_set, self.language)
        chosen, drawn = resolve_situations(lab, wanted)
        used = in_language(named or usual_template(chosen), chosen.language)
        responding = Responding(
            situation_set=chosen,
            situations=self._situations(chosen, self._of_emotions(chosen, drawn)),
            samples=self.samples,
            temperature=0.7 if options.temperature is None else options.temperature,
            seed=options.seed,
            template=self._with_lengths(used, lab, chosen),
            retries=self.retries,
        )
        return [plan_responding(lab, model, responding)]

    def _of_emotions(
        self, chosen: SituationSet, drawn: tuple[Situation, ...]
    ) -> tuple[Situation, ...]:
        """Those of the situations that tell of the emotions, or of a post's topics."""
        emotions = [self.emotion] if isinstance(self.emotion, str) else list(self.emotion)
        if not emotions:
            return drawn
        known = {name for entry in drawn for name in (entry.emotion, entry.topic) if name}
        for emotion in emotions:
            if emotion not in known:
                where = f"--emotion in --set {chosen.id}"
                raise UnknownName("emotion", emotion, known, where=where)
        return tuple(entry for entry in drawn if {entry.emotion, entry.topic} & set(emotions))

    def _situations(
        self, chosen: SituationSet, drawn: tuple[Situation, ...]
    ) -> tuple[Situation, ...]:
        """All that were drawn, or so many of each emotion; a large set must be asked for."""
        if self.situations:
            part = dataclasses.replace(chosen, situations=drawn)
            return part.first_per_group(self.situations)
        if self.situations is None and len(drawn) == len(chosen) > MOST_UNASKED:
            raise InputError(
                f"the set has {len(chosen):,} situations",
                where=f"--set {chosen.id}",
                remedy="Say how many of each emotion with --situations (0 for all), or draw some: "
                f"empathylab data sample {chosen.id} --count 200 --name NAME",
            )
        return drawn

    def _with_lengths(
        self, template: ReplyTemplate, lab: Lab, situation_set: SituationSet
    ) -> ReplyTemplate:
        """The template with the lengths of the options, people's where those are asked for."""
        from empathylab.protocols import human_lengths

        about: int | None = None
        least, most = self.least_words, self.most_words
        if self.words == "human":
            about, longest = human_lengths(lab, situation_set)
            most = longest if most is None else most
            least = min(template.least_words, about) if least is None else least
        elif self.words is not None:
            if not str(self.words).isdecimal() or int(self.words) < 1:
                raise InputError(
                    "this must be a number of words, or human",
                    where="--words",
                    got=self.words,
                    remedy="Give --words 30, for example.",
                )
            about = int(self.words)
        return template.with_lengths(words=about, least_words=least, most_words=most)
