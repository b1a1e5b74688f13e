"""Launching a study: what raters will see is frozen in the lab, and hashed."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row

from empathylab.errors import InputError
from empathylab.scales import Scale, scale_to_dict
from empathylab.situations import Situation, SituationSet
from empathylab.store import Lab
from empathylab.store.inserts import add_scale, add_situation_set, hash_of
from empathylab.store.scales import lab_scales
from empathylab.store.selections import resolve_situations
from empathylab.store.studies.records import (
    FrozenResponse,
    add_arm,
    add_audit,
    add_launched,
    change_study,
    find_study,
    freeze_scales,
    freeze_situations,
    frozen_arms,
    frozen_responses,
    respondent_responses,
    respondent_row,
)
from empathylab.study.assignment.batches import study_slots
from empathylab.study.design.definition import Study
from empathylab.study.design.materials import choose_scales, choose_situations
from empathylab.study.design.planning import needed_raters
from empathylab.study.design.protocol import protocol_hash, require_same_protocol, to_dict
from empathylab.study.design.reading import study_from_dict


@dataclass(frozen=True, slots=True)
class _Material:
    """What the study uses of the lab as it is now."""

    situations: tuple[Situation, ...]
    scales: Mapping[str, Scale] = field(hash=False)

    @property
    def fingerprints(self) -> dict[str, str]:
        return fingerprints(
            self.situations,
            {name: hash_of(scale_to_dict(scale)) for name, scale in self.scales.items()},
        )


def fingerprints(situations: Sequence[Situation], scales: Mapping[str, str]) -> dict[str, str]:
    """The hashes of what a study only names; `scales` are those of its scales, wording included."""
    return {
        "situations": hash_of([situation.content() for situation in situations]),
        **{f"scale {name}": scale for name, scale in scales.items()},
    }


def launch(lab: Lab, study: Study, *, now: datetime, who: str = "researcher") -> str:
    """The name under which the study runs; it takes people from now on.

    The first time, everything that raters will see is frozen. Launched again, the study must be
    the same; only how people are recruited may change, and between subjects an arm may join.
    Other words need a new version, which is a study with raters of its own.
    """
    known = lab_scales(lab)
    whole, offered = _offered(lab, study)
    with lab.exclusive(f"launch-{study.name}", what=f"the launch of {study.name}"):
        with lab.writing() as connection:
            ids = {} if whole is None else add_situation_set(connection, whole)
            chosen = choose_situations(study, offered)
            rows = [ids[item.id] for item in chosen]
            existing = _launched_before(connection, study)
            again = existing is not None and existing.version == study.version
            frozen = (
                frozen_responses(connection, existing.id) if existing is not None and again else {}
            )
            shown = _shown(connection, study, rows, frozen)
            _refuse_unready(study, chosen, rows, shown, known)
            material = _Material(chosen, choose_scales(study, known))
            if existing is not None and again:
                _launch_again(connection, existing, study, material, shown, now, who)
            else:
                _launch_first(connection, existing, study, material, rows, shown, now, who)
    return study.name


def _offered(lab: Lab, study: Study) -> tuple[SituationSet | None, tuple[Situation, ...]]:
    """The set or selection that the file names; nothing where participants tell their own."""
    if study.situations is None:
        return None, ()
    return resolve_situations(lab, study.situations.source)


def _launched_before(connection: Connection, study: Study) -> Row[Any] | None:
    """The newest version in the lab."""
    existing = find_study(connection, study.name, lock=True)
    if existing is None:
        return None
    if existing.launched_at is None:
        raise InputError(
            "the lab has an imported study with this name",
            got=study.name,
            remedy="Give this one another name.",
        )
    if study.version < existing.version:
        raise InputError(
            f"version {existing.version} of the study has already been launched",
            where=f"study {study.name}",
            got=f"version {study.version}",
            remedy=f"Launch version {existing.version}, or a newer one.",
        )
    return existing


def _shown(
    connection: Connection,
    study: Study,
    situations: Sequence[int],
    frozen: Mapping[str, Sequence[FrozenResponse]],
) -> dict[str, Sequence[FrozenResponse]]:
    """By arm, the responses to show; those of arms launched before stay as they were."""
    if not study.rated:
        return {}
    return {
        name: frozen.get(name)
        or respondent_responses(
            connection,
            arm.respondent,
            situations,
            sample=study.responses.sample,
            prompt=arm.prompt,
            arm=name,
        )
        for name, arm in study.arms.items()
    }


def _refuse_unready(
    study: Study,
    chosen: Sequence[Situation],
    rows: Sequence[int],
    shown: Mapping[str, Sequence[FrozenResponse]],
    known: Mapping[str, Scale],
) -> None:
    keys = dict(zip(rows, (item.id for item in chosen), strict=True))
    replied = {
        arm: {keys[response.situation] for response in responses if response.situation in keys}
        for arm, responses in shown.items()
    }
    plan = needed_raters(study, [item.id for item in chosen], replied, known)
    if not plan.ready:
        raise InputError(
            "the study cannot be launched: " + " ".join(plan.problems).removesuffix("."),
            where=f"study {study.name}",
            remedy="Run `empathylab study check FILE` for the whole plan.",
        )


def _launch_first(
    connection: Connection,
    before: Row[Any] | None,
    study: Study,
    material: _Material,
    situations: Sequence[int],
    shown: Mapping[str, Sequence[FrozenResponse]],
    now: datetime,
    who: str,
) -> None:
    row = {
        "name": study.name,
        "version": study.version,
        "title": study.title.in_language(study.languages[0]),
        "protocol": to_dict(study),
        "protocol_hash": protocol_hash(study, material.fingerprints),
        "status": "open",
        "added_at": now,
        "launched_at": now,
        # One secret for all versions, so that someone who took part in one is known in the next.
        "secret": secrets.token_hex(32) if before is None else before.secret,
    }
    number = add_launched(connection, row)
    freeze_situations(connection, number, situations)
    freeze_scales(
        connection,
        number,
        {name: add_scale(connection, scale) for name, scale in material.scales.items()},
    )
    _add_arms(connection, number, study, shown)
    for name in study_slots(study, [situation.id for situation in material.situations]):
        if name not in shown:
            add_arm(connection, number, name, None)
    add_audit(connection, number, now, who, "launch", version=study.version)


def _launch_again(
    connection: Connection,
    existing: Row[Any],
    study: Study,
    material: _Material,
    shown: Mapping[str, Sequence[FrozenResponse]],
    now: datetime,
    who: str,
) -> None:
    before = study_from_dict(existing.protocol, where=f"study {study.name} of the lab")
    require_same_protocol(before, study)
    if protocol_hash(study, material.fingerprints) != existing.protocol_hash:
        raise InputError(
            "situations or scales have changed in the lab since the study was launched",
            where=f"study {study.name}",
            remedy=f"Restore them, or set version to {study.version + 1}: it is then a separate "
            "study, with its own raters.",
        )
    for name, arm in before.arms.items():
        if study.arms.get(name) != arm:
            raise InputError(
                "an arm that was launched can be stopped, but not removed or changed",
                where=f"study {study.name}",
                got=name,
                remedy="Restore it. A new arm needs its own name.",
            )
    protocol = to_dict(study)
    if protocol == to_dict(before):
        return
    new = {name: arm for name, arm in shown.items() if name not in before.arms}
    for name in frozen_arms(connection, existing.id):
        if name in new:
            raise InputError(
                "this arm was rated elsewhere and cannot get participants here",
                where=f"study {study.name}",
                got=name,
                remedy="Leave it out of the file; its ratings stay in the study.",
            )
    _add_arms(connection, existing.id, study, new)
    change_study(connection, existing.id, protocol=protocol, revision=existing.revision + 1)
    add_audit(connection, existing.id, now, who, "change", arms=sorted(new))


def _add_arms(
    connection: Connection,
    number: int,
    study: Study,
    shown: Mapping[str, Sequence[FrozenResponse]],
) -> None:
    for name, responses in shown.items():
        respondent = respondent_row(connection, study.arms[name].respondent)
        add_arm(connection, number, name, respondent, responses)
