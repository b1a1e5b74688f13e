"""Every table of an exported study: its columns, their types and meanings, and its query."""

from __future__ import annotations

from empathylab.study.exports import page_tables, scale_tables
from empathylab.study.exports.source import StudySource
from empathylab.table_specs import TableSpec, flag, number, text, whole

SIGNAL_NOTE = "Evidence, not proof; empty: the study does not record it, or it was not observed"

FAILED_ATTENTION = whole("failed_attention", "How many attention checks they failed")
"""A column of `raters` that studies with attention checks have."""

SIGNALS = (
    whole("pastes", f"How often they pasted into an answer. {SIGNAL_NOTE}"),
    whole("even_typing", f"1: the intervals between keys hardly vary. {SIGNAL_NOTE}"),
    whole("hidden_field", f"1: a field was filled in that people cannot see. {SIGNAL_NOTE}"),
    whole("instant_pages", "How many pages they answered in less than a second"),
)
"""Columns of `raters` that studies with `signals: true` have."""

LIVE = (
    text("author", "Who replied to the participant, by the name in the study file"),
    text("label", "What the participant read about the author"),
    text(
        "reply_outcome",
        "Whether the participant saw only the author's replies, or also the fallback",
        "valid; fallback",
    ),
)
"""Columns of `raters` that studies with live replies have."""

FOLLOW_UP = (
    text("first_participant", "The participant in the study that is followed up"),
    number("days_after", "Days since they finished that study"),
)
"""Columns of `raters` that follow-ups have, beside those of the first study (`first_…`)."""


_DAY = "In UTC; moments finer than a day stay in the lab"
_DATE = "YYYY-MM-DD"
_RATER = text("rater", "The rater: a random name for this study only, the same in all tables")
_SET = text("set", "The set that the situation is from")
_SITUATION = text("situation", "The situation's id in its set")
_POSITION = whole("position", "The position in which the rater saw it, from 1 in its block")
_PAGE_POSITION = whole("position", "The position in which the rater answered the page, from 1")
_EXCLUDED = text(
    "excluded", "Why a researcher excluded the rater from all results; empty if not excluded"
)
_BLOCK = text("block", "The block of the study file")
_VALENCES = "positive; negative; mixed"


RATINGS = TableSpec[StudySource](
    "ratings",
    "One row per rating: one rater's value for one response on one dimension",
    (
        _RATER,
        text("arm", "The arm whose response was rated"),
        text("respondent", "Who wrote the response"),
        whole("response", "The response's number in the table responses"),
        _SET,
        _SITUATION,
        text("emotion", "The situation's emotion"),
        text("valence", "Whether that emotion is pleasant", _VALENCES),
        text("topic", "The situation's topic"),
        _POSITION,
        text("dimension", "What was rated"),
        number("rating", "The value that the rater chose"),
        text("label", "The label of that value"),
        number("seconds", "From showing the page to the answer, by the server's clock"),
        text("day", f"The day of the rating. {_DAY}", _DATE),
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
        text("kind", "A person, or a model as a rater"),
        text("arm", "The arm that they were in; empty if they saw several or none"),
        text(
            "status",
            "The status of their slot; live: still taking part; unfinished: not done when the "
            "study closed",
        ),
        text("outcome", "The outcome of their participation"),
        text("excluded", "Why a researcher excluded them from all results; empty if not excluded"),
        text("language", "The language they took part in"),
        text("day", f"The day they arrived. {_DAY}", _DATE),
        number("seconds", "From arriving to finishing, by the server's clock"),
        whole("ratings", "How many ratings they gave"),
    ),
    StudySource.raters,
)
SCALE_ANSWERS = TableSpec[StudySource](
    "scale_answers",
    "Raters' answers to the items of scales, about themselves",
    (
        _RATER,
        text("scale", "The scale that was answered"),
        text(
            "phase",
            "At baseline (default), after imagining a situation (evoked), or by the person who is "
            "helped: before, after, or days later",
            "default; evoked; before; after; later",
        ),
        text("situation", "After which situation; empty if there is none"),
        whole(
            "trial",
            "Which of the rater's situations it was, from 1 in the order shown; empty if there is "
            "none",
        ),
        whole("item", "The item's number in the scale"),
        whole("position", "The position in which the item was shown"),
        number("value", "The answer as given; reversed items are not reversed yet"),
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
        text("text", "What the person would say, in their own words"),
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
        text("arm", "The arm whose reply was shown; empty if there was none"),
        text("question", "The question's name in the study file"),
        text("part", "The option or row, if an answer has several parts"),
        text("answer", "The answer: 1 or 0 for an option, the rank for a ranking"),
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
        text("first", "The arm of the reply that was shown first"),
        text("second", "The arm of the reply that was shown second"),
        text("outcome", "Which was preferred", "first; second; tie"),
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
        text("author", "Who replies to the participant, by the name in the study file"),
        text("kind", "What kind of author that is", "model; person; fixed"),
        text("label", "What the participant read about the author"),
        whole("position", "The position in the conversation, from 1"),
        text("sender", "Who wrote the turn", "participant; respondent"),
        text(
            "text",
            "The text as it was shown; read it before you share it, because it may identify a "
            "person",
        ),
        text("masked", "What a model got or wrote; empty if it is the same as the text"),
        text("outcome", "Whether it is the author's own reply", "valid; fallback"),
        text("reason", "Why it is the fallback, or why there is no reply"),
        text("rejected", "What the model wrote but was not shown"),
        number("due_seconds", "The random delay, from the message to the reply"),
        number("waited_seconds", "From the message to when the reply was shown"),
        text("model", "The model version that the endpoint reports"),
        number("model_seconds", "How long the model took"),
        whole("prompt_tokens", "Tokens that the model read"),
        whole("completion_tokens", "Tokens that the model wrote"),
        number("cost", "US dollars, by the price table"),
        text("ended_because", "Why the conversation ended early; empty if it did not"),
        _EXCLUDED,
    ),
    page_tables.live_turns,
)
PAGES = TableSpec[StudySource](
    "pages",
    "How long raters took for each page",
    (
        _RATER,
        text("page", "The page: its block, and the number of the item where there are several"),
        _PAGE_POSITION,
        number("seconds", "From showing to answering, by the server's clock"),
        number(
            "browser_seconds",
            "From showing to answering, as the browser reported it; do not rely on it",
        ),
        number("away_seconds", "How long the page was out of sight, as the browser reported it"),
        whole("focus_losses", "How often the page lost the focus, as the browser reported it"),
        whole("corrections", "How often the answer was changed"),
        whole("pastes", f"How often something was pasted or dropped into an answer. {SIGNAL_NOTE}"),
        whole(
            "pasted_characters",
            f"How many characters were pasted or dropped into answers. {SIGNAL_NOTE}",
        ),
        whole("keys", f"How many keys were pressed in answers. {SIGNAL_NOTE}"),
        number("key_interval_ms", f"Mean milliseconds between two keys. {SIGNAL_NOTE}"),
        number(
            "key_interval_sd_ms",
            f"Standard deviation of the milliseconds between two keys. {SIGNAL_NOTE}",
        ),
        flag(
            "hidden_field",
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
        text("check", "The attention check: its block"),
        _PAGE_POSITION,
        whole("asked", "Which check of the pool was drawn, counted from 1"),
        whole("chosen", "The option chosen, counted from 1"),
        flag("right", "Whether that was the right one", "true; false"),
    ),
    page_tables.attention,
)
COMMENTS = TableSpec[StudySource](
    "comments",
    "What raters wrote when they were asked for comments",
    (
        _RATER,
        text("block", "Where the comment was asked for"),
        _PAGE_POSITION,
        text("text", "Free text; read it before you share it, because it may identify a person"),
    ),
    page_tables.comments,
)
PARTIAL = TableSpec[StudySource](
    "partial_answers",
    "Answers of people who did not finish",
    (
        text("rater", f"{_RATER.meaning}; one who did not finish and did not ask for deletion"),
        text("page", "The page: its block, and the number of the item where there are several"),
        _PAGE_POSITION,
        text("arm", "The arm whose response was rated"),
        text("situation", "The situation that the page was about"),
        whole("response", "The response's number in the table responses"),
        text(
            "question", "What was asked: a dimension, an item of a scale, a question about oneself"
        ),
        text("answer", "The answer; comments and attention checks are in their own tables"),
    ),
    page_tables.partial_answers,
)
ARMS = TableSpec[StudySource](
    "arms",
    "The conditions of the studies",
    (
        text("arm", "The arm"),
        text("respondent", "Whose responses it shows"),
        text("kind", "A model, or people"),
        whole("responses", "How many responses it shows"),
        whole("raters", "How many raters gave ratings that count"),
        whole("ratings", "How many ratings count"),
        text("first", f"The day of the first rating. {_DAY}", _DATE),
        text("last", f"The day of the last rating. {_DAY}", _DATE),
    ),
    StudySource.arms,
)
RESPONSES = TableSpec[StudySource](
    "responses",
    "Replies to situations, usable or not",
    (
        whole("response", "The response's number"),
        text("respondent", "Who wrote it"),
        text("kind", "A model, or people"),
        _SET,
        _SITUATION,
        whole("sample", "Which of the respondent's replies to the situation, from 0"),
        text("prompt", "The prompt template, with its version"),
        text("text", "The reply"),
    ),
    StudySource.responses,
)
SITUATIONS = TableSpec[StudySource](
    "situations",
    "What a person goes through, one row per situation",
    (
        _SET,
        _SITUATION,
        text("text", "What a person goes through"),
        text("emotion", "The emotion it is about"),
        text("valence", "Whether that emotion is pleasant", _VALENCES),
        text("factor", "What causes the emotion"),
        text("topic", "The topic"),
        text("utterance", "What the person says"),
        text("counterpart", "The same situation without what evokes the emotion"),
        text("title", "The post's title"),
        text("context", "What was said before, as a JSON list: the person first, then in turns"),
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
