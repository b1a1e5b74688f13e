"""The rows of an exported study's tables: people only, nobody's identity."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection

from empathylab.store.ratings import PREFERENCE
from empathylab.store.schema.statements import Rows
from empathylab.store.studies.archive import (
    archive_import,
    arm_rows,
    page_rows,
    rater_rows,
    rating_rows,
    response_rows,
    shown_rows,
    situation_rows,
    written_rows,
)
from empathylab.store.studies.records import audit_rows
from empathylab.store.studies.slots import all_slots
from empathylab.study.admin.embargo import unlisted_blocks
from empathylab.study.archives.packing import (
    SITUATION_FIELDS,
    day_of,
    is_complete,
    rater_names,
    read_protocol,
)
from empathylab.study.blocks.steps import block_of
from empathylab.study.session.launched import Launched, load_launched
from empathylab.study.session.visits import shown_status

Record = dict[str, Any]


class StudySource:
    """One study of the lab; its methods, `page_tables` and `scale_tables` give exported rows."""

    def __init__(self, connection: Connection, row: Any, *, blind: bool) -> None:
        self.connection, self.row, self.blind = connection, row, blind
        number = int(row.id)
        where = f"study {row.name}"
        complete = is_complete(row.protocol)
        self.study = read_protocol(row.protocol, where=where) if complete else None
        self.places = [place for place in all_slots(connection, number) if place.world == "person"]
        self._raters = rater_rows(connection, number)
        self._is_archived = archive_import(connection, row.name, row.version) is not None
        launched = row.launched_at is not None
        self.names = rater_names(self._raters, pseudonyms=launched or self._is_archived)
        self.situation_rows = {
            int(situation_row.id): situation_row
            for situation_row in situation_rows(connection, number)
        }
        self._responses = {
            int(response_row.id): response_row for response_row in response_rows(connection, number)
        }
        self._ratings = rating_rows(connection, number)
        unlisted = unlisted_blocks(self.study) if blind and self.study else ()
        self.page_rows = [
            page for page in page_rows(connection, number) if block_of(page.step) not in unlisted
        ]
        self.numbered_pages = tuple(numbered(self.page_rows))
        self.excluded = self._reasons()

    def _reasons(self) -> dict[str, str]:
        """By rater, why a researcher excluded them."""
        reasons = {
            self.names[int(rater.id)]: str(rater.details["marks"]["excluded"])
            for rater in self._raters
            if rater.details.get("marks", {}).get("excluded") is not None
        }
        out = {place.person for place in self.places if place.status == "excluded"}
        for audit_row in audit_rows(self.connection, self.row.id):
            person = audit_row.details.get("person")
            if audit_row.action == "exclude" and person in out:
                reasons.setdefault(person, str(audit_row.details.get("reason", "")))
        return reasons

    def _item_answers(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Raters with their answers about items that are no ratings."""
        for rater in self._raters:
            for answer in rater.details.get("marks", {}).get("answers", ()):
                yield self.names[int(rater.id)], answer

    def answers(self) -> list[Record]:
        """Answers to further questions about replies and situations."""
        blocks = self.study.blocks if self.study else ()
        asked = {
            (block.id, question.name): question
            for block in blocks
            for question in block.item_questions
        }
        rows = []
        for rater, answer in self._item_answers():
            question = asked.get((answer["block"], answer["question"]))
            if question is None:
                continue
            value = answer["value"]
            for part, part_value in (question.parts(value) or {"": value}).items():
                rows.append(
                    {
                        "rater": rater,
                        "block": answer["block"],
                        "position": answer["position"],
                        "situation": answer["situation"],
                        "arm": answer["arms"][0] if len(answer["arms"]) == 1 else None,
                        "question": question.name,
                        "part": part or None,
                        "answer": str(part_value),
                        "excluded": self.excluded.get(rater),
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
                "excluded": self.excluded.get(rater),
            }
            for rater, answer in self._item_answers()
            if answer["question"] == PREFERENCE
        ]

    def ratings(self) -> list[Record]:
        """The ratings that count."""
        return [rating for rating in self._all_ratings() if rating["rater"] not in self.excluded]

    def ratings_of_excluded(self) -> list[Record]:
        """The ratings of raters whom a researcher excluded."""
        return [rating for rating in self._all_ratings() if rating["rater"] in self.excluded]

    def _positions(self) -> dict[tuple[str, int], int]:
        """By rater and response, in which place the rater saw it, where that is known."""
        if self.row.launched_at is not None:
            launched = load_launched(self.connection, f"{self.row.name}@{self.row.version}")
            return batch_positions(launched, self.places)
        if self._is_archived:
            rated = (
                (self.names[int(rating.rater_id)], int(rating.response_id))
                for rating in self._ratings
            )
            return order_positions(rated)
        return {}

    def _all_ratings(self) -> Iterable[Record]:
        positions = self._positions()
        for rating in self._ratings:
            response = self._responses[int(rating.response_id)]
            situation = self.situation_rows[int(response.situation_id)]
            yield {
                "rater": self.names[int(rating.rater_id)],
                "arm": rating.arm or response.respondent,
                "respondent": response.respondent,
                "response": int(response.id),
                "set": situation.set_name,
                "situation": situation.key,
                "emotion": situation.emotion,
                "valence": situation.valence,
                "topic": situation.topic,
                "position": positions.get((self.names[int(rating.rater_id)], int(response.id))),
                "dimension": rating.dimension,
                "rating": rating.value,
                "label": rating.label,
                "seconds": rating.seconds,
                "day": day_of(rating.rated_at),
            }

    def raters(self) -> list[Record]:
        """Everybody who came."""
        given = Counter(self.names[int(rating.rater_id)] for rating in self._ratings)
        rated: dict[str, set[str]] = {}
        days: dict[str, str | None] = {}
        for rating in self._ratings:
            name = self.names[int(rating.rater_id)]
            days.setdefault(name, day_of(rating.rated_at))
            if rating.arm is not None:
                rated.setdefault(name, set()).add(rating.arm)
        rows: dict[str, Record] = {
            place.person: {
                "rater": place.person,
                "kind": "person",
                "arm": place.arm,
                "status": shown_status(place, closed=self.row.status == "closed"),
                "outcome": place.outcome,
                "language": place.language or None,
                # Of participants who had their data deleted, only the visit is exported.
                "day": day_of(place.arrived_at) if place.language else None,
            }
            for place in self.places
        }
        for rater in self._raters:
            name = self.names[int(rater.id)]
            arms = rated.get(name, set())
            only = next(iter(arms)) if len(arms) == 1 else None
            row = rows.setdefault(name, {"rater": name, "kind": rater.kind, "status": "finished"})
            row.setdefault("day", days.get(name))
            row |= {"seconds": rater.seconds, "arm": only or row.get("arm")}
        for name, row in rows.items():
            row |= {"excluded": self.excluded.get(name), "ratings": given[name]}
        return list(rows.values())

    def rater_details(self) -> dict[str, Record]:
        """By rater, what they or their platform said about them."""
        return {
            self.names[int(rater.id)]: {
                key: value for key, value in rater.details.items() if key != "marks"
            }
            for rater in self._raters
        }

    def written_replies(self) -> list[Record]:
        """What people wrote as replies."""
        rows = written_rows(self.connection, self.row.name, self.row.version)
        people = {place.person for place in self.places}
        return [
            {
                "rater": row.details["rater"],
                "set": row.set_name,
                "situation": row.key,
                "position": row.details.get("position"),
                "text": row.text,
                "excluded": self.excluded.get(row.details["rater"]),
            }
            for row in rows
            if row.details.get("rater") in people
        ]

    def arms(self) -> list[Record]:
        """Whose responses were rated, by how many, and when."""
        shown = Counter(shown_row.arm for shown_row in shown_rows(self.connection, self.row.id))
        rows = []
        for arm_row in arm_rows(self.connection, self.row.id):
            own = [
                rating
                for rating in self._ratings
                if rating.arm == arm_row.name
                and self.names[int(rating.rater_id)] not in self.excluded
            ]
            days = sorted(day for rating in own if (day := day_of(rating.rated_at)) is not None)
            rows.append(
                {
                    "arm": arm_row.name,
                    "respondent": arm_row.respondent,
                    "kind": arm_row.kind,
                    "responses": shown[arm_row.name] or len({rating.response_id for rating in own}),
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
                "respondent": response.respondent,
                "kind": response.kind,
                "set": self.situation_rows[int(response.situation_id)].set_name,
                "situation": self.situation_rows[int(response.situation_id)].key,
                "sample": response.sample,
                "prompt": response.prompt,
                "text": response.text,
            }
            for number, response in self._responses.items()
        ]

    def situations(self) -> list[Record]:
        """What they replied to."""
        return [
            {
                "set": situation.set_name,
                "situation": situation.key,
                **{name: getattr(situation, name) for name in SITUATION_FIELDS},
                "context": json.dumps(situation.context, ensure_ascii=False)
                if situation.context
                else None,
            }
            for situation in self.situation_rows.values()
        ]


def batch_positions(launched: Launched, places: Rows) -> dict[tuple[str, int], int]:
    """By person and response, its place in the person's batch."""
    positions = {}
    for place in places:
        slot = launched.slot_of(place)
        for number, item in enumerate(slot.items if slot else (), start=1):
            response = launched.responses.get((item.situation, item.arm or place.arm))
            if response is not None:
                positions[place.person, response.response] = number
    return positions


def order_positions(rated: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
    """By rater and response, its place among the rater's ratings in the order they were given."""
    positions: dict[tuple[str, int], int] = {}
    seen: Counter[str] = Counter()
    for rater, response in rated:
        if (rater, response) not in positions:
            seen[rater] += 1
            positions[rater, response] = seen[rater]
    return positions


def numbered(pages: Rows) -> Iterator[tuple[int, Any]]:
    """Answered pages with their numbers in the order in which each person answered."""
    seen: Counter[str] = Counter()
    for page in pages:
        seen[page.person] += 1
        yield seen[page.person], page


def written(value: Any) -> str:
    """A value as a cell of text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
