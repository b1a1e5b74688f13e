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
from pathlib import Path
from typing import IO

from empathylab.errors import MissingExtra, ModelSetup, ModelUnavailable
from empathylab.models.endpoint import EndpointModel
from empathylab.models.interface import Completion, Message, Parameters
from empathylab.models.request_options import RequestOptions

_START_SECONDS = 300.0
_STOP_SECONDS = 5.0


class LocalModel:
    """A GGUF file served by llama.cpp in a child process, started on first use."""

    def __init__(
        self,
        name: str,
        path: Path,
        *,
        slots: int = 8,
        context: int = 2048,
        threads: int | None = None,
        gpu_layers: int = 0,
        options: RequestOptions | None = None,
    ) -> None:
        self.name = name
        self.path = path
        self.concurrency = slots
        self._context = context
        self._threads = threads or _usable_cores()
        self._gpu_layers = gpu_layers
        self._options = options or RequestOptions()
        self._process: asyncio.subprocess.Process | None = None
        self._endpoint: EndpointModel | None = None
        self._log: IO[bytes] | None = None
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
        return "" if self._endpoint is None else self._endpoint.adjusted

    def output_limit(self, parameters: Parameters) -> int:
        return self._client("").output_limit(parameters)

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
        endpoint = await self._served()
        try:
            return await endpoint.complete(messages, parameters, timeout=timeout)
        except ModelUnavailable as error:
            if self._process is not None and self._process.returncode is not None:
                raise ModelSetup(
                    f"the local model's process ended with code {self._process.returncode}",
                    where=self.name,
                    got=self._last_words(),
                    remedy="Check that the machine has enough memory for it.",
                ) from error
            raise

    async def close(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.close()
            self._endpoint = None
        if self._process is not None:
            process, self._process = self._process, None
            if process.stdin is not None:
                process.stdin.close()
            try:
                await asyncio.wait_for(process.wait(), _STOP_SECONDS)
            except TimeoutError:
                process.kill()
                await process.wait()
        if self._log is not None:
            self._log.close()
            self._log = None

    async def _served(self) -> EndpointModel:
        async with self._starting:
            if self._endpoint is None:
                await self.start()
                self._endpoint = await self._launch()
            return self._endpoint

    async def _launch(self) -> EndpointModel:
        key = secrets.token_urlsafe(24)  # other users of this machine have no business here
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        command = [sys.executable, "-m", "empathylab.models.llama_server", str(self.path)]
        command += ["--slots", str(self.concurrency), "--context", str(self._context)]
        command += ["--threads", str(self._threads), "--gpu-layers", str(self._gpu_layers)]
        # A session of its own: Ctrl-C reaches the lab only, which then ends the model cleanly.
        self._process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
            env=os.environ | {"EMPATHYLAB_LLAMA_KEY": key},
            start_new_session=True,
        )
        address = await self._address()
        endpoint = self._client(address, key)
        await endpoint.start()
        return endpoint

    def _client(self, address: str, key: str | None = None) -> EndpointModel:
        return EndpointModel(
            self.name,
            model=self.path.stem,
            base_url=f"{address}/v1",
            key=key,
            concurrency=self.concurrency,
            options=self._options,
        )

    async def _address(self) -> str:
        assert self._process is not None  # noqa: S101 - set by _launch
        assert self._process.stdout is not None  # noqa: S101 - opened as a pipe
        line = b""
        with contextlib.suppress(TimeoutError):
            line = await asyncio.wait_for(self._process.stdout.readline(), _START_SECONDS)
        try:
            return str(json.loads(line)["address"])
        except (ValueError, KeyError) as error:
            words = self._last_words()
            await self.close()
            raise ModelSetup(
                "llama.cpp could not load the model file",
                where=self.name,
                got=words or str(self.path),
                remedy="Check that it is a complete GGUF file and that memory suffices.",
            ) from error

    def _last_words(self) -> str:
        if self._log is None:
            return ""
        self._log.seek(0)
        lines = [line for line in self._log.read().decode("utf-8", "replace").splitlines() if line]
        return lines[-1].strip() if lines else ""


def _sign(path: Path) -> str:
    """Tells files apart without reading gigabytes: size, and a hash of both ends."""
    size, ends = path.stat().st_size, 1 << 20
    with path.open("rb") as file:
        digest = hashlib.sha256(file.read(ends))
        file.seek(max(0, size - ends))
        digest.update(file.read())
    return f"{size} bytes, {digest.hexdigest()[:12]}"


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
