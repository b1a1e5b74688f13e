"""EmpatheticDialogues (Rashkin et al. 2019, ACL): conversations about an emotional situation.

One of two people, the speaker, tells of a situation of their own in which they felt a given
emotion; the other, the listener, replies. A conversation becomes a situation with the speaker's
words, and the listener's reply a response of the respondent `human`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from empathylab.errors import InputError, UnknownName
from empathylab.situations.emotions import emotion_warnings, stated_valence
from empathylab.situations.sets import Situation, SituationSet
from empathylab.situations.sources.dialogue_rows import SPLITS, Tally, Turn, turns_of
from empathylab.situations.sources.released import Release, Reply

SET_ID = "empatheticdialogues"
HUMAN = "human"
_LICENCE = "CC BY-NC 4.0"


@dataclass(slots=True)
class _Conversation:
    split: str
    emotion: str
    prompt: str
    selfeval: str
    turns: dict[int, Turn] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Exchange:
    """What is taken out of a conversation."""

    context: tuple[str, ...]
    utterance: str
    reply: str | None


def read_dialogues(
    path: Path,
    *,
    turns: int = 1,
    splits: Sequence[str] = SPLITS,
    emotions: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Release:
    """The conversations of the archive, of a folder with its CSV files, or of one CSV file.

    `turns` says which of the listener's replies is taken; for a later one, what was said before
    becomes the situation's `context`. `splits` leaves out those not named, `emotions` maps the
    file's emotion words to others. A situation's id is the conversation's; the split stands in the
    reply's details. Whatever is not taken is counted in the notes.
    """
    _check_options(turns, splits)
    dropped, odd = Tally(), Tally()
    conversations = _conversations(path, splits, dropped, odd)
    left_out = Tally()
    situations: list[Situation] = []
    replies: list[Reply] = []
    ordered = sorted(conversations.items(), key=lambda item: _place(item[1].split))
    for key, conversation in ordered:
        exchange = _exchange(conversation, turns)
        if isinstance(exchange, str):
            left_out.add(exchange, key)
            continue
        situations.append(_situation(key, conversation, exchange, emotions or {}))
        if exchange.reply is None:
            odd.add("conversations end before a reply, and are situations without one", key)
        else:
            replies.append(Reply(key, HUMAN, exchange.reply, details=_details(conversation)))
    if not situations:
        raise InputError(
            "the files contain no usable conversations",
            where=path.name,
            got=" ".join([*dropped.sentences("rows dropped"), *left_out.sentences("left out")]),
            remedy="Give EmpatheticDialogues' original files.",
        )
    seen = {conversation.split for conversation in conversations.values()}
    notes = [
        *dropped.sentences("rows were dropped"),
        *_odd_sentences(odd),
        *left_out.sentences("conversations were left out"),
        *_absent_splits(path, splits, seen),
        *emotion_warnings(
            Counter(situation.emotion for situation in situations if situation.emotion)
        ),
    ]
    return Release(
        situation_set=_set(situations, name or set_name(turns, splits), turns),
        respondents={HUMAN: "human"} if replies else {},
        replies=tuple(replies),
        notes=tuple(notes),
    )


def set_name(turns: int, splits: Sequence[str]) -> str:
    """The set's id: other turns or fewer splits are another set, not another version."""
    parts = [SET_ID]
    if set(splits) != set(SPLITS):
        parts += sorted(set(splits), key=_place)
    if turns > 1:
        parts.append(f"turn-{turns}")
    return "-".join(parts)


def _check_options(turns: int, splits: Sequence[str]) -> None:
    if turns < 1:
        raise InputError(
            "the number of the reply must be 1 or more",
            got=turns,
            remedy="Give --turns 1 or more.",
        )
    if not splits:
        raise InputError("no split is chosen", remedy=f"Choose among {', '.join(SPLITS)}.")
    for split in splits:
        if split not in SPLITS:
            raise UnknownName("split", split, SPLITS)


def _place(split: str) -> int:
    return SPLITS.index(split) if split in SPLITS else len(SPLITS)


def _conversations(
    path: Path, splits: Sequence[str], dropped: Tally, odd: Tally
) -> dict[str, _Conversation]:
    """By id, in the order of the files; rows that contradict earlier ones are dropped or said."""
    conversations: dict[str, _Conversation] = {}
    for split, where, turn in turns_of(path, dropped):
        if split and split not in splits:
            continue
        known = conversations.get(turn.conversation)
        if known is None:
            known = _Conversation(split, turn.emotion, turn.prompt, turn.selfeval)
            conversations[turn.conversation] = known
        if known.split != split:
            dropped.add("the conversation is also in another split", where)
            continue
        for what, stated, first in (
            ("emotion", turn.emotion, known.emotion),
            ("situation", turn.prompt, known.prompt),
        ):
            if stated != first:
                odd.add(f"rows have a different {what} from their conversation's first row", where)
        earlier = known.turns.setdefault(turn.number, turn)
        if earlier is not turn:
            same = (earlier.speaker, earlier.text) == (turn.speaker, turn.text)
            what = "the same row appears twice" if same else "a different text for the same turn"
            dropped.add(what, where)
    return conversations


def _exchange(conversation: _Conversation, turns: int) -> _Exchange | str:
    """The speaker's and the listener's part that is asked for, or why it cannot be taken."""
    rows = [conversation.turns[number] for number in sorted(conversation.turns)]
    if rows[0].number > 1:
        return "the first turn is missing"
    start = rows[0].number
    whole = [row for place, row in enumerate(rows) if row.number == start + place]
    groups = [
        (speaker, " ".join(row.text for row in turns_of))
        for speaker, turns_of in groupby(whole, key=lambda row: row.speaker)
    ]
    asked = 2 * (turns - 1)
    used = groups[: asked + 2]
    if len({speaker for speaker, _ in used}) > 2:
        return "more than two people speak"
    if len(used) < asked + 2 and len(whole) < len(rows):
        return "a turn in the middle is missing"
    if len(used) <= asked:
        return f"it ends before the speaker's turn {turns}"
    texts = [text for _, text in used]
    reply = texts[asked + 1] if len(texts) > asked + 1 else None
    return _Exchange(tuple(texts[:asked]), texts[asked], reply)


def _situation(
    key: str, conversation: _Conversation, exchange: _Exchange, emotions: Mapping[str, str]
) -> Situation:
    emotion = emotions.get(conversation.emotion, conversation.emotion) or None
    opening = exchange.context[0] if exchange.context else exchange.utterance
    return Situation(
        id=key,
        text=conversation.prompt or opening,
        emotion=emotion,
        valence=stated_valence(emotion, None),
        utterance=exchange.utterance,
        context=exchange.context,
    )


def _details(conversation: _Conversation) -> dict[str, str] | None:
    stated = {"split": conversation.split, "selfeval": conversation.selfeval}
    return {name: value for name, value in stated.items() if value} or None


def _odd_sentences(odd: Tally) -> list[str]:
    return [f"{count} {what} (first: {odd.first[what]})." for what, count in odd.counts.items()]


def _absent_splits(path: Path, splits: Sequence[str], seen: Iterable[str]) -> list[str]:
    absent = [split for split in splits if split not in seen]
    if not absent or path.suffix.lower() == ".csv":
        return []
    return [f"there is no {' and no '.join(f'{split}.csv' for split in absent)}."]


def _set(situations: Sequence[Situation], name: str, turns: int) -> SituationSet:
    later = f" Each continues to the speaker's turn {turns}." if turns > 1 else ""
    return SituationSet(
        id=name,
        version=1,
        title="EmpatheticDialogues: people tell of a situation they were in",
        language="en",
        licence=_LICENCE,
        # The emotion is the one that the person who tells of the situation felt in it.
        validated=False,
        description=f"Conversations of EmpatheticDialogues (Rashkin et al. 2019).{later}",
        situations=tuple(situations),
    )
