"""Requests that wait for other threads without one of their own."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest

from empathylab.study.group_commit.waiting import Waiting


def test_everybody_gets_their_own_result() -> None:
    async def wait() -> list[int]:
        waiting = Waiting()
        coming: list[Future[int]] = [Future() for _ in range(50)]

        def settle() -> None:
            for number, one in enumerate(coming):
                one.set_result(number)

        tasks = [asyncio.create_task(waiting.for_result(item)) for item in coming]
        await asyncio.sleep(0)
        threading.Thread(target=settle).start()
        return await asyncio.gather(*tasks)

    assert asyncio.run(wait()) == list(range(50))


def test_what_is_done_already_is_not_waited_for() -> None:
    done: Future[str] = Future()
    done.set_result("done")
    assert asyncio.run(Waiting().for_result(done)) == "done"


def test_an_error_is_raised_where_it_is_waited_for() -> None:
    failed: Future[str] = Future()
    failed.set_exception(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        asyncio.run(Waiting().for_result(failed))


def test_one_who_gives_up_keeps_nobody_else_waiting() -> None:
    async def wait() -> str:
        waiting = Waiting()
        coming: list[Future[str]] = [Future(), Future()]
        impatient, patient = (asyncio.create_task(waiting.for_result(item)) for item in coming)
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.sleep(0)
        for item in coming:
            item.set_result("done")
        return await patient

    assert asyncio.run(wait()) == "done"


def test_work_that_outlives_the_loop_is_no_error() -> None:
    coming: Future[str] = Future()

    async def give_up() -> None:
        task = asyncio.create_task(Waiting().for_result(coming))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(give_up())
    coming.set_result("done")
    assert coming.result() == "done"


def test_the_same_waiting_serves_one_loop_after_another() -> None:
    waiting = Waiting()
    for number in range(3):
        done: Future[int] = Future()
        threading.Timer(0.01, done.set_result, [number]).start()
        assert asyncio.run(waiting.for_result(done)) == number
