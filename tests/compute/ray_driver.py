"""A program that works on a Ray cluster and prints what happened as JSON; `test_ray` runs it."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ray
from ray._private.worker import global_worker

from empathylab import __version__
from empathylab.compute import map_ordered, ray_cluster
from empathylab.compute.ray_cluster import connect
from empathylab.errors import UserError
from empathylab.stats.mixed import lmm
from empathylab.stats.mixed.bootstrap import parametric_bootstrap
from empathylab.stats.power.simulation import PlannedStudy, simulated_power
from tests.compute import work
from tests.stats.mixed.rated_frames import crossed

NUMBERS = range(25)


def message(call: Callable[[], object]) -> str:
    """The error that a call ends with."""
    try:
        call()
    except UserError as error:
        return str(error)
    return "no error"


def of_another_python(address: str) -> str:
    """Joins the cluster while its records say that it was started with another Python."""
    connect(address, None)
    place = {"key": b"CLUSTER_METADATA", "namespace": b"cluster"}
    client = global_worker.gcs_client
    before = json.loads(client.internal_kv_get(**place))
    for version in ("3.9.1", before["python_version"]):
        changed = json.dumps(before | {"python_version": version}).encode()
        client.internal_kv_put(value=changed, overwrite=True, **place)
        ray.shutdown()
        if version == "3.9.1":
            found = message(lambda: connect(address, None))
            client = ray._raylet.GcsClient(address=address.removeprefix("ray://"))
    return found


def healthy(address: str) -> dict[str, Any]:
    """What the cluster does with work, good and bad."""
    on = partial(map_ordered, engine=address)
    fit = lmm(crossed(12, 6, 1).rename({"rating": "score"}), "score ~ arm + (1|rater)")
    plan = PlannedStudy(8, 4, 2.0)
    found: dict[str, Any] = {}
    found["nobody there"] = message(
        lambda: list(map_ordered(work.drawn, NUMBERS, engine="ray://127.0.0.1:1"))
    )
    found["drawn"] = [list(on(work.drawn, NUMBERS, workers=count)) for count in (1, 2, 3)]
    for engine in (address, "processes"):
        os.environ["EMPATHYLAB_ENGINE"] = engine
        found[f"bootstrap {engine[:3]}"] = repr(parametric_bootstrap(fit, replications=8).estimates)
        found[f"power {engine[:3]}"] = repr(simulated_power(plan, simulations=8))
    found["refused"] = message(lambda: list(on(work.refuse_seven, NUMBERS)))
    with tempfile.TemporaryDirectory() as folder:
        found["died once"] = list(on(partial(work.die_once, Path(folder)), NUMBERS))
        found["died"] = (Path(folder) / "died").exists()
    found["died always"] = message(lambda: list(on(work.die_always, NUMBERS)))
    sys.path.insert(0, str(Path.home() / "only_here"))
    import only_here  # type: ignore[import-not-found]

    ray_cluster.__version__ = "0.0.1"
    found["another empathylab"] = message(lambda: list(on(work.drawn, NUMBERS)))
    ray_cluster.__version__ = __version__
    found["no package"] = message(lambda: list(on(only_here.function, NUMBERS)))
    found["spilled"] = list(on(partial(work.length, bytes(150_000_000)), [1]))
    found["another python"] = of_another_python(address)
    return found


def without_room(address: str) -> dict[str, str]:
    """Hands over, and gets back, more than the cluster can hold."""
    on = partial(map_ordered, engine=address)
    return {
        "a large function": message(
            lambda: list(on(partial(work.length, bytes(150_000_000)), [1]))
        ),
        "large results": message(lambda: list(on(bytes, [60_000_000] * 4))),
    }


def until_allowed(address: str, folder: str) -> dict[str, Any]:
    """Works on all four cores; the test ends a node, and then lets the work go on."""
    square = partial(work.square_once_allowed, Path(folder))
    return {"results": list(map_ordered(square, NUMBERS, engine=address))}


def until_the_head_is_gone(address: str, folder: str) -> dict[str, Any]:
    """Works until the cluster ends; the results before that are kept."""
    results: list[int] = []

    def go_on() -> None:
        for result in map_ordered(work.slow_square, range(10_000), engine=address):
            results.append(result)
            (Path(folder) / "working").touch()

    return {"message": message(go_on), "results": results}


def joined(address: str) -> str:
    """What joining the cluster ends with."""
    return message(lambda: connect(address, None))


if __name__ == "__main__":
    called = {
        "healthy": healthy,
        "full": without_room,
        "a node less": until_allowed,
        "joined": joined,
        "headless": until_the_head_is_gone,
    }[sys.argv[1]]
    sys.stdout.write(json.dumps(called(*sys.argv[2:])))
