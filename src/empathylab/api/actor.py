"""Who works with the lab, as audit logs name them."""

from __future__ import annotations

import os


def operator(interface: str) -> str:
    """The interface, such as the command line, with the name of the system's user."""
    return f"{interface} ({_user()})"


def _user() -> str:
    try:
        import pwd
    except ImportError:
        import getpass

        return getpass.getuser()
    try:
        # By the process, not by its environment, which any user can set.
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"user {os.getuid()}"  # a container's user may have no name
