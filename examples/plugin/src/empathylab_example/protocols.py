"""A protocol: replies of one sentence. The replies can be rated, judged and compared as others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from empathylab.errors import InputError
from empathylab.protocols import ReplyTemplate, Responding, plan_responding
from empathylab.runs import Plan
from empathylab.situations import builtin_set
from empathylab.store import Lab

TEMPLATE = ReplyTemplate(
    id="one-sentence-example",
    version=1,
    system="You are talking with a friend. Reply in one sentence of at most {most_words} words.",
    user="{utterance}",
    words=15,
    most_words=30,
)


def plan_one_sentence(lab: Lab, respondent: str, settings: Mapping[str, str]) -> Sequence[Plan]:
    """The plans of a run; `settings` are the user's `--setting KEY=VALUE`."""
    if set(settings) - {"situations"}:
        raise InputError(
            "this protocol knows one setting, situations",
            where="--setting",
            got=", ".join(settings),
            remedy="Write --setting situations=2, for example.",
        )
    chosen = builtin_set("dialogues")
    situations = chosen.first_per_group(int(settings.get("situations", "1")))
    return [plan_responding(lab, respondent, Responding(chosen, situations, template=TEMPLATE))]
