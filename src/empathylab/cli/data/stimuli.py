"""`empathylab data stimuli`: transcripts that people can rate in a study."""

from __future__ import annotations

from typing import Annotated, Literal

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.tables import show_rows
from empathylab.tables import key_value

EXAMPLE = "Example: `empathylab data stimuli talks --unit turn`"


def stimuli(
    name: Annotated[str, argument("The ID of the new set, which a study file can name.")],
    unit: Annotated[
        Literal["conversation", "turn"],
        option("Whole conversations, or each reply with the chat before it."),
    ] = "conversation",
    respondent: Annotated[
        list[str] | None, option("Only conversations with this respondent; repeatable.")
    ] = None,
    study: Annotated[
        str | None, option("Replies of this study with recipients, instead of conversations.")
    ] = None,
    consent: Annotated[
        str | None,
        option(
            "With --study: the answer that allows others to read the text. All other texts are "
            "left out.",
            metavar="QUESTION=ANSWER",
        ),
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Turns scored conversations into a set of situations with replies, for a rated study.

    Once people have rated them, `empathylab analyze conversations --study STUDY` compares the
    simulated feelings with their ratings. With --study, the replies that recipients got in a
    closed study become such a set, and `empathylab analyze recipients --study STUDY` compares
    recipients, onlookers and judges.
    """
    from pathlib import Path

    from empathylab.analysis.conversations import from_lab
    from empathylab.analysis.conversations.stimuli import transcript_release
    from empathylab.analysis.recipients.stimuli import reply_release
    from empathylab.cli.data.imports.options import own_set_id
    from empathylab.store import Lab
    from empathylab.store.imports.releases import import_release
    from empathylab.store.inserts import hash_of

    with Lab.open(lab, create=False) as opened:
        release = (
            transcript_release(
                from_lab(opened),
                name=own_set_id(name, Path(name)),
                unit=unit,
                respondents=respondent or (),
            )
            if study is None
            else reply_release(
                opened,
                study,
                name=own_set_id(name, Path(name)),
                consent=key_value(consent or "", option="--consent"),
            )
        )
        fingerprint = hash_of(
            [
                release.situation_set.fingerprint,
                [[*reply.key, reply.text] for reply in release.replies],
            ]
        )
        done = import_release(
            opened,
            release,
            kind="stimuli",
            source=name,
            fingerprint=fingerprint,
            replace=True,
        )
    row = {
        "set": done.situation_set,
        "version": done.version,
        "situations": len(release.situation_set),
        "responses": len(release.replies),
        "change": done.change,
    }
    show_rows([row], "stimuli", as_json=json)
