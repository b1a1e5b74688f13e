"""Batches of items: which responses one rater gets, so that each gets its number of ratings.

A batch, with the arm it belongs to, is a slot. Slots follow from the study, its seed and the
situations alone; the arms of a design between subjects do not influence each other, so that one
that joins later meets the same batches in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from empathylab.errors import InputError
from empathylab.situations.turns import conversation_and_turn
from empathylab.study.assignment.latin_squares import williams_squares
from empathylab.study.assignment.seeded_random import shuffled
from empathylab.study.assignment.slots import Item, Slot, evenly
from empathylab.study.design.definition import EVERYONE, Study


def study_slots(study: Study, situations: Sequence[str]) -> dict[str, tuple[Slot, ...]]:
    """The slots of each arm, whose items together are all responses, each its number of times.

    Between subjects and where situations are imagined, each repeat is shuffled and cut again into
    batches as even as can be; all arms have the same ones. Within subjects, see
    `_all_replies` and `_one_reply`. A situation must not be named twice. With live replies, arms
    are combinations of author and label, and slots have no items. A follow-up has one arm.
    """
    if study.follow_up is not None:
        return {
            EVERYONE: tuple(Slot(EVERYONE, number, ()) for number in range(study.follow_up.people))
        }
    if study.live is not None:
        people = range(study.live.people_per_condition)
        return {
            arm: tuple(Slot(arm, number, ()) for number in people) for arm in study.live.conditions
        }
    if len(set(situations)) != len(situations):
        twice = next(situation for situation in situations if list(situations).count(situation) > 1)
        raise InputError("a situation is named twice", got=twice, remedy="Name each once.")
    if study.rated and study.design == "within":
        arrange = _all_replies if study.replies_per_situation == "all" else _one_reply
        batches = list(arrange(study, situations))
        return {EVERYONE: _numbered(EVERYONE, batches)}
    cut = list(_shuffled_batches(study, situations))
    if not study.rated:
        return {
            EVERYONE: _numbered(EVERYONE, [[Item(item, None) for item in part] for part in cut])
        }
    return {
        arm: _numbered(arm, [[Item(item, arm) for item in part] for part in cut])
        for arm in study.arms
    }


def _numbered(arm: str, batches: Sequence[Sequence[Item]]) -> tuple[Slot, ...]:
    return tuple(Slot(arm, number, tuple(items)) for number, items in enumerate(batches))


def _shuffled_batches(study: Study, situations: Sequence[str]) -> Iterator[Sequence[str]]:
    """Situations in batches; turns of a conversation stay together, in order, and count as one."""
    together: dict[str, list[str]] = {}
    for situation in sorted(situations, key=lambda item: conversation_and_turn(item)[1]):
        together.setdefault(conversation_and_turn(situation)[0], []).append(situation)
    for repeat in range(study.repeats):
        order = shuffled(together, study.seed, "packet", repeat)
        for batch in evenly(order, study.batch_size):
            yield [situation for name in batch for situation in together[name]]


def _all_replies(study: Study, situations: Sequence[str]) -> Iterator[list[Item]]:
    """Batches in which each situation comes with all replies, one after the other.

    The order of the replies is a row of a Williams design; the rows take turns, so that over the
    study each reply stands in each place, and follows each other, equally often but for one
    round.
    """
    arms = _arms_in_order(study)
    rows = [row for square in williams_squares(len(arms)) for row in square]
    turn = 0
    for batch in _shuffled_batches(study, situations):
        items = []
        for situation in batch:
            items += [Item(situation, arms[row]) for row in rows[turn % len(rows)]]
            turn += 1
        yield items


def _one_reply(study: Study, situations: Sequence[str]) -> Iterator[list[Item]]:
    """Batches in which each situation comes with one reply, and all arms equally often.

    As many situations as there are arms make a group. The raters of a group have the rows of a
    Williams design: in the same turn they meet the same situation, each with another's reply. The
    two squares of an odd number of arms take turns. A situation's turn is fixed within a group
    (one cannot balance both for all numbers of arms) and drawn again for each repeat.
    """
    arms = _arms_in_order(study)
    if len(situations) % len(arms):
        raise InputError(
            f"the number of situations must be a multiple of the number of arms, {len(arms)}, "
            "if each rater sees one reply per situation",
            got=len(situations),
            remedy=f"Use {len(situations) - len(situations) % len(arms)} of them, or set "
            "replies_per_situation to all.",
        )
    squares = williams_squares(len(arms))
    size = len(arms)
    for repeat in range(study.repeats):
        order = shuffled(situations, study.seed, "packet", repeat)
        groups = [
            (number, order[start : start + size])
            for number, start in enumerate(range(0, len(order), size))
        ]
        for together in evenly(groups, max(1, study.batch_size // size)):
            for rater in range(size):
                items = []
                for place, (number, group) in enumerate(together):
                    row = squares[(number + repeat) % len(squares)][(rater + place) % size]
                    items += [
                        Item(situation, arms[arm])
                        for situation, arm in zip(group, row, strict=True)
                    ]
                yield items


def _arms_in_order(study: Study) -> tuple[str, ...]:
    """Drawn by the seed: the order of keys in a file must not matter."""
    return shuffled(study.arms, study.seed, "arms")
