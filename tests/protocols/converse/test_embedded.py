"""The embedded model as both sides of conversations."""

from __future__ import annotations

import pytest

from empathylab.analysis.conversations import from_lab
from empathylab.models import known_weights, open_model
from empathylab.protocols.converse import plan
from empathylab.protocols.converse.controls import control_listeners
from empathylab.protocols.converse.plan import SIMULATOR, Conversing, plan_conversing
from empathylab.runs import Job, run
from empathylab.store import Lab
from tests.helpers.conversing import persona
from tests.helpers.groups import unavailable

NAME = "local/smollm2"


@pytest.mark.embedded
@pytest.mark.slow
def test_the_embedded_model_cannot_simulate_a_person(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few tokens are enough to see that it feels the same with any listener."""
    for limit in ("_REPLY_TOKENS", "_MESSAGE_TOKENS"):
        monkeypatch.setattr(plan, limit, 24)
    if not known_weights("smollm2").installed:
        unavailable("embedded", "run `empathylab models install smollm2`")
    model = open_model(NAME)
    personas = tuple(persona(number, start={"feeling": 40}) for number in range(4))
    talks = Conversing(personas[:2], NAME, exchanges=2, retries=0)
    checks = Conversing(personas, NAME, exchanges=1, retries=0)
    jobs = [Job(model, [plan_conversing(sqlite_lab, NAME, talks)], partners={SIMULATOR: model})]
    jobs += [
        Job(
            control,
            [plan_conversing(sqlite_lab, control.name, checks)],
            partners={SIMULATOR: model},
        )
        for control in control_listeners("en")
    ]
    tallies = run(sqlite_lab, jobs)
    assert [tally.missing for tally in tallies] == [0, 0, 0]
    result = from_lab(sqlite_lab)
    [row] = result.respondents
    assert (row.respondent, row.simulator, sum(row.outcomes.values())) == (NAME, NAME, 2)
    [card] = result.cards
    assert (card.simulator, card.conversations) == (NAME, 10)
    # Its messages differ a little from run to run: now and then too few can be scored at all.
    assert card.verdict in ("cannot simulate a person", "not checked")
    assert result.caveats[0] == card.sentence
