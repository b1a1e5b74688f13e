"""What live replies may cost: the most that one can, and whether there is money for it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection

from empathylab.models import Message, Model, Parameters, Price
from empathylab.store.studies.live import live_costs, slot_cost
from empathylab.study.live.settings import Limits

_CHARACTERS_PER_TOKEN = 1.5
"""Few, so that texts in any script cost less than is set aside for them."""


def most_cost(
    price: Price, model: Model, messages: Sequence[Message], parameters: Parameters
) -> float:
    """The most dollars that one request can cost."""
    read = sum(len(message.content) for message in messages) / _CHARACTERS_PER_TOKEN + 50
    return (read * price.prompt + model.output_limit(parameters) * price.completion) / 1_000_000


class Purse:
    """What a study can still spend, within one transaction that locks the study."""

    def __init__(self, connection: Connection, study: int, limits: Limits, now: datetime) -> None:
        self._connection, self._limits = connection, limits
        self._spent = self._set_aside = 0.0
        if limits.study is not None:
            self._spent, self._set_aside = live_costs(connection, study, now)

    def exceeded_by(
        self, slot: int, cost: float
    ) -> Literal["study-cap", "participant-cap", "later"] | None:
        """Which limit a further reply would exceed; None where it can be paid, and now is.

        `later`: it can be decided once the replies under way have cost what they do.
        """
        study, participant = self._limits.study, self._limits.participant
        if study is not None and self._spent + cost > study:
            return "later" if self._set_aside else "study-cap"
        if participant is not None and slot_cost(self._connection, slot) + cost > participant:
            return "participant-cap"
        self._spent += cost
        self._set_aside += cost
        return None
