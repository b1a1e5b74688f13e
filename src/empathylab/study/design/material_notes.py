"""What `study check` says of a study's situations: content that the note leaves out, and what
respondents were not told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from empathylab.situations import Situation
from empathylab.situations.content_notes import content_note, missing_tags
from empathylab.study.design.definition import Study

PromptFields = Callable[[str], Sequence[str] | None]
"""By a prompt such as `empathic-listener@2`, what it tells of a situation; None if not known."""

_FIELDS = {
    "emotion": "the emotion label",
    "title": "the title",
    "situation": "the situation",
    "context": "what was said before",
    "utterance": "what the person says",
}


def content_note_warnings(study: Study, situations: Sequence[Situation]) -> Iterator[str]:
    """For each language of the study, what its content note does not name."""
    if study.content_note is None:
        return
    tags = {tag for situation in situations for tag in situation.tags}
    for language, note in study.content_note.versions:
        if missing := missing_tags(note, tags, language):
            yield (
                f"The content note ({language}) does not name what some situations contain: "
                f"{', '.join(missing)}. Add to it: {content_note(missing, language)}."
            )


def information_warnings(
    study: Study,
    situations: Sequence[Situation],
    prompts: Mapping[str, Collection[str]],
    shown_fields: PromptFields,
) -> Iterator[str]:
    """For each arm, what raters see of a situation that its respondent was not told.

    `prompts` are those of the arm's replies; there is no warning about one that `shown_fields`
    does not know.
    """
    shown = _shown(study, situations)
    for arm, names in prompts.items():
        for name in sorted(names):
            fields = shown_fields(name)
            if fields is None or shown is None:
                continue
            unseen = [item for item in shown if item not in seen_fields(fields, situations)]
            if unseen:
                yield (
                    f"Raters see {_listed(unseen)}, which the respondent of arm {arm!r} did not "
                    f"get ({name}). Remove it from `shows`, or collect the replies again with a "
                    "template that includes it."
                )


def information_sentence(
    study: Study,
    situations: Sequence[Situation],
    prompts: Mapping[str, Collection[str]],
    shown_fields: PromptFields,
) -> str:
    """For a methods section: what raters and respondents were shown of each situation."""
    shown = _shown(study, situations)
    if shown is None:
        return ""
    sentences = [f"Raters saw {_listed(shown)}."]
    arms: dict[str, list[str]] = {}
    for arm, names in prompts.items():
        for name in names:
            arms.setdefault(name, []).append(arm)
    unknown = [arm for arm, names in prompts.items() if not names]
    for name in sorted(arms):
        if (fields := shown_fields(name)) is not None:
            who = _joined(arms[name]) if unknown else "Models"
            sentences.append(f"{who} got {_listed(seen_fields(fields, situations))} ({name}).")
    if unknown and len(sentences) > 1:
        whose = _joined([f"{arm}'s" for arm in unknown])
        sentences.append(f"The prompt of {whose} replies is not known.")
    return " ".join(sentences)


def seen_fields(fields: Sequence[str], situations: Sequence[Situation]) -> tuple[str, ...]:
    """Those of the fields that the situations have; without an utterance, the situation is it."""
    present = {
        name
        for name in fields
        if any(
            getattr(situation, "text" if name == "situation" else name) for situation in situations
        )
    }
    if "utterance" in fields and "utterance" not in present:
        present.add("situation")
    return tuple(name for name in _FIELDS if name in present)


def _shown(study: Study, situations: Sequence[Situation]) -> tuple[str, ...] | None:
    shows = [getattr(block, "shows", ()) for block in study.blocks if block.rates_responses]
    return seen_fields(shows[-1], situations) if shows else None


def _listed(fields: Sequence[str]) -> str:
    return _joined([_FIELDS[field] for field in fields]) if fields else "nothing"


def _joined(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
