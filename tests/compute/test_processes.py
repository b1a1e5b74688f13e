"""Work on processes: the same results, in order, whatever happens to the workers."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import pickle
import signal
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest

from empathylab import compute
from empathylab.compute import engines, map_ordered
from empathylab.compute.chunks import WORKER_ENVIRONMENT, Outcome, Source
from empathylab.compute.ray_cluster import is_address
from empathylab.errors import ComputeError, InputError, ModelUnavailable
from tests.compute import work
from tests.helpers.waiting import wait_until

NUMBERS = range(25)


def test_one_two_and_three_workers_give_the_same() -> None:
    alone = list(map_ordered(work.drawn, NUMBERS, workers=1))
    assert alone == [work.drawn(number) for number in NUMBERS]
    assert len(set(alone)) == len(NUMBERS)
    spawned = np.random.default_rng(np.random.SeedSequence(7).spawn(4)[3])
    assert alone[3] == tuple(spawned.normal(size=3))
    for workers in (2, 3):
        assert list(map_ordered(work.drawn, NUMBERS, workers=workers)) == alone


def test_an_iterator_without_end_is_read_no_further_than_needed() -> None:
    numbers = itertools.count()
    with contextlib.closing(map_ordered(work.drawn, numbers, workers=2)) as results:
        first = list(itertools.islice(results, 10))
    assert first == [work.drawn(number) for number in range(10)]
    assert next(numbers) < 10_000


def test_short_work_starts_no_process_and_long_work_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "cores", lambda: 2)
    monkeypatch.setattr(engines, "_ALONE_SECONDS", math.inf)  # this machine may be busy
    assert set(map_ordered(work.process_id, range(50))) == {os.getpid()}
    monkeypatch.setattr(engines, "_ALONE_SECONDS", 0.0)
    monkeypatch.setattr(engines, "_WORTH_SECONDS", math.inf)  # little is left
    assert set(map_ordered(work.process_id, range(50))) == {os.getpid()}
    monkeypatch.setattr(engines, "_WORTH_SECONDS", 0.0)
    own, *others = map_ordered(work.process_id, range(50))
    assert own == os.getpid()
    assert own not in others
    monkeypatch.setattr(engines, "_ALONE_SECONDS", math.inf)
    assert own not in set(map_ordered(work.process_id, range(2), long=True))
    # A function that no other process can import is worked through here.
    assert list(map_ordered(lambda number: number + 1, range(3))) == [1, 2, 3]
    with pytest.raises(InputError, match="cannot import this function"):
        list(map_ordered(lambda number: number + 1, range(3), workers=2))


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_arrives_as_it_was_raised_with_its_item(workers: int) -> None:
    results = map_ordered(work.refuse_seven, range(20), workers=workers)
    assert [next(results) for _ in range(7)] == list(range(7))
    with pytest.raises(InputError) as caught:
        next(results)
    assert str(caught.value) == "seven is refused; got 7. Use eight."
    assert "item 7: 7" in caught.value.__notes__


def test_a_result_that_cannot_be_sent_is_named() -> None:
    with pytest.raises(TypeError, match="a result cannot be pickled: .*local object"):
        list(map_ordered(work.function_of, NUMBERS, workers=2))


def test_a_dead_worker_is_replaced(tmp_path: Path) -> None:
    found = list(map_ordered(partial(work.die_once, tmp_path), NUMBERS, workers=2))
    assert (tmp_path / "died").exists()
    assert found == list(NUMBERS)


def test_work_that_always_kills_its_worker_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(ComputeError, match="3 worker processes ended .* item 0 .signal SIGKILL"):
        list(map_ordered(partial(work.note_and_die, tmp_path), [1], workers=2))
    assert len(list(tmp_path.iterdir())) == 3


def test_a_worker_keeps_one_core_busy() -> None:
    settings = list(WORKER_ENVIRONMENT)
    assert list(map_ordered(work.setting, settings, workers=2)) == list(WORKER_ENVIRONMENT.values())


def test_chunks_wait_for_earlier_ones_and_stay_small() -> None:
    source = Source(enumerate(range(1_000)), workers=2)
    handed = [chunk for _ in range(20) if (chunk := source.take()) is not None]
    assert [chunk.items for chunk in handed] == [(number,) for number in range(8)]
    assert list(source.in_order(handed[1], Outcome(["b"], None, 1e-9))) == []
    assert source.take() is None
    assert list(source.in_order(handed[0], Outcome(["a"], None, 1e-9))) == ["a", "b"]
    quick = source.take()
    assert quick is not None
    assert quick.items == tuple(range(8, 264))


def test_closing_stops_the_workers(tmp_path: Path) -> None:
    before = set(psutil.Process().children())
    results = map_ordered(work.slow_square, range(10_000), workers=2)
    assert next(results) == 0
    started = set(psutil.Process().children()) - before
    assert started
    results.close()
    assert not any(process.is_running() for process in started)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_an_interrupted_or_killed_program(
    tmp_path: Path, ending: signal.Signals
) -> None:
    # Without `if __name__ == "__main__"`: functions of modules do not need it.
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        from functools import partial
        from pathlib import Path
        import sys
        from empathylab.compute import map_ordered
        from tests.compute import work
        folder = Path(sys.argv[1])
        list(map_ordered(partial(work.note_and_wait, folder), range(4), workers=2))
        """)
    )
    folder = tmp_path / "workers"
    folder.mkdir()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    program = subprocess.Popen(
        [sys.executable, script, folder], env=environment, stderr=subprocess.PIPE, text=True
    )
    wait_until(lambda: len(list(folder.iterdir())) == 2)
    workers = [int(path.name) for path in folder.iterdir()]
    program.send_signal(ending)
    _, said = program.communicate(timeout=120)
    wait_until(lambda: not any(psutil.pid_exists(worker) for worker in workers))
    assert said.count("Traceback") == (1 if ending is signal.SIGINT else 0)


def test_settings_come_from_the_call_the_choice_and_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = os.getpid()
    monkeypatch.setenv("EMPATHYLAB_WORKERS", "2")
    assert own not in set(map_ordered(work.process_id, range(2)))
    assert set(map_ordered(work.process_id, range(2), workers=1)) == {own}
    monkeypatch.setenv("EMPATHYLAB_WORKERS", "many")
    with pytest.raises(InputError, match="whole number of 1 or more; got 'many'"):
        list(map_ordered(work.process_id, range(2)))
    monkeypatch.setattr(engines, "_chosen", (None, None))
    compute.choose(workers=1)
    assert set(map_ordered(work.process_id, range(2))) == {own}
    monkeypatch.setenv("EMPATHYLAB_ENGINE", "spark")
    with pytest.raises(InputError, match="processes, ray or ray://host:port; got 'spark'"):
        list(map_ordered(work.process_id, range(2)))
    compute.choose("processes", workers=1)
    assert set(map_ordered(work.process_id, range(2))) == {own}
    with pytest.raises(InputError, match="got 'spark'"):
        compute.choose()  # no longer what was chosen before
    ports = ("ray://host:abc", "ray://host:0", "ray://host:65536", "ray://host:")
    for engine in ("spark", "rays", "ray:/x", "ray://", "ray://:6379", "ray://a b:1", *ports):
        with pytest.raises(InputError, match="processes, ray or ray://host:port"):
            compute.choose(engine)
    for engine in ("ray://host", "ray://10.0.0.1:65535", "ray://[::1]", "ray://[::1]:6379"):
        assert is_address(engine)
    with pytest.raises(InputError, match="whole number of 1 or more; got '0'"):
        compute.choose("processes", workers=0)


@pytest.mark.parametrize(
    "error",
    [
        InputError("wrong", got=3, remedy="Correct it."),
        ModelUnavailable("busy", "time-out", retry_after=2.0),
    ],
)
def test_errors_survive_the_way_between_processes(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
