"""The page of every key in a study's file.

The keys are read from the code that reads the file; a key without a meaning here, or a meaning
without a key, is an error.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import get_args

from pydantic import BaseModel

from empathylab.stats.raters.exclusions import RULES
from empathylab.study.blocks.dimensions import Dimension
from empathylab.study.blocks.interface import Block, Outcome
from empathylab.study.blocks.questions.checks import Check, CheckQuestion
from empathylab.study.blocks.questions.registry import QUESTION_TYPES
from empathylab.study.blocks.recipients.reply import Respond
from empathylab.study.blocks.registry import block_types
from empathylab.study.blocks.tutorial import Example
from empathylab.study.blocks.work import Shown
from empathylab.study.design.definition import (
    Arm,
    FollowUp,
    Looks,
    Quota,
    Responses,
    Retention,
    Situations,
    Study,
    TimeLimits,
)
from empathylab.study.design.recruitment import Platform, Recruitment, ScreenOut
from empathylab.study.design.text_values import VALUES
from empathylab.study.live.settings import CHECKS, Author, Delay, Label, Limits, Live, People
from reference.settings import Undocumented

HEAD = """# A study's file

<!-- Written from the program by scripts/write_reference.py; do not edit by hand. -->

A study is one YAML file; this page lists its keys. `empathylab study new FILE --preset
between-subjects` writes a file to start from, and `empathylab study check FILE` names every error
with its line. An unknown key is an error. Steps: [run a study](../how-to/run-a-study.md).

With several languages, each text is a table by language:

```yaml
languages: [en, de]
title:
  en: How empathetic are these replies?
  de: Wie einfühlsam sind diese Antworten?
```

Keys in bold must be given.
"""

# Title of the table, its model, and what its keys mean.
TABLES: dict[str, tuple[type[BaseModel], dict[str, str]]] = {
    "The study": (
        Study,
        {
            "name": "lower-case letters, digits and hyphens; the study's name in the lab",
            "version": "a whole number from 1; another version is another study",
            "title": "the title shown above every page",
            "languages": "such as `[en]` or `[en, de]`",
            "seed": "the seed of every random draw: batches, orders",
            "blocks": "the parts of the study, in order; see below",
            "situations": "which situations are used; see below. Not used with `live`",
            "live": "who replies to participants about their own experiences; see below and "
            "[live studies](../how-to/live-study.md)",
            "follow_up": (
                "instead of `situations` and `live`: questionnaires for people who completed "
                "another study, days later; see below"
            ),
            "recruitment": "how participants are recruited; see below",
            "design": "`between` (each rater sees one arm; the default) or `within` subjects",
            "arms": "the name of each arm, and whose replies it shows; see below",
            "responses": "which reply to use if a respondent has several; see below",
            "dimensions": "what is rated; see below. Only the block `rate` needs it",
            "attention_pool": "questions from which attention checks are drawn; see below",
            "batch_size": "situations in one rater's batch; default: 10, or 1 if nothing is rated",
            "ratings_per_response": "number of raters per response; default: 1",
            "people_per_situation": "number of participants who imagine each situation or write to "
            "it; default: 1",
            "replies_per_situation": "within subjects: `all` (the default) or `one`",
            "quotas": "limits on the number of participants in each group; see below",
            "time_limits": "when the slot of an inactive participant becomes free; see below",
            "exclusions": "rules for excluding raters; see below",
            "looks": "planned looks at the results before the study is closed; see below",
            "retention": "when people's data are deleted; see below",
            "signals": "`true` lets the browser count signs of AI assistance and of bots: pastes, "
            "the rhythm of typing, a hidden field. The consent text must say so; see "
            "[watch a study](../how-to/watch-a-study.md#signs-of-ai-assistance-and-of-bots)",
            "content_note": "what participants should know before they read the situations",
            "help": "where participants can find help",
            "contact": "who to contact",
            "interface": (
                "texts of buttons and messages, by language, in the format of "
                "`src/empathylab/study/web/interface/en.yaml`"
            ),
        },
    ),
    "arms": (
        Arm,
        {
            "respondent": "whose responses the arm shows; `arm: respondent` on one line means "
            "the same",
            "prompt": "the prompt, if the lab has the respondent's replies to several prompts",
        },
    ),
    "situations": (
        Situations,
        {
            "set": "a set of the lab, or a built-in one; either this or `selection`",
            "selection": "a sample that `empathylab data sample` stored",
            "count": "total number",
            "valence": "only `positive` or `negative` ones",
            "per_emotion": "how many of each emotion, or a table of numbers by emotion",
            "per_topic": "the same by topic",
            "per_factor": "the same by factor",
        },
    ),
    "live": (
        Live,
        {
            "authors": "who replies, under names that you choose; see below",
            "labels": (
                "what participants are told about the author, under names that you choose; "
                "see below. Authors and labels are crossed: each combination is an arm "
                "`author+label`"
            ),
            "people_per_condition": "number of participants in each combination",
            "delay": "seconds until a reply is shown, the same in all arms; see below",
            "people": "if people reply: how long participants wait for them; see below",
            "fallback": "the text shown if a reply is late, missing or fails a check",
            "attempts": "maximum number of attempts to get a reply from a model; default: 2",
            "pause_after": (
                "the study pauses if the provider fails for this many replies in a row; default: 5"
            ),
            "maximum_words": "maximum number of words of a reply; default: 200",
            "mask": "`true` replaces names, numbers and addresses before a model gets a text",
            "checks": "what a model's reply is checked for before it is shown: {checks}; all if "
            "not given",
            "crisis_words": "`false` turns off the list of words that end a conversation and show "
            "help",
            "costs": "limits on the cost of replies; see below",
        },
    ),
    "live.authors": (
        Author,
        {
            "model": "a model, as in `empathylab models`",
            "text": "instead of a model: a fixed reply, the same for every participant",
            "person": "instead of a model: a person, `participant` or `confederate`",
            "prompt": "of a model: its instructions",
            "base_url": "of a model: the address of its endpoint, if the provider is not built in",
            "api_key_env": "of a model: the environment variable of the server that holds the key",
            "sent_to": "of a model: who receives the texts, as the consent names it; "
            "default: the provider's name",
            "temperature": "of a model",
            "max_tokens": "of a model; default: 400",
            "written_by": "of a text: `person` (the default) or `model`",
        },
    ),
    "follow_up": (
        FollowUp,
        {
            "study": "the first study, in the same lab: its name, or `NAME@VERSION`",
            "people": "maximum number of participants",
        },
    ),
    "live.labels": (
        Label,
        {
            "text": "what participants read above the reply; default: nothing",
            "claims": (
                "who wrote the reply according to the label: `model` or `person`. If this "
                "can be false, the debrief needs `reveals`"
            ),
        },
    ),
    "live.delay": (
        Delay,
        {
            "minimum": "seconds; each delay is drawn uniformly between minimum and maximum",
            "maximum": "seconds",
        },
    ),
    "live.people": (
        People,
        {
            "wait": (
                "`minimum` and `maximum` seconds in the waiting room; default: 5 and 180. If "
                "models reply in other arms, participants are connected after a time drawn "
                "uniformly between the two"
            ),
            "otherwise": "what happens to participants without a partner at the maximum: `end` "
            "(the default) with the outcome `interrupted`, or the name of an author who answers "
            "in place of a person",
            "reply_within": "seconds that a person has for each message, before they count as "
            "having left; default: 300",
        },
    ),
    "live.costs": (
        Limits,
        {
            "participant": "US dollars for one participant; then they get the fallback",
            "study": "US dollars in total; then the study pauses",
        },
    ),
    "responses": (Responses, {"sample": "the number of the reply, from 0"}),
    "dimensions": (
        Dimension,
        {
            "name": "lower-case letters, digits and hyphens",
            "question": "the text that participants read",
            "labels": "one for each point, lowest first; between the ends they may be empty",
            "values": "whole numbers in ascending order; default: 1, 2, 3 …",
            "margin": "the smallest difference between arms that matters, for equivalence: in "
            "points of a scale with five points or more, else in percentage points of good ratings",
            "input": (
                "`slider`: a slider instead of points. Labels and values belong to points on "
                "it; default values: 0 and 100"
            ),
            "step": "of a slider; default: 1",
            "direction": "`fixed` (the default), or `random`: half of the raters see the highest "
            "point first",
        },
    ),
    "quotas": (
        Quota,
        {
            "by": "the name of a question of the demographics, or of a parameter of the link",
            "counts": "a number of people for each answer; either this or `shares`",
            "shares": "a proportion for each answer; at most 1 in total",
            "others": "maximum number of participants with any other answer",
            "source": "`demographics` (the default) or `platform`: what the link says (`&NAME=…`)",
        },
    ),
    "time_limits": (
        TimeLimits,
        {
            "abandon_after": "minutes without activity after which another participant can get the "
            "slot; default: 60",
            "finish_within": "minutes for the whole study",
        },
    ),
    "recruitment": (
        Recruitment,
        {
            "platform": "{platforms}",
            "once": "whether a person can take part only once; default: `true`",
            "codes": "completion codes by outcome: {outcomes}; Prolific needs `completed`",
            "return_url": "the https address that participants return to at the end",
            "screen_out": "what Prolific pays people who are screened out; see below",
            "groups": "by outcome, Prolific's id of the participant group that people join",
            "minutes": "the duration that participants are told; `{{minutes}}` in texts",
            "payment": "the payment, with the currency; `{{payment}}` in texts",
        },
    ),
    "recruitment.screen_out": (
        ScreenOut,
        {
            "reward": (
                "payment per person, in the smallest unit of the currency: 20 means 20 pence "
                "or cents"
            ),
            "slots": "maximum number of people who are paid this way",
        },
    ),
    "looks": (
        Looks,
        {
            "ratings": "planned number of rated replies in the whole study",
            "at": "the looks, as ascending proportions of these ratings; the last is 1",
            "spending": "`obrien-fleming` (the default: strict at first) or `pocock` (similar at "
            "all looks)",
        },
    ),
    "retention": (
        Retention,
        {
            "platform_ids": "days after closing until platform ids are deleted; default: 90",
            "comments": "days after closing until comments are deleted; default: kept",
        },
    ),
}
_ABOUT_ITEMS = "further questions about each; see below"
BLOCKS: dict[str, tuple[str, dict[str, str]]] = {
    "consent": (
        "comes first, once",
        {
            "text": (
                "what participants read before they decide; Markdown, like all texts of blocks"
            ),
            "agree": "the option to take part",
            "decline": "the option not to take part",
        },
    ),
    "demographics": (
        "questions about the person",
        {
            "fields": "the questions; see below",
            "text": "a text above the questions",
            "screen_out_if": "a condition on these answers and earlier ones; people who meet it "
            "are screened out",
        },
    ),
    "questions": (
        "a page of questions anywhere in the study",
        {
            "fields": "the questions; see below",
            "text": "a text above the questions",
            "screen_out_if": "as in `demographics`",
        },
    ),
    "scale": (
        "a questionnaire about the person",
        {
            "scale": "the scale's id; its wording must be in the lab",
            "phase": "`default` (at baseline), or `evoked`: after what was imagined",
            "order": "`printed` (the default) or `shuffled` items",
            "per_page": "items on a page; default: all",
            "text": "a text above the items, instead of the scale's own instruction",
        },
    ),
    "feel": (
        "how the person who is helped feels",
        {
            "scale": "`recipient` (heard, understood, cared for, connection, trust; the default), "
            "`mood` (own emotions), or a scale whose wording is in the lab",
            "phase": "`before`, `after` (the default) being helped, or `later`: in a follow-up "
            "study, days after",
            "order": "`printed` (the default) or `shuffled` items",
            "per_page": "items on a page; default: all",
            "text": "a text above the items, instead of the scale's own instruction",
        },
    ),
    "tutorial": (
        "instructions, examples, and questions about them",
        {
            "pages": "a list of texts",
            "examples": "worked examples; see below",
            "check": "comprehension questions; see below",
        },
    ),
    "rate": (
        "the batch's replies are rated, one page each",
        {
            "shows": "what is shown above the reply: {shown}",
            "dimensions": "which dimensions; default: all",
            "back": "whether participants can go back and change a rating; default: `true`",
            "text": "a text above each reply",
            "layout": "`matrix`: dimensions with the same labels share one table",
            "questions": _ABOUT_ITEMS,
        },
    ),
    "compare": (
        "two replies to the same situation side by side; every pair once, within subjects",
        {
            "question": "the question, such as which reply shows more empathy",
            "ties": "whether participants can choose neither; default: `true`",
            "shows": "what is shown above the replies",
            "back": "whether participants can go back; default: `true`",
            "text": "a text above each pair",
            "questions": _ABOUT_ITEMS,
        },
    ),
    "imagine": (
        "the person imagines a situation",
        {
            "text": "what to do",
            "shows": "what is shown of the situation",
            "seconds": "minimum seconds on the page",
            "question": "a question to answer in words",
            "questions": _ABOUT_ITEMS,
        },
    ),
    "norm": (
        "raters describe each situation of their batch, to find out what it evokes",
        {
            "scale": "`norms-8`, `norms-32`, or a scale of the lab with a subscale per emotion",
            "question": "a question, before the scale, about the feeling in the rater's own words",
            "text": "a text above the items, instead of the scale's own instruction",
            "shows": "what is shown of the situation",
            "questions": _ABOUT_ITEMS,
        },
    ),
    "write": (
        "the person writes a reply to each situation of the batch",
        {
            "text": "what to do",
            "shows": "what is shown of the situation",
            "minimum_words": "default: 1",
            "maximum_words": "default: 500",
            "back": "whether participants can go back; default: `true`",
            "questions": _ABOUT_ITEMS,
        },
    ),
    "tell": (
        "the person writes about an experience of their own",
        {
            "text": "what to write about",
            "prompts": "questions that help to write, shown as a list",
            "minimum_words": "default: 30",
            "maximum_words": "default: 500",
            "warn_details": "`false` hides the request not to write names and addresses",
        },
    ),
    "reply": (
        "the person waits for an answer to what they told, and reads it",
        {
            "to": "the id of the block `tell`; default: `tell`",
            "text": "a text above the reply",
            "seconds": "minimum seconds on the page with the reply; default: 0",
            "respond": (
                "a page before the reply, on which every participant replies to someone "
                "else; needed if another participant replies. See below"
            ),
        },
    ),
    "chat": (
        "a conversation of several turns",
        {
            "text": "a text above the first message",
            "reply_text": "if two participants talk: a text above the first reply to the partner",
            "opens_with": "the id of a block `tell`, whose story is the first message",
            "turns": "maximum number of messages of the participant; default: 6",
            "minimum_turns": (
                "number of replies after which the participant can end the conversation; default: 1"
            ),
            "minutes": "time limit for messages, in minutes; default: none",
            "maximum_words": "maximum number of words of a message; default: 200",
            "questions": "asked during the conversation; see below",
            "every": "after how many replies the questions are asked again; default: 1",
        },
    ),
    "attention": (
        "a question that shows whether the page is read",
        {
            "question": (
                "the text that participants read; without question, options and answer the "
                "check draws one from `attention_pool`"
            ),
            "options": "two or more",
            "answer": "the correct option, written exactly as in `options`",
            "explanation": "why it is correct",
            "on_failure": "`continue` (the default) or `end`",
            "inside": "the id of the block it interrupts; with `after`",
            "after": "after how many items of that block",
        },
    ),
    "comment": (
        "a free comment",
        {"text": "the question", "required": "default: `false`"},
    ),
    "debrief": (
        "comes last, once",
        {
            "text": "the text that participants read at the end",
            "reveals": (
                "a page before it that says what participants were not told, or told "
                "wrongly. They can have their answers deleted there, and are paid either way"
            ),
        },
    ),
}
PARTS: dict[str, tuple[tuple[type[BaseModel], ...], dict[str, str]]] = {
    "A question (`fields` and `questions`)": (
        QUESTION_TYPES,
        {
            "name": "the name of the column in the data",
            "label": "the text that participants read",
            "kind": "{kinds}",
            "required": "default: `true`",
            "options": "of a choice, dropdown, multi-select, ranking or matrix: texts, or tables "
            "with `value` (stored) and `label` (read)",
            "rows": "of a matrix: the statements, written like options",
            "order": "of a multi-select, ranking or matrix: `printed` (the default) or `shuffled`",
            "labels": "of a slider: of its two ends",
            "minimum": "the smallest number, or the fewest choices of a multi-select",
            "maximum": "the largest number, or the most choices of a multi-select",
            "step": "of a slider; default: 1",
            "minimum_words": "of an open text; default: 1",
            "maximum_words": "of an open text; default: 500",
        },
    ),
    "A question with a right answer (`attention_pool`, and `questions` of a `check`)": (
        (CheckQuestion,),
        {
            "question": "the text that participants read",
            "options": "two or more",
            "answer": "the correct option, written exactly as in `options`",
            "explanation": "shown after a wrong answer in a comprehension check",
        },
    ),
    "A worked example (`examples`)": (
        (Example,),
        {
            "situation": "what someone went through",
            "explanation": "the reason for the rating",
            "reply": "the reply that is rated",
            "rating": "its rating",
        },
    ),
    "A reply to someone else (`respond` of `reply`)": (
        (Respond,),
        {
            "title": "above the page",
            "text": "what to do",
            "story": "the story that participants reply to if no other participant waits",
            "minimum_words": "of the reply; default: 20",
        },
    ),
    "A comprehension check (`check`)": (
        (Check,),
        {
            "questions": "each with `question`, `options`, `answer`, and optionally `explanation`",
            "attempts": "default: 2",
            "needed": "number of correct answers needed; default: all",
            "on_failure": "`end` (the default) or `continue`",
        },
    ),
}


# Fields that a model fills in itself where the file says nothing.
FILLED = {"batch_size", "values", "needed", "maximum_words"}


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, (model, meanings) in TABLES.items():
        heading = title if title == "The study" else f"`{title}`"
        parts.append(_table(f"## {heading}", meanings, *_keys(model)))
    parts.append(_text_values())
    parts.append(_exclusions())
    parts.append(
        "\n## `blocks`\n\nEach begins with `block`, its kind. `id` names it (by default its kind "
        "and a number), `title` is shown above the page, and `show_if` is a condition on earlier "
        'answers, such as `age >= 60 and country in ["Germany", "Austria"]`; all may be left '
        "out. Conditions: [Show blocks to some people]"
        "(../how-to/study-questions.md#show-blocks-to-some-people).\n"
    )
    _same(set(block_types()), set(BLOCKS), "block")
    for kind, block_type in block_types().items():
        what, meanings = BLOCKS[kind]
        own = [
            tuple(key for key in keys if key not in Block.model_fields)
            for keys in _keys(block_type)
        ]
        parts.append(_table(f"### `{kind}`: {what}", meanings, *own))
    for title, (models, meanings) in PARTS.items():
        parts.append(_table(f"### {title}", meanings, *_keys(*models)))
    return "".join(parts)


def _text_values() -> str:
    rows = "".join(f"| `{{{{{name}}}}}` | {meaning} |\n" for name, meaning in VALUES.items())
    return (
        "\n## Values in texts\n\nA name in double braces stands for a value of the file, in any "
        "text and language. An unknown name is an error.\n\n| in a text | stands for |\n"
        f"| --- | --- |\n{rows}"
    )


def _keys(*models: type[BaseModel]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The keys that all of the models require, and the others."""
    keys = dict.fromkeys(name for model in models for name in model.model_fields)
    required = tuple(
        name
        for name in keys
        if name not in FILLED
        and all(
            name in model.model_fields and model.model_fields[name].is_required()
            for model in models
        )
    )
    return required, tuple(name for name in keys if name not in required)


def _table(
    heading: str, meanings: dict[str, str], required: tuple[str, ...], optional: tuple[str, ...]
) -> str:
    _same({*required, *optional}, set(meanings), f"key of {heading}")
    names = {
        "platforms": ", ".join(f"`{arg}`" for arg in get_args(Platform)),
        "checks": ", ".join(f"`{check}`" for check in CHECKS),
        "outcomes": ", ".join(f"`{arg}`" for arg in get_args(Outcome)),
        "kinds": ", ".join(
            f"`{kind}`"
            for type_ in QUESTION_TYPES
            for kind in get_args(type_.model_fields["kind"].annotation)
        ),
        "shown": ", ".join(f"`{arg}`" for arg in get_args(Shown)),
    }
    rows = []
    for key, meaning in meanings.items():
        for name, words in names.items():
            meaning = meaning.replace(f"{{{name}}}", words)
        shown = f"**`{key}`**" if key in required else f"`{key}`"
        rows.append(f"| {shown} | {meaning} |\n")
    return f"\n{heading}\n\n| key | meaning |\n| --- | --- |\n" + "".join(rows)


def _exclusions() -> str:
    rows = []
    for name, rule in RULES.items():
        fields = list(dataclasses.fields(rule))
        settings = ", ".join(f"`{field.name}`{_default(field)}" for field in fields)
        first = (inspect.getdoc(rule) or "").splitlines()[0].removesuffix(".")
        rows.append(f"| `{name}` | {first[0].lower()}{first[1:]} | {settings} |\n")
    return (
        "\n## `exclusions`\n\nA list of rules, each a table that begins with `rule`. They look "
        "at a rater without knowing the arm.\n\n| rule | what it does | settings |\n"
        "| --- | --- | --- |\n" + "".join(rows)
    )


def _default(field: dataclasses.Field[object]) -> str:
    given = field.default
    return "" if given is dataclasses.MISSING or given is None else f" ({given})"


def _same(found: set[str], told: set[str], what: str) -> None:
    if found != told:
        raise Undocumented(f"{what}: {sorted(found ^ told)} in the code or in the words, not both")
