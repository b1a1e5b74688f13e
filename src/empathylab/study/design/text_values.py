"""Values of the study's file in its texts: `{{items}}` becomes the number that the file says.

They are filled in when a file is read, so that everything after that, the protocol's hash included,
knows only the words that people read.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from empathylab.file_models import misfit, unknown
from empathylab.study.blocks.texts import Text
from empathylab.study.design.definition import Study
from empathylab.yaml_documents import Path

VALUES = {
    "items": "how many replies one participant rates, or situations where none are rated",
    "situations": "how many situations one participant reads",
    "replies_per_situation": "how many replies to each situation one participant rates",
    "minutes": "`recruitment.minutes`",
    "payment": "`recruitment.payment`",
    "time_limit": "`time_limits.finish_within`, in minutes",
    "retention_days": "`retention.platform_ids`",
    "comment_days": "`retention.comments`",
    "title": "the study's title",
    "contact": "the study's contact",
}
"""By name, what stands for it in a text."""
_KEYS = {
    "minutes": "recruitment.minutes",
    "payment": "recruitment.payment",
    "time_limit": "time_limits.finish_within",
    "comment_days": "retention.comments",
    "contact": "contact",
}
_NAME = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
Values = Mapping[str, Text | str | int | None]


def fill_texts(study: Study) -> Study:
    """The study with its values in every text; raises at a name that is none."""
    within = study.design == "within" and study.replies_per_situation == "all"
    values: dict[str, Text | str | int | None] = {
        "items": study.items_per_rater,
        "situations": study.batch_size,
        "replies_per_situation": len(study.arms) if within else 1,
        "minutes": study.recruitment.minutes,
        "payment": study.recruitment.payment,
        "time_limit": study.time_limits.finish_within,
        "retention_days": study.retention.platform_ids,
        "comment_days": study.retention.comments,
    }
    for name in ("title", "contact"):
        values[name] = _filled(getattr(study, name), values, (name,))
    filled: Study = _filled(study, values, ())
    return filled


def _filled(value: Any, values: Values, path: Path) -> Any:
    """The value with every text in it filled; itself where nothing changes."""
    if isinstance(value, Text):
        return _filled_text(value, values, path)
    if isinstance(value, tuple):
        parts = tuple(_filled(part, values, (*path, n)) for n, part in enumerate(value))
        return value if all(map(operator.is_, parts, value)) else parts
    if not isinstance(value, BaseModel):
        return value
    changed = {}
    for name in type(value).model_fields:
        before = getattr(value, name)
        after = _filled(before, values, (*path, name))
        if after is not before:
            changed[name] = after
    return value.model_copy(update=changed) if changed else value


def _filled_text(text: Text, values: Values, path: Path) -> Text:
    if not any("{{" in written for _, written in text.versions):
        return text
    several = len(text.versions) > 1
    return Text(
        tuple(
            (
                language,
                _filled_in(written, language, values, (*path, language) if several else path),
            )
            for language, written in text.versions
        )
    )


def _filled_in(written: str, language: str, values: Values, path: Path) -> str:
    def value_of(match: re.Match[str]) -> str:
        name = match[1].strip()
        if name not in values:
            raise unknown("value for a text", name, VALUES, at=path)
        value = values[name]
        if value is None:
            key = _KEYS[name]
            raise misfit(
                f"the text has {{{{{name}}}}}, but the file has no {key}", f"Add {key}.", at=path
            )
        return value.in_language(language) if isinstance(value, Text) else str(value)

    return _NAME.sub(value_of, written)
