"""Models that run on this machine: the embedded one, or any GGUF file."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib.util
import json
import os
import secrets
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

from empathylab.errors import MissingExtra, ModelSetup, ModelUnavailable
from empathylab.models.endpoint import EndpointModel
from empathylab.models.interface import Completion, Message, Parameters
from empathylab.models.request_options import RequestOptions
from empathylab.models.threads import RateWatch, thread_counts, usable_cores

_START_SECONDS = 300.0
_STOP_SECONDS = 5.0
_PROBE = "Tell me about a walk by the sea."
_PROBE_TOKENS = 4
_PROBE_SECONDS = 0.7
_PROBES = 2


class _Server:
    """llama.cpp in a child process, with its address and what it said last."""

    def __init__(self, process: asyncio.subprocess.Process, log: IO[bytes]) -> None:
        self.process = process
        self.log = log
        self.endpoint: EndpointModel | None = None

    async def close(self) -> None:
        if self.endpoint is not None:
            await self.endpoint.close()
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), _STOP_SECONDS)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()
        self.log.close()

    def last_words(self) -> str:
        self.log.seek(0)
        lines = [line for line in self.log.read().decode("utf-8", "replace").splitlines() if line]
        return lines[-1].strip() if lines else ""


class LocalModel:
    """A GGUF file served by llama.cpp in a child process, started on first use.

    Without a number of threads it takes the one that is fastest at the start, and looks again when
    the model becomes much slower. Where llama.cpp was built for a GPU, as many layers are put on
    it as fit.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        *,
        slots: int = 8,
        threads: int | None = None,
        options: RequestOptions | None = None,
    ) -> None:
        self.name = name
        self.path = path
        self.concurrency = slots
        self.threads = threads
        """Those in use; None before the first question."""
        self._chooses = threads is None
        self._options = options or RequestOptions()
        self._server: _Server | None = None
        self._watch = RateWatch()
        self._slow = False
        self._under_way = 0
        self._free = asyncio.Event()
        self._starting = asyncio.Lock()

    @property
    def identity(self) -> str:
        if not self.path.is_file():
            return self.name
        described = str(self._options)
        signed = f"{self.name} ({self.path.name}, {_sign(self.path)})"
        return signed + (f" with {described}" if described else "")

    @property
    def adjusted(self) -> str:
        served = self._server and self._server.endpoint
        return served.adjusted if served else ""

    def output_limit(self, parameters: Parameters) -> int:
        return self._client("http://127.0.0.1").output_limit(parameters)

    def __repr__(self) -> str:
        return f"LocalModel({self.name!r}, {str(self.path)!r})"

    async def start(self) -> None:
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtra("xllamacpp", "local", "A local model")
        if not self.path.is_file():
            raise ModelSetup(
                "there is no such model file",
                where=self.name,
                got=str(self.path),
                remedy="Check the path.",
            )

    async def complete(
        self, messages: tuple[Message, ...], parameters: Parameters, *, timeout: float
    ) -> Completion:
        server = await self._take()
        assert server.endpoint is not None  # noqa: S101 - set when it was launched
        try:
            completion = await server.endpoint.complete(messages, parameters, timeout=timeout)
        except ModelUnavailable as error:
            if server.process.returncode is not None:
                raise ModelSetup(
                    f"the local model's process ended with code {server.process.returncode}",
                    where=self.name,
                    got=server.last_words(),
                    remedy="Check that the machine has enough memory for it.",
                ) from error
            raise
        finally:
            self._give_back()
        if self._chooses and self._watch.collapsed(completion.usage.completion_tokens):
            self._slow = True
        return completion

    async def close(self) -> None:
        if self._server is not None:
            server, self._server = self._server, None
            await server.close()

    async def _take(self) -> _Server:
        """The server, once it is up; a new one where the old has become slow."""
        async with self._starting:
            if self._slow and self._server is not None:
                while self._under_way:
                    self._free.clear()
                    await self._free.wait()
                await self.close()
                self._watch.probed()
                self._slow = False
            if self._server is None:
                await self.start()
                self._server = await self._fastest()
            self._under_way += 1
            self._watch.began()
            return self._server

    def _give_back(self) -> None:
        self._under_way -= 1
        if not self._under_way:
            self._watch.idle()
            self._free.set()

    async def _fastest(self) -> _Server:
        """A server with the number of threads that writes fastest now."""
        if not self._chooses:
            assert self.threads is not None  # noqa: S101 - the user gave it
            return await self._launch(self.threads)
        counts = thread_counts(usable_cores())
        best = await self._launch(counts[0])
        self.threads = counts[0]
        if len(counts) == 1:
            return best
        try:
            rate = await self._rate(best)
            for threads in counts[1:]:
                other = await self._launch(threads)
                best, other, rate, faster = await self._faster(best, other, rate)
                await other.close()
                if not faster:
                    break
                self.threads = threads
        except BaseException:
            await best.close()
            raise
        return best

    async def _faster(
        self, best: _Server, other: _Server, rate: float
    ) -> tuple[_Server, _Server, float, bool]:
        """The faster of two servers, the other one, the rate, and whether they changed places."""
        try:
            other_rate = await self._rate(other)
        except BaseException:
            await other.close()
            raise
        return (other, best, other_rate, True) if other_rate > rate else (best, other, rate, False)

    async def _rate(self, server: _Server) -> float:
        """Tokens per second in about a second of short answers, a few at once."""
        assert server.endpoint is not None  # noqa: S101 - set when it was launched
        endpoint, written = server.endpoint, 0
        asked = (Message("user", _PROBE),)
        parameters = Parameters(temperature=0, max_tokens=_PROBE_TOKENS, seed=1)
        await endpoint.complete(
            asked, parameters, timeout=_START_SECONDS
        )  # the prompt is read once
        started = time.perf_counter()

        async def write() -> None:
            nonlocal written
            while time.perf_counter() - started < _PROBE_SECONDS:
                answer = await endpoint.complete(asked, parameters, timeout=_START_SECONDS)
                written += max(1, answer.usage.completion_tokens)

        await asyncio.gather(*(write() for _ in range(min(_PROBES, self.concurrency))))
        return written / (time.perf_counter() - started)

    async def _launch(self, threads: int) -> _Server:
        key = secrets.token_urlsafe(24)  # other users of this machine have no business here
        log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        command = [sys.executable, "-m", "empathylab.models.llama_server", str(self.path)]
        command += ["--slots", str(self.concurrency), "--threads", str(threads)]
        # A session of its own: Ctrl-C reaches the lab only, which then ends the model cleanly.
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env=os.environ | {"EMPATHYLAB_LLAMA_KEY": key},
            start_new_session=True,
        )
        server = _Server(process, log)
        try:
            server.endpoint = self._client(await self._address(server), key)
        except BaseException:
            await server.close()
            raise
        return server

    def _client(self, address: str, key: str | None = None) -> EndpointModel:
        return EndpointModel(
            self.name,
            model=self.path.stem,
            base_url=f"{address}/v1",
            key=key,
            concurrency=self.concurrency,
            options=self._options,
        )

    async def _address(self, server: _Server) -> str:
        assert server.process.stdout is not None  # noqa: S101 - opened as a pipe
        line = b""
        with contextlib.suppress(TimeoutError):
            line = await asyncio.wait_for(server.process.stdout.readline(), _START_SECONDS)
        try:
            return str(json.loads(line)["address"])
        except (ValueError, KeyError) as error:
            raise ModelSetup(
                "llama.cpp could not load the model file",
                where=self.name,
                got=server.last_words() or str(self.path),
                remedy="Check that it is a complete GGUF file and that there is enough memory.",
            ) from error


def _sign(path: Path) -> str:
    """Identifies files without reading gigabytes: size, and a hash of both ends."""
    size, ends = path.stat().st_size, 1 << 20
    with path.open("rb") as file:
        digest = hashlib.sha256(file.read(ends))
        file.seek(max(0, size - ends))
        digest.update(file.read())
    return f"{size} bytes, {digest.hexdigest()[:12]}"
