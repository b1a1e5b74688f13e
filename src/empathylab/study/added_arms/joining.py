"""A new arm for a study that others were measured in: the same situations, instruments and texts.

Between subjects an arm's raters see nothing of the other arms, so an arm may join later and be
compared with those before. A study that ran here opens again for the new arm alone. One that came
as an archive is launched here, with the new arm alone. One whose ratings came from a published
file has no texts: they are taken from a study file, and what could not be compared is said.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection

from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.store.scales import lab_scales
from empathylab.store.selections import resolve_situations
from empathylab.store.studies.added_arms import arm_prompts, asked_by, keep_others_out
from empathylab.store.studies.archive import any_study, situation_rows
from empathylab.store.studies.records import (
    FrozenResponse,
    add_audit,
    change_study,
    frozen_arms,
    frozen_responses,
    lock_study,
    respondent_responses,
    respondent_row,
)
from empathylab.store.studies.records import add_arm as add_arm_row
from empathylab.study.added_arms.base_studies import MOST_NAMED, JoinBase, join_base
from empathylab.study.assignment.batches import study_slots
from empathylab.study.design.definition import Arm, Study
from empathylab.study.design.planning import needed_raters
from empathylab.study.design.protocol import to_dict
from empathylab.study.design.reading import study_from_dict

_ASKED_FOR = 200
"""Larger sets must be asked for as a whole: see `empathylab respond`."""


@dataclass(frozen=True, slots=True)
class JoinedArm:
    """What became of a new arm."""

    study: str
    arm: str
    respondent: str
    change: Literal["joined", "reopened", "launched", "unchanged"]
    places: int
    """How many raters the arm takes."""
    protocol_hash: str
    notes: tuple[str, ...]


def add_arm(
    lab: Lab,
    name: str,
    respondent: str,
    *,
    now: datetime,
    arm: str | None = None,
    prompt: str | None = None,
    file: Study | None = None,
    who: str = "researcher",
) -> JoinedArm:
    """The arm that joined; the study takes raters for it from now on.

    `arm` is its name, by default the respondent's without the provider. `file` is the study's
    file: needed where the lab does not hold its texts, and else for how people are recruited.
    """
    called = arm or re.sub(r"[^A-Za-z0-9._+-]+", "-", respondent.rsplit("/", 1)[-1]).strip("-.")
    known = lab_scales(lab)
    offered = None
    if file is not None:
        wanted = file.situations
        if wanted is None:
            raise InputError(
                "the arms of a study with live replies are set in its file",
                where=f"study {name}",
                remedy="Raise its version and add the author there.",
            )
        offered = resolve_situations(lab, wanted.source)
    plain = name.rpartition("@")[0] or name
    with lab.exclusive(f"launch-{plain}", what=f"the launch of {plain}"):
        with lab.writing() as connection:
            row = any_study(connection, name)
            lock_study(connection, row.id)
            base = join_base(connection, row, file, known, offered)
            return _join(
                connection, base, called, Arm(respondent=respondent, prompt=prompt), now, who
            )


def _join(
    connection: Connection, base: JoinBase, name: str, arm: Arm, now: datetime, who: str
) -> JoinedArm:
    row, where = base.row, f"study {base.row.name}"
    before = dict(base.study.arms) if base.here else {}
    arms = frozen_arms(connection, row.id)
    study = base.study.model_copy(update={"arms": {**before, name: arm}})
    slots = study_slots(study, list(base.keys))
    places = len(slots[name])
    if before.get(name) == arm:
        return JoinedArm(row.name, name, arm.respondent, "unchanged", places, row.protocol_hash, ())
    if name in arms:
        raise InputError(
            "the study already has an arm with this name",
            where=where,
            got=name,
            remedy="Give the new one another name with --arm.",
        )
    shown = respondent_responses(
        connection,
        arm.respondent,
        base.situations,
        sample=study.responses.sample,
        prompt=arm.prompt,
        arm=name,
    )
    _require_all(connection, base, arm, shown)
    _require_plan(connection, base, study, name, where)
    notes = [*base.notes, *_prompt_notes(connection, base, arm, shown)]
    # An arm's name and prompt must be such as a study file can hold.
    protocol = to_dict(study)
    study_from_dict(protocol, where=where)
    add_arm_row(connection, row.id, name, respondent_row(connection, arm.respondent), shown)
    change = _open(connection, base, protocol, name, now)
    # The protocol of a release is kept where a study file replaces it.
    release = {} if base.here else {"release": row.protocol}
    add_audit(
        connection,
        row.id,
        now,
        who,
        "add arm",
        arm=name,
        respondent=arm.respondent,
        change=change,
        **release,
    )
    return JoinedArm(row.name, name, arm.respondent, change, places, base.hash, tuple(notes))


def _open(
    connection: Connection, base: JoinBase, protocol: Mapping[str, Any], arm: str, now: datetime
) -> Literal["joined", "reopened", "launched"]:
    row = base.row
    values: dict[str, Any] = {"protocol": protocol, "revision": row.revision + 1}
    if not base.here:
        values |= {
            "protocol_hash": base.hash,
            "status": "open",
            "launched_at": now,
            "secret": secrets.token_hex(32),
        }
    elif row.status == "closed":
        values |= {"status": "open", "closed_at": None}
    change_study(connection, row.id, **values)
    if base.here and row.status != "closed":
        return "joined"
    keep_others_out(connection, row.id, arm)
    return "reopened" if base.here else "launched"


def _require_all(
    connection: Connection, base: JoinBase, arm: Arm, shown: Sequence[FrozenResponse]
) -> None:
    """Every situation of the study needs a reply; else the arms would be of other situations."""
    replied = {item.situation for item in shown}
    lacking = [
        key for number, key in zip(base.situations, base.keys, strict=True) if number not in replied
    ]
    if not lacking:
        return
    named = ", ".join(lacking[:MOST_NAMED]) + (" …" if len(lacking) > MOST_NAMED else "")
    raise InputError(
        f"{arm.respondent} has no usable reply to {len(lacking)} of the study's {len(base.keys)} "
        "situations",
        where=f"study {base.row.name}",
        got=f"none to {named}",
        remedy=f"Run `{_respond_command(connection, base, arm)}`, or import them.",
    )


def _respond_command(connection: Connection, base: JoinBase, arm: Arm) -> str:
    rows = situation_rows(connection, base.row.id)
    prompts = arm_prompts(connection, base.row.id)
    template = arm.prompt or (next(iter(prompts)) if len(prompts) == 1 else None)
    if template is None:
        asked = base.row.protocol.get("replies", {})
        template = asked.get("template")
    command = f"empathylab respond {arm.respondent} --set {rows[0].set_name}"
    if len(rows) > _ASKED_FOR:
        command += " --situations 0"
    return command if template is None else f"{command} --template {template.partition('@')[0]}"


def _require_plan(
    connection: Connection, base: JoinBase, study: Study, name: str, where: str
) -> None:
    keys = dict(zip(base.situations, base.keys, strict=True))
    frozen = frozen_responses(connection, base.row.id)
    replied = {
        arm: {keys[item.situation] for item in frozen.get(arm, ()) if item.situation in keys}
        for arm in study.arms
    }
    replied[name] = set(base.keys)
    plan = needed_raters(study, base.keys, replied, base.scales)
    if not plan.ready:
        raise InputError(
            "the arm cannot be added: " + " ".join(plan.problems).removesuffix("."),
            where=where,
            remedy="Fix this first.",
        )


def _prompt_notes(
    connection: Connection, base: JoinBase, arm: Arm, shown: Sequence[FrozenResponse]
) -> list[str]:
    others = arm_prompts(connection, base.row.id)
    own = asked_by(connection, [item.response for item in shown])
    if others and own and own != others:
        return [
            (
                f"The replies of {arm.respondent} were asked for by {', '.join(sorted(own))}, "
                f"those of the other arms by {', '.join(sorted(others))}."
            )
        ]
    return []
