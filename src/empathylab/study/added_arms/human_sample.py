"""Which of a respondent's replies people should rate, when they cannot rate all.

The part must be random, and known before the first rating. A study's batches are shuffled by its
stored seed and given out in their order, so the first batches are a random part: an arm that is
closed after so many raters has rated them. Where the lab has ratings only and no batches, the
part is drawn by a seed of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.store.selections import resolve_situations, save_selection
from empathylab.store.studies.archive import any_study, situation_rows
from empathylab.study.archives.packing import is_complete, read_protocol
from empathylab.study.assignment.batches import study_slots
from empathylab.study.assignment.seeded_random import shuffled
from empathylab.study.assignment.slots import Item
from empathylab.study.design.definition import Arm


@dataclass(frozen=True, slots=True)
class HumanSample:
    """The situations whose replies people should rate."""

    selection: str
    """The name under which the lab keeps it."""
    situations: tuple[str, ...]
    seed: int
    raters: int | None
    """How many batches that is; None where the study's batches are not known."""
    command: str
    """What lets people rate them."""
    advice: str


def choose_human_sample(
    lab: Lab, study: str, respondent: str, count: int, *, seed: int = 1
) -> HumanSample:
    """So many of the study's situations or a few more, to make whole batches; kept in the lab."""
    with lab.reading() as connection:
        row = any_study(connection, study)
        rows = situation_rows(connection, row.id)
        keys = [row.key for row in rows]
    where = f"study {row.name}"
    if not 0 < count <= len(keys):
        raise InputError(
            f"a sample must have 1 to {len(keys)} situations, the number in the study",
            where=where,
            got=count,
            remedy="Give another number with --human-sample.",
        )
    raters, chosen = None, list(shuffled(keys, seed, "human sample", row.name)[:count])
    command = f"empathylab study add-arm {row.name} --respondent {respondent}"
    if is_complete(row.protocol):
        whole = read_protocol(row.protocol, where=where)
        seed = whole.seed
        batches = study_slots(
            whole.model_copy(update={"arms": {"new": Arm(respondent=respondent)}}), keys
        )
        raters, chosen = _whole_batches([slot.items for slot in batches.get("new", ())], count)
        advice = (
            f"Close the study once {raters} people have finished: they get these replies, in "
            "batches shuffled by the study's own seed."
        )
    else:
        command += " --file STUDY.yaml"
        advice = (
            "The lab has this study's ratings but not its texts. Write them into a study file, "
            "whose batches are shuffled, and close it once this many replies are rated. Or let "
            "people rate only these replies elsewhere, and import the ratings with "
            f"`{_import_command(row, rows)}`."
        )
    name = _name(row.name, respondent, count)
    recipe = {"kind": "human sample", "study": row.name, "respondent": respondent, "count": count}
    whole_set, _ = resolve_situations(lab, str(rows[0].set_name))
    save_selection(lab, name, whole_set, chosen, {**recipe, "seed": seed})
    return HumanSample(name, tuple(chosen), seed, raters, command, advice)


def _import_command(row: Any, rows: Sequence[Any]) -> str:
    """With the scale's labels: by others, the ratings would be those of another study."""
    command = f"empathylab data import ratings FILE --set {rows[0].set_name} --study {row.name}"
    labels = [
        dimension["labels"]
        for dimension in row.protocol.get("dimensions", ())
        if dimension["labels"]
    ]
    return f"{command} --labels {','.join(labels[0])}" if labels else command


def _whole_batches(batches: Sequence[Sequence[Item]], count: int) -> tuple[int, list[str]]:
    """How many batches hold so many situations, and which these are."""
    situations: dict[str, None] = {}
    for number, items in enumerate(batches, start=1):
        situations |= dict.fromkeys(item.situation for item in items)
        if len(situations) >= count:
            return number, list(situations)
    return len(batches), list(situations)


def _name(study: str, respondent: str, count: int) -> str:
    """A name such as selections bear."""
    return re.sub(r"[^a-z0-9]+", "-", f"{study} {respondent} rate {count}".lower()).strip("-")
