"""How soon the command line answers: the best of five, after one to warm up.

Prints `name value` lines.
Left out: a cold disk, where the first start of the day takes longer.
"""

from __future__ import annotations

import subprocess
import sys
import time


def seconds(*command: str) -> float:
    begun = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - begun


def best(*command: str) -> float:
    seconds(*command)
    return min(seconds(*command) for _ in range(5))


if __name__ == "__main__":
    bare = best(sys.executable, "-c", "pass")
    helped = best(sys.executable, "-m", "empathylab", "--help")
    print(f"help_seconds {helped:.3f}")
    print(f"ratio_to_bare_python {helped / bare:.1f}")
