"""A study of the lab as an archive: what another lab needs to analyse it and to add an arm.

Left out are identities, completion codes, free words, and times finer than a day: none is needed,
and each may tell who someone is. So is the wording of scales that do not ship, which belongs to
others; its hash tells whether another lab has the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection

from empathylab.errors import InputError
from empathylab.scales import builtin_scales, scale_to_dict
from empathylab.store import Lab
from empathylab.store.inserts import hash_of
from empathylab.store.schema.statements import Rows
from empathylab.store.studies.archive import (
    ArchiveImport,
    administration_rows,
    any_study,
    archive_import,
    arm_rows,
    asked_templates,
    item_values,
    rater_rows,
    rating_rows,
    response_rows,
    scale_rows,
    set_rows,
    set_size,
    shown_rows,
    situation_rows,
)
from empathylab.store.studies.retention import without_free_words
from empathylab.study.archives.members import Archive
from empathylab.study.design.definition import Study
from empathylab.study.design.reading import study_from_dict

SITUATION_FIELDS = (
    "text",
    "emotion",
    "valence",
    "factor",
    "topic",
    "utterance",
    "counterpart",
    "title",
    "context",
)
SET_FIELDS = ("title", "language", "licence", "validated", "description")
_SECRET = ("codes", "return_url")


def pack_study(lab: Lab, name: str) -> Archive:
    """The study as an archive; the same study gives the same one, in whichever lab it is."""
    with lab.reading() as connection:
        return pack(connection, any_study(connection, name))


def pack(connection: Connection, study: Any) -> Archive:
    """The study in that row as an archive."""
    packer = _Packer(connection, study)
    return Archive(
        {
            "study.json": packer.head(),
            "protocol.json": shared_protocol(study.protocol),
            "sets.json": packer.sets(),
            "scales.json": packer.scales(),
            "arms.json": packer.arms(),
            "situations.jsonl": packer.situations(),
            "responses.jsonl": packer.responses(),
            "raters.jsonl": packer.raters(),
            "ratings.jsonl": packer.ratings(),
            "scale_answers.jsonl": packer.scale_answers(),
        }
    )


def shared_protocol(protocol: Mapping[str, Any]) -> dict[str, Any]:
    """The protocol without what would let others claim to have taken part."""
    kept = dict(protocol)
    if "recruitment" in kept:
        kept["recruitment"] = {
            key: value for key, value in kept["recruitment"].items() if key not in _SECRET
        }
    return kept


def is_complete(protocol: Mapping[str, Any]) -> bool:
    """Whether the protocol holds every text that raters saw, so that the study can go on."""
    return "blocks" in protocol


def read_protocol(
    protocol: Mapping[str, Any], *, where: str, recruitment: Mapping[str, Any] | None = None
) -> Study:
    """The study of a complete protocol; an archive holds no codes, so people come by a link."""
    return study_from_dict(
        {**protocol, "recruitment": recruitment or {"platform": "open"}}, where=where
    )


def rater_names(raters: Rows, *, pseudonyms: bool) -> dict[int, str]:
    """By row, the name under which a rater leaves the lab.

    Names that are keyed hashes stay; those that a file brought may be a platform's own ids, so
    people are numbered. Models keep their names.
    """
    if pseudonyms:
        return {int(rater.id): rater.name for rater in raters}
    return {
        int(rater.id): rater.name if rater.kind == "model" else f"rater-{number:04}"
        for number, rater in enumerate(raters, start=1)
    }


def day_of(moment: datetime | None) -> str | None:
    """The day, in UTC."""
    return None if moment is None else moment.date().isoformat()


class _Packer:
    """Turns the lab's numbers into names and places that another lab understands."""

    def __init__(self, connection: Connection, study: Any) -> None:
        self.connection, self.study = connection, study
        self.brought: ArchiveImport | None = archive_import(connection, study.name, study.version)
        self.summary: Mapping[str, Any] = self.brought.summary if self.brought else {}
        self._situations = situation_rows(connection, study.id)
        self._raters = rater_rows(connection, study.id)
        self._ratings = rating_rows(connection, study.id)
        self._administrations = administration_rows(connection, study.id)
        self._refuse_empty()
        used = {int(administration.scale_id) for administration in self._administrations}
        self._scales = scale_rows(connection, study.id, used)
        archived = {scale["here"]: scale["fingerprint"] for scale in self.summary.get("scales", ())}
        self._fingerprints = {
            int(row.id): archived.get(row.fingerprint, row.fingerprint) for row in self._scales
        }
        self._responses = self._in_order(response_rows(connection, study.id))
        known = study.launched_at is not None or self.brought is not None
        self.names = rater_names(self._raters, pseudonyms=known)
        self.numbers = {int(response.id): n for n, response in enumerate(self._responses, start=1)}
        self.labels = self._labels()
        self.keys = {
            int(situation.id): (self.labels[situation.situation_set_id], situation.key)
            for situation in self._situations
        }

    def _refuse_empty(self) -> None:
        if not self._situations and not self._raters:
            raise InputError(
                "the study has neither frozen situations nor raters, so there is nothing to "
                "archive",
                where=f"study {self.study.name}",
                remedy="Launch it, or import its ratings.",
            )

    def _in_order(self, responses: Rows) -> Rows:
        """By situation, respondent and text: the lab's own numbers differ from lab to lab."""
        positions = {int(situation.id): place for place, situation in enumerate(self._situations)}
        if any(int(response.situation_id) not in positions for response in responses):
            raise InputError(
                "raters rated responses to situations that are not the study's",
                where=f"study {self.study.name}",
                remedy="Remove those ratings from the study.",
            )
        return sorted(
            responses,
            key=lambda item: (
                positions[int(item.situation_id)],
                item.respondent,
                item.sample,
                item.prompt or "",
                item.text,
            ),
        )

    def _labels(self) -> dict[int, str]:
        """By row of a set, what the archive calls it: as in the lab that made it."""
        archived = {each_set["here"]: each_set["set"] for each_set in self.summary.get("sets", ())}
        rows = {situation.situation_set_id: situation for situation in self._situations}
        names = {
            number: f"{situation.set_name}@{situation.set_version}"
            for number, situation in rows.items()
        }
        return {number: archived.get(name, name) for number, name in names.items()}

    def head(self) -> dict[str, Any]:
        """What the study is."""
        if self.brought is not None:
            return dict(self.summary["study"])
        row = self.study
        return {
            "name": row.name,
            "version": row.version,
            "title": row.title,
            "protocol_hash": row.protocol_hash,
            "launched": day_of(row.launched_at),
            "closed": day_of(row.closed_at),
        }

    def sets(self) -> list[dict[str, Any]]:
        """Where its situations are from; only those that it uses are in the archive."""
        kept = {each_set["set"]: each_set for each_set in self.summary.get("sets", ())}
        heads = []
        for row in set_rows(self.connection, self.labels):
            label = self.labels[row.id]
            if label in kept:
                head = {key: value for key, value in kept[label].items() if key != "here"}
            else:
                used = sum(situation.situation_set_id == row.id for situation in self._situations)
                head = {
                    "set": label,
                    "id": row.name,
                    "version": row.version,
                    **{name: getattr(row, name) for name in SET_FIELDS},
                    "complete": used == set_size(self.connection, row.id),
                }
            heads.append(head)
        return sorted(heads, key=lambda item: str(item["set"]))

    def situations(self) -> list[dict[str, Any]]:
        """In the study's order."""
        return [
            {
                "set": self.labels[situation.situation_set_id],
                "situation": situation.key,
                **{name: getattr(situation, name) for name in SITUATION_FIELDS},
            }
            for situation in self._situations
        ]

    def scales(self) -> list[dict[str, Any]]:
        """Their structure and the hash of their wording."""
        shipped = {hash_of(scale_to_dict(scale)) for scale in builtin_scales().values()}
        scales = []
        for row in self._scales:
            definition = dict(row.definition)
            if row.fingerprint not in shipped:
                definition.pop("words", None)
            fingerprint = self._fingerprints[int(row.id)]
            scales.append(
                {"called": row.called, "fingerprint": fingerprint, "definition": definition}
            )
        return sorted(scales, key=lambda item: (str(item["called"]), str(item["fingerprint"])))

    def arms(self) -> list[dict[str, Any]]:
        """Whose replies they show, how those were asked for, and when they were rated."""
        shown: dict[str, list[int]] = {}
        for shown_row in shown_rows(self.connection, self.study.id):
            shown.setdefault(shown_row.arm, []).append(self.numbers[int(shown_row.response_id)])
        days: dict[str, list[date]] = {}
        for rating in self._ratings:
            if rating.rated_at is not None and rating.arm is not None:
                days.setdefault(rating.arm, []).append(rating.rated_at.date())
        templates = {
            **asked_templates(self.connection, self.study.id),
            **{arm["arm"]: arm["template"] for arm in self.summary.get("arms", ())},
        }
        return [
            {
                "arm": arm_row.name,
                "respondent": arm_row.respondent,
                "kind": arm_row.kind,
                "template": templates.get(arm_row.name),
                "first": _day(min, days.get(arm_row.name)),
                "last": _day(max, days.get(arm_row.name)),
                "shown": sorted(shown.get(arm_row.name, ())),
            }
            for arm_row in arm_rows(self.connection, self.study.id)
        ]

    def responses(self) -> list[dict[str, Any]]:
        """Numbered from 1 in the archive."""
        rows = []
        for response in self._responses:
            set_label, situation = self.keys[int(response.situation_id)]
            # Who wrote a reply in another study must not be recognisable in this one.
            details = {k: v for k, v in (response.details or {}).items() if k != "rater"}
            rows.append(
                {
                    "response": self.numbers[int(response.id)],
                    "set": set_label,
                    "situation": situation,
                    "respondent": response.respondent,
                    "kind": response.kind,
                    "sample": response.sample,
                    "prompt": response.prompt,
                    "text": response.text,
                    "details": details or None,
                }
            )
        return rows

    def raters(self) -> list[dict[str, Any]]:
        """Without identities and free words; `details` mark those whom a researcher excluded."""
        protocol = self.study.protocol
        where = f"study {self.study.name}"
        blocks = read_protocol(protocol, where=where).blocks if is_complete(protocol) else ()
        free = frozenset[str]().union(*(block.free_answers for block in blocks))
        return [
            {
                "rater": self.names[int(rater.id)],
                "kind": rater.kind,
                "seconds": rater.seconds,
                "details": without_free_words(rater.details, free),
            }
            for rater in self._raters
        ]

    def ratings(self) -> list[dict[str, Any]]:
        """In the order in which they were given."""
        return [
            {
                "rater": self.names[int(rating.rater_id)],
                "response": self.numbers[int(rating.response_id)],
                "arm": rating.arm,
                "dimension": rating.dimension,
                "value": rating.value,
                "label": rating.label,
                "seconds": rating.seconds,
                "day": day_of(rating.rated_at),
            }
            for rating in self._ratings
        ]

    def scale_answers(self) -> list[dict[str, Any]]:
        """Each answering of a scale by a rater."""
        values = item_values(self.connection, self.study.id)
        answers = []
        for administration in self._administrations:
            number = administration.situation_id
            set_label, situation = (None, None) if number is None else self.keys[int(number)]
            given = values.get(int(administration.id), {})
            answers.append(
                {
                    "rater": self.names[int(administration.rater_id)],
                    "scale": self._fingerprints[int(administration.scale_id)],
                    "phase": administration.phase,
                    "set": set_label,
                    "situation": situation,
                    "item_order": administration.item_order,
                    "answers": {str(item): value for item, value in given.items()},
                }
            )
        return answers


def _day(pick: Any, days: Iterable[date] | None) -> str | None:
    return pick(days).isoformat() if days else None
