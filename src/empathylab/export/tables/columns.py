"""Columns that several exported tables share."""

from __future__ import annotations

from empathylab.table_specs import text, whole

MOMENT = "YYYY-MM-DDTHH:MM:SSZ"

SET = text("set", "The set that the situation is from")
SET_VERSION = whole("set_version", "The version of that set")
SITUATION = text("situation", "The situation's id in its set")
EMOTION = text("emotion", "The situation's emotion")
VALENCE = text("valence", "Whether that emotion is pleasant", values="positive; negative; mixed")
KIND = text("kind", "A model, or people")
RUN = whole("run", "The run it came from, in the table runs; empty if imported")
OUTCOME = text("outcome", "Whether it can be used; if it is not valid, what is wrong")
REASON = text("reason", "Why it cannot be used")
DAY = text(
    "day",
    "The day on which the model answered, in UTC; empty if imported",
    values="YYYY-MM-DD",
)
IMPORTED_FROM = text("imported_from", "The file it came from; empty if the lab made it")
REPEAT = whole("repeat", "The number of the repetition, from 0")
RESPONSE = whole("response", "The response's number in the table responses")
