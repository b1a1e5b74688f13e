"""What a study uses of the lab: situations and scales."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from empathylab.errors import InputError, UnknownName
from empathylab.scales import Scale, find_scale
from empathylab.situations import Situation
from empathylab.study.assignment.seeded_random import shuffled
from empathylab.study.design.definition import Study


def choose_situations(study: Study, situations: Iterable[Situation]) -> tuple[Situation, ...]:
    """The situations that the study's file asks for, drawn by its seed, in the set's order.

    `situations` are those of the set or selection that the file names.
    """
    wanted = study.situations
    if wanted is None:
        return ()
    offered = tuple(situations)
    pool = [item for item in offered if wanted.valence in (None, item.valence)]
    drawn = {item.id for item in _grouped(study, pool)}
    pool = [item for item in pool if item.id in drawn]
    if wanted.count is not None:
        if wanted.count > len(pool):
            raise _too_few(study, "situations", wanted.count, len(pool))
        kept = set(shuffled([item.id for item in pool], study.seed, "situations")[: wanted.count])
        pool = [item for item in pool if item.id in kept]
    if not pool:
        raise _too_few(study, "situations", 1, 0)
    return tuple(pool)


def choose_scales(study: Study, known: Mapping[str, Scale]) -> dict[str, Scale]:
    """The scales that the study asks, under the names that its file uses."""
    scales = {}
    for block in study.blocks:
        if (name := block.uses_scale) is not None:
            scale = find_scale(name, (*known.values(), *block.bundled_scales))
            if scale is None:
                where = f"study {study.name}, block {block.id!r}"
                raise UnknownName("scale", name, known, where=where)
            scales[name] = scale
    return scales


def _grouped(study: Study, pool: list[Situation]) -> list[Situation]:
    wanted = study.situations
    if wanted is None or wanted.group is None:
        return pool
    groups: dict[str, list[Situation]] = {}
    for item in pool:
        name = getattr(item, wanted.group)
        if name is not None:
            groups.setdefault(name, []).append(item)
    per_group = wanted.per_group
    counts = dict.fromkeys(groups, per_group) if isinstance(per_group, int) else dict(per_group)
    chosen = []
    for name, count in counts.items():
        if name not in groups:
            raise UnknownName(wanted.group, name, groups, where=f"study {study.name}, 'situations'")
        if count > len(groups[name]):
            raise _too_few(study, f"situations of {wanted.group} {name}", count, len(groups[name]))
        by_id = {group.id: group for group in groups[name]}
        order = shuffled(by_id, study.seed, "situations", name)
        chosen += [by_id[item] for item in order[:count]]
    return chosen


def _too_few(study: Study, what: str, wanted: int, available: int) -> InputError:
    return InputError(
        f"the study asks for {wanted} {what}, but there are {available}",
        where=f"study {study.name}, 'situations'",
        remedy="Ask for fewer, or name a larger set.",
    )
