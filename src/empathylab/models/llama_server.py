"""The child process that holds a local model: `python -m empathylab.models.llama_server`.

It serves llama.cpp on loopback, prints its address as one JSON line, and ends when its standard
input closes: so it never outlives the process that started it, not even one that was killed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys

_CONTEXT = 2048
"""Tokens of one request and its answer."""


def main() -> None:
    arguments = _arguments()
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = arguments.model
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = arguments.slots
    params.n_ctx = arguments.slots * _CONTEXT
    params.cpuparams.n_threads = arguments.threads
    params.cpuparams_batch.n_threads = arguments.threads
    # Threads that spin while they wait stall each other when another program needs the cores.
    params.cpuparams.poll = params.cpuparams_batch.poll = 0
    params.n_gpu_layers = -1  # as many as fit
    params.warmup = False
    params.verbosity = -1
    params.api_keys = [os.environ["EMPATHYLAB_LLAMA_KEY"]]
    server = xllamacpp.Server(params)
    sys.stdout.write(json.dumps({"address": server.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # llama.cpp's own shutdown may wait for slots that nobody listens to any more


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
