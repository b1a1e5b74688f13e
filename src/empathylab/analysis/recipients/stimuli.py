"""Replies to recipients as stimuli that others can rate, with the writers' consent."""

from __future__ import annotations

from empathylab.analysis.conversations.stimuli import chat_text
from empathylab.analysis.recipients.analysis import recipient_study
from empathylab.errors import InputError
from empathylab.situations import Situation, SituationSet
from empathylab.situations.sources.released import Release, Reply
from empathylab.store import Lab
from empathylab.store.studies.archive import any_study
from empathylab.store.studies.received import LiveReply, live_replies
from empathylab.study.admin.embargo import require_closed


def reply_release(lab: Lab, study: str, *, name: str, consent: tuple[str, str]) -> Release:
    """The replies of a closed study as situations and responses that another study can show.

    `consent` is the question, and the answer to it that lets others read the text; where a
    participant replied, that one must have agreed, too. Replies that a fallback replaced are left
    out. All replies have one respondent, the set itself, so that raters do not see who wrote
    them; `details` say which reply it is, for `analyze recipients`.
    """
    chosen = recipient_study(lab, study)
    require_closed(lab, chosen)
    with lab.reading() as connection:
        live = live_replies(connection, int(any_study(connection, chosen.name).id))
    question, answer = consent
    agreed = {reply.participant for reply in live if reply.details.get(question) == answer}
    kept = [reply for reply in live if not reply.fallback and _is_whole(reply)]
    shared = [
        reply
        for reply in kept
        if reply.participant in agreed and (reply.partner is None or reply.partner in agreed)
    ]
    if not shared:
        asked = {key for reply in live for key in reply.details if key != "marks"}
        raise InputError(
            f"no participant answered {question} with {answer}, so no reply may be shown",
            where=f"study {chosen.name}",
            got=f"{len(kept)} replies; questions: {', '.join(sorted(asked)) or 'none'}",
            remedy="Name the question on consent to ratings by others with --consent.",
        )
    situations, replies = [], []
    for number, reply in enumerate(shared, start=1):
        key = f"{chosen.name}-{number}"
        situations.append(Situation(id=key, text=reply.turns[0][1], emotion="not stated"))
        details = {"received": {"study": chosen.name, "reply": reply.reply}}
        replies.append(Reply(key, name, _text(reply), 0, details | _chat(reply)))
    return Release(
        situation_set=SituationSet(
            id=name,
            version=1,
            title=f"Replies of the study {chosen.title}",
            language="en",
            licence="as participants agreed",
            validated=False,
            description=f"{len(shared)} of {len(live)} replies, whose writers agreed.",
            situations=tuple(situations),
        ),
        respondents={name: "model"},
        replies=tuple(replies),
        notes=(f"{len(live) - len(shared)} replies are left out.",),
    )


def _is_whole(reply: LiveReply) -> bool:
    """Whether the participant spoke first and was answered."""
    roles = [role for role, _ in reply.turns]
    return bool(roles) and roles[0] == "person" and "respondent" in roles


def _text(reply: LiveReply) -> str:
    if len(reply.turns) == 2:
        return reply.turns[1][1]
    return chat_text(reply.turns[1:])


def _chat(reply: LiveReply) -> dict[str, object]:
    if len(reply.turns) == 2:
        return {}
    return {"unit": "conversation", "chat": [list(turn) for turn in reply.turns]}
