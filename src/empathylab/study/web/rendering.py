"""Pages as HTML: what the study gives, in our frame."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jinja2
from markupsafe import Markup, escape

from empathylab.html_templates import package_templates, template_environment
from empathylab.study.blocks.pages import PageContent
from empathylab.study.blocks.texts import Text
from empathylab.study.design.definition import Study
from empathylab.study.session.visits import Page
from empathylab.study.web.assets import asset_paths
from empathylab.study.web.interface_texts import Words, direction, own_name, words_in
from empathylab.study.web.markdown import block_html, inline_html
from empathylab.study.web.questions import Filled, RenderedQuestion, drawn_question

_WORK = ("rate", "compare", "imagine", "norm", "write", "scale", "reply", "respond", "chat")
_NOTES = {"example": "why"}
"""What a note is, by the kind of page: all others warn of what comes."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around every page."""

    study: Study
    language: str
    root: str = ""
    """The path under which the app is mounted."""
    form: str = ""
    """What every form carries; empty where nobody is known."""
    guest: bool = False
    """Whether the session belongs to another browser, which alone may change the language."""
    here: str = ""
    """The query of the page, to which `language=` can be added."""

    @property
    def words(self) -> Words:
        """The interface in the frame's language."""
        return words_in(self.language, self.study.interface)

    @property
    def direction(self) -> str:
        """The writing direction: `ltr` or `rtl`."""
        return direction(self.language)

    @property
    def choices(self) -> list[tuple[str, str, str]]:
        """The languages to switch to, each with its own name and direction."""
        if len(self.study.languages) == 1 or self.guest:
            return []
        return [(code, own_name(code), direction(code)) for code in self.study.languages]

    def localized(self, text: Text | None) -> str:
        """One of the study's texts."""
        return "" if text is None else text.in_language(self.language)


def study_page(frame: Frame, page: Page, filled: Filled) -> str:
    """A page of the study."""
    content = page.content
    drawn = [drawn_question(frame.words, content, ask, filled) for ask in content.asks]
    named = {ask.name for ask in content.asks} | {
        row.value for ask in content.asks for row in ask.rows if not ask.name
    }
    return _render(
        "page",
        frame,
        step=page.step,
        answered=page.answered,
        content=content,
        # The block's title may speak of a reply or a situation that is not on this page yet.
        title=_title(frame, content),
        count=_count(frame, content),
        text=block_html(content.text),
        sections=_sections(frame, content),
        mistakes=[
            (
                inline_html(mistake.question),
                inline_html(mistake.answer),
                block_html(mistake.explanation),
            )
            for mistake in content.mistakes
        ],
        tries_left=content.of - content.number + 1,
        asks=drawn,
        questions=_questions(frame, tuple(drawn)),
        percent=min(99, max(0, round(100 * page.progress))),
        back=page.can_go_back,
        came_from=filled.came_from,
        notice=filled.notice,
        messages=page.messages,
        general=[text for name, text in filled.errors.items() if name not in named],
        errors=filled.errors,
        problems=[problem for item in drawn for problem in item.problems],
        waiting=_waiting(frame.words, content),
        send=frame.words.chat["send"] if "message" in named else frame.words.go_on,
        over=_over(frame.words, content),
        drafts=len(drawn) > 1
        or any(item.kind in ("paragraph", "message") or item.rows for item in drawn),
    )


def _title(frame: Frame, content: PageContent) -> str:
    waits = content.live is not None and content.live.waiting
    if content.page == "room":
        return frame.words.pages["room" if waits else "partner"].title
    if waits and content.page != "chat":
        return frame.words.pages["waiting"].title
    if content.page == "debrief":
        return frame.words.parts["reveal"]
    return frame.words.content_note if content.page == "note" else content.title


def _waiting(words: Words, content: PageContent) -> str:
    """What a page says that waits for a reply or a partner."""
    if content.page == "chat":
        return words.chat["typing"]
    if content.page != "room":
        return words.pages["waiting"].text
    ahead = content.live.ahead if content.live else 0
    counted = f" {words.chat['ahead'].format(count=ahead)}" if ahead else ""
    return words.pages["room"].text + counted


def _over(words: Words, content: PageContent) -> str:
    """What a page says whose conversation is over; empty while it is not."""
    ended = content.live.ended if content.live else ""
    return words.chat["left" if ended == "left" else "over"] if ended else ""


def _questions(frame: Frame, drawn: tuple[RenderedQuestion, ...]) -> Markup:
    words = frame.words
    blank = not any(
        item.value or item.error or item.chosen or any(row.value or row.error for row in item.rows)
        for item in drawn
    )
    # Most pages ask everybody the same; what someone wrote is kept nowhere.
    draw = _blank_questions if blank else _drawn_questions
    return draw(drawn, words)


def _drawn_questions(drawn: tuple[RenderedQuestion, ...], words: Words) -> Markup:
    return Markup(  # noqa: S704 - the template escapes what it is given
        _template("asks").render(asks=drawn, w=words)
    )


_blank_questions = functools.lru_cache(maxsize=512)(_drawn_questions)


def message_page(frame: Frame, name: str, template: str = "plain", **context: Any) -> str:
    """A page of our own that says one thing; without `way`, no way back into the study."""
    page_text = frame.words.closed[name] if name == "closed" else frame.words.pages[name]
    more = {"way": True, **context}
    return _render(template, frame, title=page_text.title, text=page_text.text, **more)


def leave_page(frame: Frame, *, guest: bool = False, closed: bool = False) -> str:
    """The choice to leave, with or without one's answers; a guest may delete nothing.

    In a closed study, answers can be deleted and nothing can be continued.
    """
    name = "closed" if closed else "leave-guest" if guest else "leave"
    return message_page(frame, name, "leave", guest=guest, closed=closed)


@dataclass(frozen=True, slots=True)
class Handing:
    """What a person takes along at the end."""

    code: str = ""
    url: str = ""
    submit_to: str = ""
    """Where a form hands the work in, in place of an address to go to."""
    assignment: str = ""


def end_page(
    frame: Frame, title: str, text: Markup, handing: Handing, *, with_help: bool = False
) -> str:
    """The last page; `with_help` puts where to find help first."""
    return _render("end", frame, title=title, text=text, handing=handing, with_help=with_help)


def separate_page(template: str, **context: Any) -> str:
    """A page that is no participant's, without a frame: a preview, or a confederate's queue."""
    return _template(template).render(assets=asset_paths(), own_name=own_name, **context)


def _render(name: str, frame: Frame, **context: Any) -> str:
    study = frame.study
    return _template(name).render(
        frame=frame,
        w=frame.words,
        study_title=frame.localized(study.title),
        note=block_html(frame.localized(study.content_note)),
        help=block_html(frame.localized(study.help)),
        contact=block_html(frame.localized(study.contact)),
        assets=asset_paths(),
        **context,
    )


@functools.cache
def _template(name: str) -> jinja2.Template:
    return _environment().get_template(f"{name}.html.j2")


@functools.cache
def _environment() -> jinja2.Environment:
    return template_environment(package_templates("empathylab.study.web"))


@dataclass(frozen=True, slots=True)
class Section:
    """Texts of one role that follow one another."""

    role: str
    heading: str
    bodies: tuple[Markup, ...]
    written: bool
    """Whether people or models wrote them, so that their lines are kept as they are."""
    chat: tuple[tuple[str, str, str], ...] = ()
    """Of a conversation, by turn: the speaker's class, their name, and what they say."""
    rated_turn: bool = False


def _count(frame: Frame, content: PageContent) -> str:
    """Which of several pages of its kind it is."""
    if content.reply is not None:
        number, of = content.reply
        return frame.words.counts["same"].format(number=number, of=of)
    template = frame.words.counts.get(content.page)
    shown = template and content.number <= content.of > 1
    return template.format(number=content.number, of=content.of) if template and shown else ""


def _sections(frame: Frame, content: PageContent) -> list[Section]:
    sections = []
    titled = any(part.role == "title" for part in content.parts)
    for role, group in itertools.groupby(content.parts, key=lambda item: item.role):
        parts = list(group)
        # What people or models wrote is no Markdown, even where it looks like it.
        written = content.page in _WORK and role != "note"
        shown: Callable[[str], Markup] = escape if written else block_html
        bodies = tuple(shown(part.text) for part in parts)
        drawn_as: str = role
        if role == "note":
            drawn_as = _NOTES.get(content.page, role)
        elif role == "situation" and titled:
            drawn_as = "post"
        elif role == "details":
            bodies = (escape(frame.words.details_warning),)
        heading = frame.words.parts[drawn_as]
        reply = parts[0].reply
        if reply is not None and reply.chat:
            turns = tuple(_turn(frame.words, *turn) for turn in reply.chat)
            sections.append(Section(drawn_as, heading, (), written, turns, reply.rated_turn))
        else:
            sections.append(Section(drawn_as, heading, bodies, written))
    return sections


def _turn(words: Words, role: str, text: str) -> tuple[str, str, str]:
    """A turn under a name that does not identify the speaker."""
    speaker = role if role in ("person", "you", "other") else "helper"
    return speaker, words.speakers[speaker], text
