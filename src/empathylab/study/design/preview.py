"""What a rater will see, page by page, as plain rows, and about how long it takes.

Reading: 238 words a minute, the mean for silent reading of English non-fiction by adults
(Brysbaert, M. (2019). How many words do we read per minute? A review and meta-analysis of reading
rate. Journal of Memory and Language, 109, 104047). The seconds per answer are assumptions of this
project, measured on nobody: pilot the study before you promise a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from empathylab.scales import Scale
from empathylab.scales.wording import with_words
from empathylab.situations import Situation
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.content import page_content
from empathylab.study.blocks.interface import Answers, ParticipantPath
from empathylab.study.blocks.pages import INPUTS, Asked, PageContent, ShownReply
from empathylab.study.blocks.steps import Step
from empathylab.study.session.flow import back_from, last_step
from empathylab.words import count_words

_REPLY = "(a reply)"


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One page, in short."""

    number: int
    step: str
    """The page's key."""
    block: str
    page: str
    shows: str
    """The beginning of what is read."""
    asks: str
    """What is answered, and how."""
    words: int
    seconds: float
    content: PageContent = field(compare=False)
    can_go_back: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """All pages of one rater."""

    rows: tuple[PreviewRow, ...]
    minutes: float
    """Estimated."""
    words: int
    questions: int
    """Answers that are asked for, optional ones too."""


def preview_study(
    path: ParticipantPath,
    *,
    language: str | None = None,
    slot: Slot | None = None,
    situations: Mapping[str, Situation] | None = None,
    replies: Mapping[tuple[str, str], str | ShownReply] | None = None,
) -> Preview:
    """The pages that the rater of a slot sees, if all checks are passed at once and all
    conditions are met.

    `situations` are by id, `replies` by situation and arm; what is missing is left blank. A scale
    whose wording is not known is shown with numbers in place of its items.
    """
    known = {name: _worded(scale) for name, scale in path.scales.items()}
    items = path.items if slot is None else len(slot.items)
    shown = ParticipantPath(path.study, known, items, path.person)
    shown_language = language or path.study.languages[0]
    rows = []
    # Blocks with a condition are shown, too.
    every = (step for block in path.study.blocks for step in block.steps(shown, {}))
    steps = (*every, last_step(path.study))
    for number, step in enumerate(steps, start=1):
        situation, texts = _work(step, slot, situations or {}, replies or {})
        content = page_content(
            shown, step, language=shown_language, situation=situation, replies=texts
        )
        answered: Answers = {earlier.key: {} for earlier in steps[: number - 1]}
        back = back_from(path.study, steps, answered, step, step) is not None
        rows.append(_row(number, shown, step, content, can_go_back=back))
    return Preview(
        tuple(rows),
        sum(row.seconds for row in rows) / 60,
        sum(row.words for row in rows),
        sum(ask.parts for row in rows for ask in row.content.asks),
    )


def _row(
    number: int, path: ParticipantPath, step: Step, content: PageContent, *, can_go_back: bool
) -> PreviewRow:
    least = path.study.block(step.block).words_to_write()
    texts = [content.text, *(part.text for part in content.parts)]
    return PreviewRow(
        number,
        step.key,
        step.block,
        step.page if step.of == 1 else f"{step.page} {step.number} of {step.of}",
        _beginning(" · ".join(text for text in texts if text)),
        "; ".join(_asked(ask) for ask in content.asks[:3])
        + (f"; and {len(content.asks) - 3} more" if len(content.asks) > 3 else ""),
        words_on(content),
        page_seconds(content, least),
        content,
        can_go_back,
    )


def _work(
    step: Step,
    slot: Slot | None,
    situations: Mapping[str, Situation],
    replies: Mapping[tuple[str, str], str | ShownReply],
) -> tuple[Situation | None, tuple[str | ShownReply, ...]]:
    items = step.items(slot)
    if not items:
        return None, ()
    texts = tuple(
        replies.get((item.situation, item.arm), _REPLY) for item in items if item.arm is not None
    )
    return situations.get(items[0].situation), texts


def _asked(asked: Asked) -> str:
    if asked.kind not in ("choice", "choices", "dropdown"):
        kind = INPUTS[asked.kind].description
        name = asked.name or ", ".join(row.value for row in asked.rows)
        return f"{name}: {kind}{'' if asked.required else ' (optional)'}"
    labels: Sequence[str] = [option.label or option.value for option in asked.options]
    shown = labels if len(labels) <= 5 else [labels[0], "…", labels[-1]]
    return f"{asked.name}: {' / '.join(shown)}"


def _beginning(text: str, most: int = 100) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def _worded(scale: Scale) -> Scale:
    if scale.words is not None:
        return scale
    return with_words(scale, [f"(item {number})" for number in range(1, scale.items + 1)])


WORDS_PER_MINUTE = 238
SECONDS_OPTIONAL = 10.0
"""For free words that need not be given; most people leave them out."""
SECONDS_PER_PAGE = 2.0
"""For turning the page."""


def words_on(page: PageContent) -> int:
    """The words to read on the page; options repeated with every question count once."""
    texts = [page.text, *(part.text for part in page.parts), *(ask.label for ask in page.asks)]
    texts += [row.label for ask in page.asks for row in ask.rows]
    options = {tuple(option.label for option in ask.options) for ask in page.asks}
    texts += [label for labels in options for label in labels]
    return sum(map(count_words, texts))


def page_seconds(page: PageContent, writing_words: int = 0) -> float:
    """About how long the page takes; `writing_words` is the least that must be written."""
    reading = words_on(page) / WORDS_PER_MINUTE * 60
    answering = sum(
        ask.parts * INPUTS[ask.kind].seconds
        if ask.required or ask.kind != "paragraph"
        else SECONDS_OPTIONAL
        for ask in page.asks
    )
    # People compose text at about half a word a second; an assumption like the others.
    return SECONDS_PER_PAGE + max(reading, page.least_seconds) + max(answering, 2 * writing_words)
