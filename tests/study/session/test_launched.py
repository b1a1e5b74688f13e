"""What a launched study knows of the participant in a row."""

from __future__ import annotations

from types import SimpleNamespace

from empathylab.store import Lab
from tests.study.service_examples import opened


def test_participants_of_one_arm_get_the_batches_of_their_own_slots(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    launched = service.launched
    first, second = (SimpleNamespace(arm="one", slot=slot, person="ann") for slot in (0, 1))
    assert [launched.slot_of(row) for row in (first, second)] == list(launched.slots["one"][:2])
    assert launched.slot_of(first) != launched.slot_of(second)
    assert launched.path_of(second).items == 2


def test_nobody_has_a_batch_before_they_have_a_slot(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    row = SimpleNamespace(arm=None, slot=None, person="ann")
    assert service.launched.slot_of(row) is None
    assert service.launched.path_of(row).items is None
