"""Every error EmpathyLab raises, as one tree.

EmpathyLabError                   something failed; exit 1
├── IncompleteRun                 requests of a run got no answer; the same call asks them again
│   └── LeftToShards              this shard is done, others are not; exit 0
├── ModelError                    a model did not answer; the runner decides what to do
│   ├── RateLimited               429: wait, then ask again
│   ├── ModelUnavailable          5xx, time-out, broken connection or answer: ask again
│   └── RequestRejected           400, 413, 422: this request will never be answered
└── UserError                     the user can fix it; message only, exit 2
    ├── InputError                a file, row, option or value is wrong
    ├── UnknownName               a name that does not exist, with the nearest that do
    ├── MissingExtra              an optional dependency is not installed
    ├── ComputeError              worker processes or a cluster cannot do the work
    ├── LabError                  the lab's folder or database cannot be used
    │   ├── LabBusy               other processes were changing the same rows; try again
    │   ├── LabTooNew             it was written by a newer EmpathyLab
    │   └── RunInUse              another process is working on the same run
    ├── ModelSetup                no key, no weights, no such model, no access
    │   └── EndpointUnreachable   no connection to the address
    └── BudgetReached             the limit on tokens or costs stopped the run
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BudgetReached",
    "ComputeError",
    "EmpathyLabError",
    "EndpointUnreachable",
    "IncompleteRun",
    "InputError",
    "LabBusy",
    "LabError",
    "LabTooNew",
    "LeftToShards",
    "MissingExtra",
    "ModelError",
    "ModelSetup",
    "ModelUnavailable",
    "RateLimited",
    "RequestRejected",
    "RunInUse",
    "UnknownName",
    "UserError",
]


class EmpathyLabError(Exception):
    """The root of the tree."""

    exit_code = 1

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), self.args, self.__dict__)


class IncompleteRun(EmpathyLabError):
    """Requests of a run got no answer; the same call asks them again."""


class LeftToShards(IncompleteRun):
    """This shard of a run is done, others are not."""

    exit_code = 0


class UserError(EmpathyLabError):
    """What is wrong, where, what was got, and how to fix it."""

    exit_code = 2

    def __init__(
        self,
        what: str,
        *,
        remedy: str,
        where: str | None = None,
        got: object | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.got = got
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        message = f"{self.where}: {self.what}" if self.where else self.what
        if self.got is not None:
            message += f"; got {self.got!r}"
        return f"{message}. {self.remedy}"


class InputError(UserError):
    """A file, row, option or value is wrong."""


class UnknownName(UserError):
    """A name that does not exist, with the nearest ones that do."""

    def __init__(
        self,
        kind: str,
        name: str,
        known: Iterable[str],
        *,
        remedy: str | None = None,
        where: str | None = None,
    ) -> None:
        known = sorted(known)
        self.kind = kind
        self.name = name
        folded = {item.lower(): item for item in known}
        near = difflib.get_close_matches(name.lower(), folded, n=3, cutoff=0.55)
        self.near = [folded[item] for item in near]
        if self.near:
            hint = f"Did you mean {_either(self.near)}?"
        elif len(known) <= 12:
            hint = f"Known: {', '.join(known)}." if known else f"There is no {kind} yet."
        else:
            hint = ""
        super().__init__(
            f"there is no {kind} {name!r}",
            where=where,
            remedy=" ".join(part for part in (hint, remedy) if part) or f"Choose another {kind}.",
        )


class MissingExtra(UserError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package}, which is not installed",
            remedy=f"Run: pip install 'empathylab[{extra}]'",
        )


class ComputeError(UserError):
    """Worker processes or a cluster cannot do the work."""


class LabError(UserError):
    """The lab's folder or database cannot be used."""


class LabBusy(LabError):
    """Others were at the same rows of the database; nothing was written."""


class LabTooNew(LabError):
    """The lab was written by a newer EmpathyLab."""


class RunInUse(LabError):
    """Another process is working on the same run."""


class ModelSetup(UserError):
    """A model cannot be used before the user changes something."""


class EndpointUnreachable(ModelSetup):
    """No connection to the model's address."""


class BudgetReached(UserError):
    """The cap on tokens or money stopped the run."""


class ModelError(EmpathyLabError):
    """A model did not answer."""

    kind = "error"


class RateLimited(ModelError):
    """The endpoint asks to slow down; `retry_after` is in seconds, if it said so."""

    kind = "rate limit"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelUnavailable(ModelError):
    """The endpoint failed in a way that may pass; `kind` says which."""

    def __init__(self, message: str, kind: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after


class RequestRejected(ModelError):
    """The endpoint will never answer this request."""

    kind = "rejected"


def _restored(
    kind: type[EmpathyLabError], args: tuple[object, ...], state: dict[str, object]
) -> EmpathyLabError:
    """An error that comes from another process, where `__init__` needs more than its message."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


def _either(names: list[str]) -> str:
    quoted = [repr(name) for name in names]
    if len(quoted) == 1:
        return quoted[0]
    return ", ".join(quoted[:-1]) + " or " + quoted[-1]
