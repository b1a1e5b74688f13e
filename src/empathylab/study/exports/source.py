"""The rows of an exported study's tables: people only, nobody's identity."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from empathylab.scales import Scale, scale_from_dict, score
from empathylab.store.ratings import PREFERENCE
from empathylab.store.studies.archive import (
    Rows,
    administration_rows,
    archive_import,
    arm_rows,
    item_values,
    page_rows,
    rater_rows,
    rating_rows,
    response_rows,
    scale_rows,
    shown_rows,
    situation_rows,
    written_rows,
)
from empathylab.store.studies.live import exported_turns
from empathylab.store.studies.places import all_places
from empathylab.store.studies.records import audit_rows
from empathylab.study.archives.packing import (
    SITUATION_FIELDS,
    day_of,
    is_complete,
    rater_names,
    read_protocol,
)
from empathylab.study.exports.partial_answers import PartialAnswers
from empathylab.study.exports.positions import batch_positions, numbered, order_positions
from empathylab.study.session.launched import load_launched
from empathylab.study.session.visits import shown_status

Record = dict[str, Any]


class StudySource:
    """One study of the lab; every public method gives the rows of one exported table."""

    def __init__(self, connection: Connection, row: Any, *, blind: bool) -> None:
        self.connection, self.row, self._blind = connection, row, blind
        number = int(row.id)
        where = f"study {row.name}"
        complete = is_complete(row.protocol)
        self.study = read_protocol(row.protocol, where=where) if complete else None
        self._places = [one for one in all_places(connection, number) if one.world == "person"]
        self._raters = rater_rows(connection, number)
        self._is_archived = archive_import(connection, row.name, row.version) is not None
        launched = row.launched_at is not None
        self.names = rater_names(self._raters, pseudonyms=launched or self._is_archived)
        self._situations = {int(one.id): one for one in situation_rows(connection, number)}
        self._responses = {int(one.id): one for one in response_rows(connection, number)}
        self._ratings = rating_rows(connection, number)
        self._pages = page_rows(connection, number)
        self._numbered_pages = tuple(numbered(self._pages))
        self._excluded = self._reasons()

    def _reasons(self) -> dict[str, str]:
        """Why researchers left out whom, by name."""
        found = {
            self.names[int(one.id)]: str(one.details["marks"]["excluded"])
            for one in self._raters
            if one.details.get("marks", {}).get("excluded") is not None
        }
        out = {one.person for one in self._places if one.status == "excluded"}
        for one in audit_rows(self.connection, self.row.id):
            person = one.details.get("person")
            if one.action == "exclude" and person in out:
                found.setdefault(person, str(one.details.get("reason", "")))
        return found

    def _item_answers(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Raters with their answers about items that are no ratings."""
        for one in self._raters:
            for answer in one.details.get("marks", {}).get("answers", ()):
                yield self.names[int(one.id)], answer

    def answers(self) -> list[Record]:
        """Answers to further questions about replies and situations."""
        blocks = self.study.blocks if self.study else ()
        asked = {
            (one.id, question.name): question for one in blocks for question in one.item_questions
        }
        rows = []
        for rater, answer in self._item_answers():
            question = asked.get((answer["block"], answer["question"]))
            if question is None:
                continue
            value = answer["value"]
            for part, said in (question.parts(value) or {"": value}).items():
                rows.append(
                    {
                        "rater": rater,
                        "block": answer["block"],
                        "position": answer["position"],
                        "situation": answer["situation"],
                        "arm": answer["arms"][0] if len(answer["arms"]) == 1 else None,
                        "question": question.name,
                        "part": part or None,
                        "answer": str(said),
                        "excluded": self._excluded.get(rater),
                    }
                )
        return rows

    def preferences(self) -> list[Record]:
        """Which of two replies was preferred."""
        return [
            {
                "rater": rater,
                "block": answer["block"],
                "position": answer["position"],
                "situation": answer["situation"],
                "first": answer["arms"][0],
                "second": answer["arms"][1],
                "outcome": answer["value"],
                "excluded": self._excluded.get(rater),
            }
            for rater, answer in self._item_answers()
            if answer["question"] == PREFERENCE
        ]

    def ratings(self) -> list[Record]:
        """The ratings that count."""
        return [one for one in self._all_ratings() if one["rater"] not in self._excluded]

    def ratings_of_excluded(self) -> list[Record]:
        """The ratings of raters whom a researcher excluded."""
        return [one for one in self._all_ratings() if one["rater"] in self._excluded]

    def _positions(self) -> dict[tuple[str, int], int]:
        """By rater and response, in which place the rater saw it, where that is known."""
        if self.row.launched_at is not None:
            launched = load_launched(self.connection, f"{self.row.name}@{self.row.version}")
            return batch_positions(launched, self._places)
        if self._is_archived:
            rated = ((self.names[int(one.rater_id)], int(one.response_id)) for one in self._ratings)
            return order_positions(rated)
        return {}

    def _all_ratings(self) -> Iterable[Record]:
        positions = self._positions()
        for one in self._ratings:
            response = self._responses[int(one.response_id)]
            situation = self._situations[int(response.situation_id)]
            yield {
                "rater": self.names[int(one.rater_id)],
                "arm": one.arm or response.respondent,
                "respondent": response.respondent,
                "response": int(response.id),
                "set": situation.set_name,
                "situation": situation.key,
                "emotion": situation.emotion,
                "valence": situation.valence,
                "topic": situation.topic,
                "position": positions.get((self.names[int(one.rater_id)], int(response.id))),
                "dimension": one.dimension,
                "rating": one.value,
                "label": one.label,
                "seconds": one.seconds,
                "day": day_of(one.rated_at),
            }

    def raters(self) -> list[Record]:
        """Everybody who came."""
        given = Counter(self.names[int(one.rater_id)] for one in self._ratings)
        rated: dict[str, set[str]] = {}
        days: dict[str, str | None] = {}
        for one in self._ratings:
            name = self.names[int(one.rater_id)]
            days.setdefault(name, day_of(one.rated_at))
            if one.arm is not None:
                rated.setdefault(name, set()).add(one.arm)
        rows: dict[str, Record] = {
            place.person: {
                "rater": place.person,
                "kind": "person",
                "arm": place.arm,
                "status": shown_status(place),
                "outcome": place.outcome,
                "language": place.language or None,
                # Of anyone who had their data deleted, only that they came is told.
                "day": day_of(place.arrived_at) if place.language else None,
            }
            for place in self._places
        }
        for one in self._raters:
            name = self.names[int(one.id)]
            arms = rated.get(name, set())
            only = next(iter(arms)) if len(arms) == 1 else None
            row = rows.setdefault(name, {"rater": name, "kind": one.kind, "status": "finished"})
            row.setdefault("day", days.get(name))
            row |= {"seconds": one.seconds, "arm": only or row.get("arm")}
        for name, row in rows.items():
            row |= {"excluded": self._excluded.get(name), "ratings": given[name]}
        return list(rows.values())

    def told(self) -> dict[str, Record]:
        """By rater, what they or their platform told about them."""
        return {
            self.names[int(one.id)]: {
                key: value for key, value in one.details.items() if key != "marks"
            }
            for one in self._raters
        }

    def scores(self) -> tuple[dict[tuple[str, str], float], dict[str, tuple[Scale, str, str]]]:
        rows = administration_rows(self.connection, self.row.id)
        values = item_values(self.connection, self.row.id)
        known = self._scales(rows)
        found: dict[tuple[str, str], float] = {}
        columns: dict[str, tuple[Scale, str, str]] = {}
        for one in rows:
            scale = known[int(one.scale_id)]
            for part in score(scale, values.get(int(one.id), {})):
                base = scale.id if part.subscale == "total" else f"{scale.id}_{part.subscale}"
                column = base if one.phase == "default" else f"{base}_{one.phase}"
                columns[column] = (scale, part.subscale, one.phase)
                if part.value is not None:
                    found[self.names[int(one.rater_id)], column] = part.value
        return found, columns

    def _scales(self, rows: Rows) -> dict[int, Scale]:
        used = {int(one.scale_id) for one in rows}
        return {
            int(one.id): scale_from_dict(one.definition, where=f"scale {one.name} of the lab")
            for one in scale_rows(self.connection, self.row.id, used)
        }

    def scale_answers(self) -> list[Record]:
        """Every answer to an item, as given: reversed items are not turned round."""
        rows = administration_rows(self.connection, self.row.id)
        values = item_values(self.connection, self.row.id)
        known = self._scales(rows)
        found = []
        seen: Counter[tuple[int, int, str]] = Counter()
        for one in rows:
            situation = self._situations.get(int(one.situation_id or 0))
            trial = (int(one.rater_id), int(one.scale_id), str(one.phase))
            seen[trial] += situation is not None
            places = {item: place for place, item in enumerate(one.item_order, start=1)}
            found += [
                {
                    "rater": self.names[int(one.rater_id)],
                    "scale": known[int(one.scale_id)].id,
                    "phase": one.phase,
                    "situation": None if situation is None else situation.key,
                    "trial": None if situation is None else seen[trial],
                    "item": item,
                    "position": places.get(item),
                    "value": value,
                }
                for item, value in values.get(int(one.id), {}).items()
            ]
        return found

    def written_replies(self) -> list[Record]:
        """What people wrote as replies."""
        rows = written_rows(self.connection, self.row.name, self.row.version)
        people = {one.person for one in self._places}
        return [
            {
                "rater": one.details["rater"],
                "set": one.set_name,
                "situation": one.key,
                "position": one.details.get("position"),
                "text": one.text,
                "excluded": self._excluded.get(one.details["rater"]),
            }
            for one in rows
            if one.details.get("rater") in people
        ]

    def live_turns(self) -> list[Record]:
        """What participants told, and what they were answered."""
        return [
            {
                "rater": turn.person,
                "block": turn.step,
                "author": turn.author,
                "kind": turn.kind,
                "label": turn.label,
                "position": turn.position,
                "sender": turn.sender,
                "text": turn.text,
                "masked": turn.masked,
                "outcome": turn.outcome,
                "reason": turn.reason,
                "rejected": turn.rejected,
                "due_seconds": _between(turn.asked_at, turn.due_at),
                "waited_seconds": _between(turn.asked_at, turn.shown_at),
                "model": turn.model,
                "model_seconds": turn.latency,
                "prompt_tokens": turn.prompt_tokens,
                "completion_tokens": turn.completion_tokens,
                "cost": turn.cost,
                "ended_because": turn.ended_because,
                "excluded": self._excluded.get(turn.person),
            }
            for turn in exported_turns(self.connection, self.row.id)
        ]

    def pages(self) -> list[Record]:
        """How long each page took, and how often it was left."""
        return [
            {
                "rater": one.person,
                "page": one.step,
                "position": position,
                "seconds": one.timing.get("seconds"),
                "browser_seconds": one.timing.get("reported"),
                "away_seconds": one.timing.get("away"),
                "focus_losses": one.timing.get("losses"),
                "corrections": one.corrections,
                **_signals(one.timing.get("signals")),
            }
            for position, one in self._numbered_pages
        ]

    def attention(self) -> list[Record]:
        """How attention checks were answered."""
        blocks = self.study.blocks if self.study else ()
        checks = {one.id: one for one in blocks if one.checks_attention}
        return [
            {
                "rater": one.person,
                "check": one.step,
                "position": position,
                "asked": one.given.get("check"),
                "chosen": one.given.get("question"),
                "right": checks[one.step].passed(one.given),
            }
            for position, one in self._numbered_pages
            if one.step in checks
        ]

    def comments(self) -> list[Record]:
        """Free words, those that were not left empty."""
        blocks = self.study.blocks if self.study else ()
        free = {one.id for one in blocks if one.holds_comments}
        return [
            {
                "rater": one.person,
                "block": one.step,
                "position": position,
                "text": one.given["comment"],
            }
            for position, one in self._numbered_pages
            if one.step in free and one.given.get("comment")
        ]

    def partial_answers(self) -> list[Record]:
        """What people answered who did not finish."""
        if self.row.launched_at is None:
            return []
        finished = set(self.names.values())
        places = [one for one in self._places if one.person not in finished]
        launched = load_launched(self.connection, f"{self.row.name}@{self.row.version}")
        return list(PartialAnswers(launched, self._blind).rows(places, self._pages))

    def arms(self) -> list[Record]:
        """Whose responses were rated, by how many, and when."""
        shown = Counter(one.arm for one in shown_rows(self.connection, self.row.id))
        rows = []
        for one in arm_rows(self.connection, self.row.id):
            own = [
                rating
                for rating in self._ratings
                if rating.arm == one.name and self.names[int(rating.rater_id)] not in self._excluded
            ]
            days = sorted(day for rating in own if (day := day_of(rating.rated_at)) is not None)
            rows.append(
                {
                    "arm": one.name,
                    "respondent": one.respondent,
                    "kind": one.kind,
                    "responses": shown[one.name] or len({rating.response_id for rating in own}),
                    "raters": len({rating.rater_id for rating in own}),
                    "ratings": len(own),
                    "first": days[0] if days else None,
                    "last": days[-1] if days else None,
                }
            )
        return rows

    def responses(self) -> list[Record]:
        """What was rated."""
        return [
            {
                "response": number,
                "respondent": one.respondent,
                "kind": one.kind,
                "set": self._situations[int(one.situation_id)].set_name,
                "situation": self._situations[int(one.situation_id)].key,
                "sample": one.sample,
                "prompt": one.prompt,
                "text": one.text,
            }
            for number, one in self._responses.items()
        ]

    def situations(self) -> list[Record]:
        """What they replied to."""
        return [
            {
                "set": one.set_name,
                "situation": one.key,
                **{name: getattr(one, name) for name in SITUATION_FIELDS},
                "context": json.dumps(one.context, ensure_ascii=False) if one.context else None,
            }
            for one in self._situations.values()
        ]


def _signals(stored: Record | None) -> Record:
    if stored is None:
        return {}
    counts = {"pastes": "pastes", "pasted_characters": "pasted", "keys": "keys"}
    whole = {column: int(stored[name]) for column, name in counts.items() if name in stored}
    return {
        **whole,
        "key_interval_ms": stored.get("interval"),
        "key_interval_sd_ms": stored.get("spread"),
        "hidden_field": bool(stored.get("trap")),
    }


def _between(begin: datetime, end: datetime | None) -> float | None:
    return None if end is None else round((end - begin).total_seconds(), 3)
