"""Every table of an exported study: its columns, their types and meanings, and its query."""

from __future__ import annotations

from empathylab.study.exports import page_tables, scale_tables
from empathylab.study.exports.rater_columns import SIGNAL_NOTE
from empathylab.study.exports.source import StudySource
from empathylab.table_specs import ColumnSpec, TableSpec

_DAY = "In UTC; moments finer than a day stay in the lab"
_DATE = "YYYY-MM-DD"
_RATER = ColumnSpec(
    "rater", "text", "The rater: a random name for this study only, the same in all tables"
)
_SET = ColumnSpec("set", "text", "The set that the situation is from")
_SITUATION = ColumnSpec("situation", "text", "The situation's id in its set")
_POSITION = ColumnSpec(
    "position", "whole number", "The position in which the rater saw it, from 1 in its block"
)
_PAGE_POSITION = ColumnSpec(
    "position", "whole number", "The position in which the rater answered the page, from 1"
)
_EXCLUDED = ColumnSpec(
    "excluded",
    "text",
    "Why a researcher excluded the rater from all results; empty if not excluded",
)
_BLOCK = ColumnSpec("block", "text", "The block of the study file")
_VALENCES = "positive; negative; mixed"


RATINGS = TableSpec[StudySource](
    "ratings",
    "One row per rating: one rater's value for one response on one dimension",
    (
        _RATER,
        ColumnSpec("arm", "text", "The arm whose response was rated"),
        ColumnSpec("respondent", "text", "Who wrote the response"),
        ColumnSpec("response", "whole number", "The response's number in the table responses"),
        _SET,
        _SITUATION,
        ColumnSpec("emotion", "text", "The situation's emotion"),
        ColumnSpec("valence", "text", "Whether that emotion is pleasant", _VALENCES),
        ColumnSpec("topic", "text", "The situation's topic"),
        _POSITION,
        ColumnSpec("dimension", "text", "What was rated"),
        ColumnSpec("rating", "number", "The value that the rater chose"),
        ColumnSpec("label", "text", "The label of that value"),
        ColumnSpec(
            "seconds", "number", "From showing the page to the answer, by the server's clock"
        ),
        ColumnSpec("day", "text", f"The day of the rating. {_DAY}", _DATE),
    ),
    StudySource.ratings,
)
RATINGS_OF_EXCLUDED = TableSpec[StudySource](
    "ratings_of_excluded",
    "Ratings by raters whom a researcher excluded from all results",
    RATINGS.columns,
    StudySource.ratings_of_excluded,
)
RATERS = TableSpec[StudySource](
    "raters",
    "Everyone who came to a study, under a random name",
    (
        _RATER,
        ColumnSpec("kind", "text", "A person, or a model as a rater"),
        ColumnSpec("arm", "text", "The arm that they were in; empty if they saw several or none"),
        ColumnSpec("status", "text", "The status of their slot"),
        ColumnSpec("outcome", "text", "The outcome of their participation"),
        ColumnSpec(
            "excluded",
            "text",
            "Why a researcher excluded them from all results; empty if not excluded",
        ),
        ColumnSpec("language", "text", "The language they took part in"),
        ColumnSpec("day", "text", f"The day they arrived. {_DAY}", _DATE),
        ColumnSpec("seconds", "number", "From arriving to finishing, by the server's clock"),
        ColumnSpec("ratings", "whole number", "How many ratings they gave"),
    ),
    StudySource.raters,
)
SCALE_ANSWERS = TableSpec[StudySource](
    "scale_answers",
    "Raters' answers to the items of scales, about themselves",
    (
        _RATER,
        ColumnSpec("scale", "text", "The scale that was answered"),
        ColumnSpec(
            "phase",
            "text",
            "At baseline (default), after imagining a situation (evoked), or by the person who is "
            "helped: before, after, or days later",
            "default; evoked; before; after; later",
        ),
        ColumnSpec("situation", "text", "After which situation; empty if there is none"),
        ColumnSpec(
            "trial",
            "whole number",
            "Which of the rater's situations it was, from 1 in the order shown; empty if there is "
            "none",
        ),
        ColumnSpec("item", "whole number", "The item's number in the scale"),
        ColumnSpec("position", "whole number", "The position in which the item was shown"),
        ColumnSpec("value", "number", "The answer as given; reversed items are not reversed yet"),
    ),
    scale_tables.scale_answers,
)
WRITTEN = TableSpec[StudySource](
    "written_replies",
    "Replies that raters wrote themselves",
    (
        _RATER,
        _SET,
        _SITUATION,
        _POSITION,
        ColumnSpec("text", "text", "What the person would say, in their own words"),
        _EXCLUDED,
    ),
    StudySource.written_replies,
)
ANSWERS = TableSpec[StudySource](
    "answers",
    "Answers to further questions about replies and situations",
    (
        _RATER,
        _BLOCK,
        _POSITION,
        _SITUATION,
        ColumnSpec("arm", "text", "The arm whose reply was shown; empty if there was none"),
        ColumnSpec("question", "text", "The question's name in the study file"),
        ColumnSpec("part", "text", "The option or row, if an answer has several parts"),
        ColumnSpec("answer", "text", "The answer: 1 or 0 for an option, the rank for a ranking"),
        _EXCLUDED,
    ),
    StudySource.answers,
)
PREFERENCES = TableSpec[StudySource](
    "preferences",
    "Which of two replies to the same situation was preferred",
    (
        _RATER,
        _BLOCK,
        _POSITION,
        _SITUATION,
        ColumnSpec("first", "text", "The arm of the reply that was shown first"),
        ColumnSpec("second", "text", "The arm of the reply that was shown second"),
        ColumnSpec("outcome", "text", "Which was preferred", "first; second; tie"),
        _EXCLUDED,
    ),
    StudySource.preferences,
)
LIVE_TURNS = TableSpec[StudySource](
    "live_turns",
    "What participants wrote about themselves, and the replies they got",
    (
        _RATER,
        _BLOCK,
        ColumnSpec(
            "author", "text", "Who replies to the participant, by the name in the study file"
        ),
        ColumnSpec("kind", "text", "What kind of author that is", "model; person; fixed"),
        ColumnSpec("label", "text", "What the participant read about the author"),
        ColumnSpec("position", "whole number", "The position in the conversation, from 1"),
        ColumnSpec("sender", "text", "Who wrote the turn", "participant; respondent"),
        ColumnSpec(
            "text",
            "text",
            "The text as it was shown; read it before you share it, because it may identify a "
            "person",
        ),
        ColumnSpec(
            "masked", "text", "What a model got or wrote; empty if it is the same as the text"
        ),
        ColumnSpec(
            "outcome",
            "text",
            "Whether it is the author's own reply",
            "valid; fallback",
        ),
        ColumnSpec("reason", "text", "Why it is the fallback, or why there is no reply"),
        ColumnSpec("rejected", "text", "What the model wrote but was not shown"),
        ColumnSpec("due_seconds", "number", "The random delay, from the message to the reply"),
        ColumnSpec("waited_seconds", "number", "From the message to when the reply was shown"),
        ColumnSpec("model", "text", "The version that the endpoint says has answered"),
        ColumnSpec("model_seconds", "number", "How long the model took"),
        ColumnSpec("prompt_tokens", "whole number", "Tokens that the model read"),
        ColumnSpec("completion_tokens", "whole number", "Tokens that the model wrote"),
        ColumnSpec("cost", "number", "US dollars, by the price table"),
        ColumnSpec(
            "ended_because", "text", "Why the conversation ended early; empty if it did not"
        ),
        _EXCLUDED,
    ),
    page_tables.live_turns,
)
PAGES = TableSpec[StudySource](
    "pages",
    "How long raters took for each page",
    (
        _RATER,
        ColumnSpec(
            "page",
            "text",
            "The page: its block, and the number of the item where there are several",
        ),
        _PAGE_POSITION,
        ColumnSpec("seconds", "number", "From showing to answering, by the server's clock"),
        ColumnSpec(
            "browser_seconds", "number", "The same, as reported by the browser; do not rely on it"
        ),
        ColumnSpec(
            "away_seconds",
            "number",
            "How long the page was out of sight, as the browser reported it",
        ),
        ColumnSpec(
            "focus_losses",
            "whole number",
            "How often the page lost the focus, as the browser reported it",
        ),
        ColumnSpec("corrections", "whole number", "How often the answer was changed"),
        ColumnSpec(
            "pastes",
            "whole number",
            f"How often something was pasted or dropped into an answer. {SIGNAL_NOTE}",
        ),
        ColumnSpec(
            "pasted_characters", "whole number", f"How many characters that were. {SIGNAL_NOTE}"
        ),
        ColumnSpec("keys", "whole number", f"How many keys were pressed in answers. {SIGNAL_NOTE}"),
        ColumnSpec(
            "key_interval_ms", "number", f"Mean milliseconds between two keys. {SIGNAL_NOTE}"
        ),
        ColumnSpec("key_interval_sd_ms", "number", f"Their standard deviation. {SIGNAL_NOTE}"),
        ColumnSpec(
            "hidden_field",
            "true or false",
            f"Whether a field was filled in that people cannot see. {SIGNAL_NOTE}",
            "true; false",
        ),
    ),
    page_tables.pages,
)
ATTENTION = TableSpec[StudySource](
    "attention",
    "How raters answered attention checks",
    (
        _RATER,
        ColumnSpec("check", "text", "The attention check: its block"),
        _PAGE_POSITION,
        ColumnSpec("asked", "whole number", "Which check of the pool was drawn, counted from 1"),
        ColumnSpec("chosen", "whole number", "The option chosen, counted from 1"),
        ColumnSpec("right", "true or false", "Whether that was the right one", "true; false"),
    ),
    page_tables.attention,
)
COMMENTS = TableSpec[StudySource](
    "comments",
    "What raters wrote when they were asked for comments",
    (
        _RATER,
        ColumnSpec("block", "text", "Where the comment was asked for"),
        _PAGE_POSITION,
        ColumnSpec(
            "text",
            "text",
            "Free text; read it before you share it, because it may identify a person",
        ),
    ),
    page_tables.comments,
)
PARTIAL = TableSpec[StudySource](
    "partial_answers",
    "Answers of people who did not finish",
    (
        ColumnSpec(
            "rater",
            "text",
            f"{_RATER.meaning}; one who did not finish and did not ask for deletion",
        ),
        ColumnSpec(
            "page",
            "text",
            "The page: its block, and the number of the item where there are several",
        ),
        _PAGE_POSITION,
        ColumnSpec("arm", "text", "The arm whose response was rated"),
        ColumnSpec("situation", "text", "The situation that the page was about"),
        ColumnSpec("response", "whole number", "The response's number in the table responses"),
        ColumnSpec(
            "question",
            "text",
            "What was asked: a dimension, an item of a scale, a question about oneself",
        ),
        ColumnSpec(
            "answer", "text", "The answer; comments and attention checks are in their own tables"
        ),
    ),
    page_tables.partial_answers,
)
ARMS = TableSpec[StudySource](
    "arms",
    "The conditions of the studies",
    (
        ColumnSpec("arm", "text", "The arm"),
        ColumnSpec("respondent", "text", "Whose responses it shows"),
        ColumnSpec("kind", "text", "A model, or people"),
        ColumnSpec("responses", "whole number", "How many responses it shows"),
        ColumnSpec("raters", "whole number", "How many raters gave ratings that count"),
        ColumnSpec("ratings", "whole number", "How many ratings count"),
        ColumnSpec("first", "text", f"The day of the first of them. {_DAY}", _DATE),
        ColumnSpec("last", "text", f"The day of the last of them. {_DAY}", _DATE),
    ),
    StudySource.arms,
)
RESPONSES = TableSpec[StudySource](
    "responses",
    "Replies to situations, usable or not",
    (
        ColumnSpec("response", "whole number", "The response's number"),
        ColumnSpec("respondent", "text", "Who wrote it"),
        ColumnSpec("kind", "text", "A model, or people"),
        _SET,
        _SITUATION,
        ColumnSpec(
            "sample", "whole number", "Which of the respondent's replies to the situation, from 0"
        ),
        ColumnSpec("prompt", "text", "The prompt template, with its version"),
        ColumnSpec("text", "text", "The reply"),
    ),
    StudySource.responses,
)
SITUATIONS = TableSpec[StudySource](
    "situations",
    "What a person goes through, one row per situation",
    (
        _SET,
        _SITUATION,
        ColumnSpec("text", "text", "What a person goes through"),
        ColumnSpec("emotion", "text", "The emotion it is about"),
        ColumnSpec("valence", "text", "Whether that emotion is pleasant", _VALENCES),
        ColumnSpec("factor", "text", "What causes the emotion"),
        ColumnSpec("topic", "text", "The topic"),
        ColumnSpec("utterance", "text", "What the person says"),
        ColumnSpec("counterpart", "text", "The same situation without what evokes the emotion"),
        ColumnSpec("title", "text", "The post's title"),
        ColumnSpec(
            "context",
            "text",
            "What was said before, as a JSON list: the person first, then in turns",
        ),
    ),
    StudySource.situations,
)
TABLES = (
    RATINGS,
    RATINGS_OF_EXCLUDED,
    RATERS,
    SCALE_ANSWERS,
    WRITTEN,
    ANSWERS,
    PREFERENCES,
    LIVE_TURNS,
    PAGES,
    ATTENTION,
    COMMENTS,
    PARTIAL,
    ARMS,
    RESPONSES,
    SITUATIONS,
)
ALWAYS = ("ratings", "raters", "arms", "responses", "situations")
"""The tables that are written even where they are empty."""
