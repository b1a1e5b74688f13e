"""Messages of researchers on participants' pages: shown until the participant goes on."""

from __future__ import annotations

import contextlib
import dataclasses

from empathylab.errors import LabError
from empathylab.study.admin.reviews import Inbox
from empathylab.study.blocks.forms import Refused
from empathylab.study.session.visits import Moved, Page, Saved, View


class PageMessages:
    """The unread messages of one study, on the pages that are shown."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._shown: dict[str, tuple[str, ...]] = {}
        """By person, the messages on the page that they were last shown."""

    def on(self, person: str, view: View) -> View:
        """The view with the person's messages, where it is a page."""
        if not isinstance(view, Page) or not (messages := self._inbox.unread(person)):
            return view
        self._shown[person] = messages
        return dataclasses.replace(view, messages=messages)

    def after(self, person: str, done: Saved | Refused | Moved) -> Saved | Refused | Moved:
        """What became of a submission, with the messages that the next page is to show."""
        if isinstance(done, Saved):
            # The answer is on the disk; trouble with messages must not make it look otherwise.
            with contextlib.suppress(LabError):
                self._mark_read(person)
                if done.following is not None:
                    following = self.on(person, done.following)
                    if following is not done.following:
                        return dataclasses.replace(done, following=following)
        return done

    def _mark_read(self, person: str) -> None:
        """Anyone who went on has read what stood there; what came since is still to be shown."""
        shown = self._shown.pop(person, None)
        if shown is not None and shown == self._inbox.unread(person):
            self._inbox.mark_read(person)
