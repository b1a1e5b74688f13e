"""Reading blocks from a study's file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast, get_args

from empathylab.errors import InputError, UnknownName
from empathylab.study.blocks.types import (
    Attention,
    Block,
    Check,
    Comment,
    Consent,
    Debrief,
    Demographics,
    Example,
    Field,
    Imagine,
    OnFailure,
    Question,
    Rate,
    ScaleBlock,
    Shown,
    Text,
    Tutorial,
    Write,
)
from empathylab.study.design.entries import Entry, Table

ID = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")
_SHOWN_BY_DEFAULT: tuple[Shown, ...] = ("title", "situation", "context", "utterance")
_MOST_ITEMS = 200


class Languages:
    """The study's languages, which every text must be given in."""

    def __init__(self, languages: Sequence[str]) -> None:
        self.languages = tuple(languages)

    def text(self, entry: Entry) -> Text:
        """The entry as a text: plain in a study of one language, else a table by language."""
        if not isinstance(entry.value, dict):
            if len(self.languages) > 1:
                raise entry.wrong(
                    f"a table with a text in each language: {', '.join(self.languages)}",
                    f"Write it as `{self.languages[0]}: …` and so on, one line below the other.",
                )
            return Text(((self.languages[0], entry.text()),))
        table = entry.table(required=self.languages)
        return Text(tuple((one, table[one].text()) for one in self.languages))

    def optional(self, table: Table, key: str) -> Text | None:
        """The text of that key, or None where it is missing."""
        entry = table.get(key)
        return None if entry is None else self.text(entry)

    def texts(self, entry: Entry, must: str, *, least: int = 1) -> tuple[Text, ...]:
        """The entry as a list of texts."""
        return tuple(self.text(one) for one in entry.entries(must, least=least))


def read_blocks(entry: Entry, languages: Languages) -> tuple[Block, ...]:
    """The blocks in the order of the file; ids that are not given are the kind and a number."""
    found: list[Block] = []
    counts: dict[str, int] = {}
    ids: dict[str, str] = {}
    for one in entry.entries("a list of blocks, at least consent, one with work, and debrief"):
        if not isinstance(one.value, dict) or "block" not in one.value:
            raise one.wrong("a table with the key 'block'", "Begin it with `- block: consent`.")
        kind = one.value["block"].choice("kind of block", READERS)
        counts[kind] = counts.get(kind, 0) + 1
        default = kind if counts[kind] == 1 else f"{kind}-{counts[kind]}"
        block_id = identifier(one.value["id"]) if "id" in one.value else default
        if block_id in ids:
            raise InputError(
                f"two blocks have the id {block_id!r}; the other stands at {ids[block_id]}",
                where=one.where,
                remedy="Give one of them another id.",
            )
        ids[block_id] = one.where
        found.append(READERS[kind](one, block_id, languages))
    return tuple(found)


def identifier(entry: Entry) -> str:
    """The entry as a name of lower-case letters, digits, hyphens and underscores."""
    name = entry.text()
    if not ID.fullmatch(name) or len(name) > 60:
        raise entry.wrong("lower-case letters, digits and hyphens, 60 at most")
    return name


def _consent(entry: Entry, block_id: str, languages: Languages) -> Consent:
    table = _table(entry, ("text",), ("agree", "decline"))
    return Consent(
        block_id,
        languages.text(table["text"]),
        languages.optional(table, "title"),
        languages.optional(table, "agree"),
        languages.optional(table, "decline"),
    )


def _demographics(entry: Entry, block_id: str, languages: Languages) -> Demographics:
    table = _table(entry, ("fields",), ("text",))
    fields = [_field(one, languages) for one in table["fields"].entries("a list of questions")]
    _refuse_repeated(table["fields"], [one.name for one in fields], "questions of the name")
    return Demographics(
        block_id,
        tuple(fields),
        languages.optional(table, "title"),
        languages.optional(table, "text"),
    )


def _field(entry: Entry, languages: Languages) -> Field:
    table = entry.table(("name", "label", "kind"), ("options", "required", "minimum", "maximum"))
    kind = cast(
        "Literal['choice', 'number', 'text']",
        table["kind"].choice("kind of question", ("choice", "number", "text")),
    )
    if (kind == "choice") != ("options" in table):
        raise table.wrong(
            "options", "given for a choice, and only there", "Add options, or change the kind."
        )
    for key in ("minimum", "maximum"):
        if key in table and kind != "number":
            raise table[key].wrong("given for a number only", "Take it out, or change the kind.")
    values, labels = _options(table["options"], languages) if kind == "choice" else ((), ())
    return Field(
        identifier(table["name"]),
        languages.text(table["label"]),
        kind,
        values,
        labels,
        flag(table, "required", default=True),
        table["minimum"].number() if table.get("minimum") else None,
        table["maximum"].number() if table.get("maximum") else None,
    )


def _options(entry: Entry, languages: Languages) -> tuple[tuple[str, ...], tuple[Text, ...]]:
    """What is stored and what is read; a plain text is both."""
    values, labels = [], []
    for one in entry.entries("a list of two options or more", least=2):
        if isinstance(one.value, dict) and "value" in one.value:
            table = one.table(("value", "label"))
            values.append(table["value"].text())
            labels.append(languages.text(table["label"]))
        else:
            label = languages.text(one)
            values.append(label.said(languages.languages[0]))
            labels.append(label)
    _refuse_repeated(entry, values, "options")
    return tuple(values), tuple(labels)


def _scale(entry: Entry, block_id: str, languages: Languages) -> ScaleBlock:
    table = _table(entry, ("scale",), ("phase", "order", "per_page", "text"))
    return ScaleBlock(
        block_id,
        table["scale"].text(),
        choice(table, "phase", "phase", ("default", "evoked"), "default"),
        choice(table, "order", "order of items", ("printed", "shuffled"), "printed"),
        table["per_page"].whole(1) if table.get("per_page") else None,
        languages.optional(table, "title"),
        languages.optional(table, "text"),
    )


def _tutorial(entry: Entry, block_id: str, languages: Languages) -> Tutorial:
    table = _table(entry, ("pages",), ("examples", "check"))
    examples = table.get("examples")
    check = table.get("check")
    return Tutorial(
        block_id,
        languages.texts(table["pages"], "a list of texts"),
        tuple(
            _example(one, languages)
            for one in (examples.entries("a list of worked examples") if examples else ())
        ),
        _check(check, languages) if check else None,
        languages.optional(table, "title"),
    )


def _example(entry: Entry, languages: Languages) -> Example:
    table = entry.table(("situation", "explanation"), ("reply", "rating"))
    return Example(
        languages.text(table["situation"]),
        languages.optional(table, "reply"),
        languages.text(table["explanation"]),
        languages.optional(table, "rating"),
    )


def _check(entry: Entry, languages: Languages) -> Check:
    table = entry.table(("questions",), ("attempts", "needed", "on_failure"))
    listed = table["questions"].entries("a list of questions")
    questions = tuple(
        question(
            one.table(("question", "options", "answer"), ("explanation",)),
            languages,
        )
        for one in listed
    )
    attempts = table.get("attempts")
    needed = table.get("needed")
    return Check(
        questions,
        attempts.whole(1, 10) if attempts else 2,
        needed.whole(1, len(questions)) if needed else len(questions),
        _on_failure(table, "end"),
    )


def question(table: Table, languages: Languages) -> Question:
    """A question with its options and the right one of them."""
    options = languages.texts(table["options"], "a list of two options or more", least=2)
    plain = [one.said(languages.languages[0]) for one in options]
    _refuse_repeated(table["options"], plain, "options")
    answer = table["answer"].text()
    if answer not in plain:
        raise UnknownName(
            "option",
            answer,
            plain,
            where=f"{table['answer'].where}, {table['answer'].key!r}",
            remedy="Write the right option as it stands among the options.",
        )
    return Question(
        languages.text(table["question"]),
        options,
        plain.index(answer) + 1,
        languages.optional(table, "explanation") if "explanation" in table else None,
    )


def _rate(entry: Entry, block_id: str, languages: Languages) -> Rate:
    table = _table(entry, (), ("shows", "dimensions", "back", "text"))
    dimensions = table.get("dimensions")
    return Rate(
        block_id,
        _shows(table),
        tuple(one.text() for one in dimensions.entries("a list of dimensions"))
        if dimensions
        else (),
        flag(table, "back", default=True),
        languages.optional(table, "title"),
        languages.optional(table, "text"),
    )


def _imagine(entry: Entry, block_id: str, languages: Languages) -> Imagine:
    table = _table(entry, ("text",), ("shows", "seconds", "question"))
    seconds = table.get("seconds")
    return Imagine(
        block_id,
        languages.text(table["text"]),
        _shows(table),
        seconds.whole(0, 3600) if seconds else 0,
        languages.optional(table, "question"),
        languages.optional(table, "title"),
    )


def _write(entry: Entry, block_id: str, languages: Languages) -> Write:
    table = _table(entry, ("text",), ("shows", "minimum_words", "maximum_words", "back"))
    least, most = table.get("minimum_words"), table.get("maximum_words")
    fewest = least.whole(1, 5000) if least else 1
    return Write(
        block_id,
        languages.text(table["text"]),
        _shows(table),
        fewest,
        most.whole(fewest, 5000) if most else max(500, fewest),
        flag(table, "back", default=True),
        languages.optional(table, "title"),
    )


def _attention(entry: Entry, block_id: str, languages: Languages) -> Attention:
    table = _table(
        entry,
        ("question", "options", "answer"),
        ("explanation", "on_failure", "inside", "after"),
    )
    inside, after = table.get("inside"), table.get("after")
    if (inside is None) != (after is None):
        raise table.wrong(
            "after" if inside else "inside",
            "given together with the other of 'inside' and 'after'",
            "Give both (a block's id, and after how many of its items), or neither.",
        )
    return Attention(
        block_id,
        question(table, languages),
        _on_failure(table, "continue"),
        inside.text() if inside else None,
        after.whole(1, _MOST_ITEMS) if after else None,
        languages.optional(table, "title"),
    )


def _comment(entry: Entry, block_id: str, languages: Languages) -> Comment:
    table = _table(entry, ("text",), ("required",))
    return Comment(
        block_id,
        languages.text(table["text"]),
        flag(table, "required", default=False),
        languages.optional(table, "title"),
    )


def _debrief(entry: Entry, block_id: str, languages: Languages) -> Debrief:
    table = _table(entry, ("text",), ())
    return Debrief(block_id, languages.text(table["text"]), languages.optional(table, "title"))


READERS: dict[str, Callable[[Entry, str, Languages], Block]] = {
    "consent": _consent,
    "demographics": _demographics,
    "scale": _scale,
    "tutorial": _tutorial,
    "rate": _rate,
    "imagine": _imagine,
    "write": _write,
    "attention": _attention,
    "comment": _comment,
    "debrief": _debrief,
}


def flag(table: Table, key: str, *, default: bool) -> bool:
    """True or false, or the default where the key is missing."""
    entry = table.get(key)
    return default if entry is None else entry.flag()


def choice(table: Table, key: str, kind: str, known: Sequence[str], default: str) -> Any:
    """One of the known names, or the default where the key is missing."""
    entry = table.get(key)
    return default if entry is None else entry.choice(kind, known)


def _table(entry: Entry, required: Sequence[str], optional: Sequence[str]) -> Table:
    return entry.table(("block", *required), ("id", "title", *optional))


def _shows(table: Table) -> tuple[Shown, ...]:
    entry = table.get("shows")
    if entry is None:
        return _SHOWN_BY_DEFAULT
    listed = entry.entries("a list of what is shown, such as situation and utterance")
    found = [one.choice("thing to show", get_args(Shown)) for one in listed]
    _refuse_repeated(entry, found, "entries")
    return cast("tuple[Shown, ...]", tuple(found))


def _on_failure(table: Table, default: OnFailure) -> OnFailure:
    return cast(
        "OnFailure", choice(table, "on_failure", "way to go on", ("end", "continue"), default)
    )


def _refuse_repeated(entry: Entry, names: Sequence[str], what: str) -> None:
    repeated = sorted({one for one in names if names.count(one) > 1})
    if repeated:
        raise InputError(
            f"{entry.key!r} has two {what} {repeated[0]!r}",
            where=entry.where,
            remedy="Keep one of them, or rename one.",
        )
