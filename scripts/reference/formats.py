"""The page of every file that the program reads or writes.

Which commands take a file is read from the command line; one without a format here is an error.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from empathylab.protocols.reply_templates import ReplyTemplate
from empathylab.protocols.templates import AppraisalTemplate
from empathylab.scales.definition import Scale
from empathylab.situations.sets import Situation
from empathylab.situations.sources import reply_tables
from empathylab.style.tactics.rules import Tactic
from reference.commands import walk
from reference.settings import Undocumented

HEAD = """# File formats

<!-- Written from the program by scripts/write_reference.py; do not edit by hand. -->

This page describes the files that commands read. Tables are CSV, TSV, JSONL or Parquet,
recognised by the ending; text is UTF-8. A file with an error is refused, with the row and how to
fix it, and nothing is stored. Files that EmpathyLab writes: [exports](../how-to/export.md), and a
study's [tables and archive](../how-to/run-a-study.md).
"""

# Anchor of the section: its heading, and its words; {columns} are filled in from the code.
SECTIONS: dict[str, tuple[str, str]] = {
    "situations": (
        "Situations",
        "One situation per row: `id`, `text`, and `emotion` or `topic`. All columns: {situation}.",
    ),
    "posts": (
        "Posts to a forum",
        "One post per row; columns may have any of these names:\n\n{posts}",
    ),
    "replies": (
        "Replies",
        (
            "One reply per row: `situation` (its id), `respondent`, `text`; optionally "
            "`sample` (0, 1 …) and `kind` (`model` or `human`). A table that also contains "
            "the situations has {replies}."
        ),
    ),
    "ratings": (
        "Ratings",
        (
            "One rating per row: `situation`, `respondent`, `rater`, `rating` (a number or a "
            "label); optionally `dimension`, `sample`, `label`, `seconds`, and the columns of "
            "[replies](#replies)."
        ),
    ),
    "raters": (
        "People who rated",
        "One person per row: `rater`, and any other columns. `seconds` is the time they took.",
    ),
    "long": (
        "Long tables",
        (
            "One observation per row; the command's options name the columns "
            "(`--rater`, `--situation` …) whose names differ."
        ),
    ),
    "styled": (
        "Replies for style analysis",
        "One response per row: `respondent`, `situation`, `text`, and optionally `sample`.",
    ),
    "judged": (
        "Ratings by people and judges",
        (
            "One rating per row: `situation`, `rater`, `rater_kind` (`person` or `model`), "
            "`rating`. Further columns: [add a "
            "judge](../how-to/add-a-judge.md#judges-from-a-table)."
        ),
    ),
    "comparisons": (
        "Comparisons of two replies",
        (
            "One comparison per row: `first`, `second` (the two respondents) and `outcome` "
            "(`first`, `second` or `tie`)."
        ),
    ),
    "wording": (
        "Wording of scales",
        "{wording}",
    ),
    "emotionbench": (
        "EmotionBench",
        (
            "The files of its public repository: `situations.json`, `questionnaires.json`, "
            "`<model>-<SCALE>-testing.csv`, `crowd.xlsx`; a folder is searched for them."
        ),
    ),
    "welivita": (
        "The release of Welivita & Pu",
        (
            "One situation per row: `dialog_id`, `emotion`, `sentiment`, `situation`, "
            "`speaker_uttr`, and for each arm `response_ARM`, `rating_ARM`, `annotator_ARM`, and "
            "maybe `empathy_arr_ARM`, `empathy_propensity_ARM`, `miti_ARM`. Any number of arms."
        ),
    ),
    "empatheticdialogues": (
        "EmpatheticDialogues",
        "Its archive, a folder with `train.csv`, `valid.csv`, `test.csv`, or one of them.",
    ),
    "sage": (
        "SAGE's results",
        (
            "A folder with `<simulator>/<model>_result.jsonl`, or one such file: a conversation "
            "per line with `id`, `emo_point` and `history` (`role`, `content`, `emotion-point`)."
        ),
    ),
    "conversations": (
        "Conversations",
        (
            "One turn per row: `conversation`, `turn`, `speaker`, `text`; optionally `emotion`, "
            "`respondent`, `simulator`, `persona`, `language`. Or a table with a column of "
            "transcripts, or a text file, whose turns begin with `Seeker:` and `Supporter:`."
        ),
    ),
    "conversation-ratings": (
        "People's ratings of conversations",
        (
            "One rating per row: `conversation` (its id in the lab, or its key) and `rating`; "
            "optionally `turn` (replies so far) and `rater`."
        ),
    ),
    "recipients": (
        "Recipients",
        (
            "One row per participant and reply: `response` (who wrote it), `label` (who "
            "wrote it according to what the participant read), and columns of numbers, the "
            "outcomes; optionally `participant`, `replier`, `reply`. All columns: [analyse "
            "recipients](../how-to/recipients.md)."
        ),
    ),
    "recipient-ratings": (
        "Ratings of recipients' replies",
        (
            "One rating per row: `reply` (or `participant`) and `rating`; optionally `rater`, "
            "`rater_kind` (`person` or `model`) and `dimension`."
        ),
    ),
    "prompt": ("A system prompt", "A text file whose whole content is the prompt."),
    "study": ("A study", "YAML; every key is on the page [A study's file](study-file.md)."),
    "backup": (
        "A lab's backup",
        (
            "A ZIP of `manifest.json` (database, schema version, time, rows of every table) and "
            "the database: `lab.sqlite`, or `lab.pgdump` in the custom format of PostgreSQL's "
            "`pg_dump`."
        ),
    ),
    "archive": (
        "A study's archive",
        (
            "A ZIP that `empathylab study export --archive` writes: the protocol with its hash, "
            "situations, replies, scales, ratings, and no identities."
        ),
    ),
    "inspect_log": (
        "Logs of Inspect",
        (
            "An `.eval` or `.json` log of one of EmpathyLab's tasks in Inspect, or one that "
            "`empathylab export --format inspect` writes: see "
            "[other tools](../how-to/other-tools.md)."
        ),
    ),
    "platform": (
        "Exports of platforms",
        (
            "Prolific's export of submissions, unchanged: `Participant id`, `Status`, `Time "
            "taken` and further columns."
        ),
    ),
    "template": (
        "Templates of prompts",
        (
            "TOML that changes a built-in template. Keys that you leave out do not change. "
            "For scales: {template}. For replies: {reply_template}."
        ),
    ),
    "prices": (
        "Prices",
        (
            'TOML in US dollars per million tokens:\n\n```toml\n[prices]\n"openai/gpt-4o-mini" = '
            "{{ prompt = 0.15, completion = 0.60 }}\n```"
        ),
    ),
    "words": (
        "Word lists and dictionaries",
        (
            "A text file with one word or phrase per line (`*` at the end for any ending), or "
            "LIWC's `.dic`: categories between two `%` lines, then a word and its categories' "
            "numbers, separated by tabs."
        ),
    ),
    "tactics": (
        "Rules for tactics",
        (
            "TOML with `language`, `version`, `words` (names for groups of words, which patterns "
            "use as `<name>`) and a list of tactics, each with {tactic}. "
            "`analyze style --write-lists DIR` writes ours."
        ),
    ),
    "tactic labels": (
        "Labels of tactics",
        (
            "A table with the columns `respondent`, `text` and `tactics`: replies as they are in "
            "the analysis, with the [tactics](../explanation/tactics.md) that a person sees in "
            "them, commas between them, or nothing."
        ),
    ),
    "written": (
        "Files that commands write",
        "A new file or folder in a format that the option names.",
    ),
}
# Which file an option or argument takes.
USES: dict[tuple[str, str], str] = {
    ("runs export", "file"): "written",
    ("models update-prices", "file"): "prices",
    ("data import welivita", "path"): "welivita",
    ("data import welivita", "demographics"): "platform",
    ("data import empatheticdialogues", "path"): "empatheticdialogues",
    ("data import posts", "path"): "posts",
    ("data import responses", "path"): "replies",
    ("data import ratings", "path"): "ratings",
    ("data import ratings", "raters"): "raters",
    ("data import study", "path"): "archive",
    ("lab backup", "file"): "backup",
    ("lab restore", "file"): "backup",
    ("data import emotionbench", "path"): "emotionbench",
    ("data import situations", "path"): "situations",
    ("data import sage", "path"): "sage",
    ("data import conversations", "path"): "conversations",
    ("data import recipients", "path"): "recipients",
    ("data import inspect", "path"): "inspect_log",
    ("tasks lm-eval", "folder"): "written",
    ("analyze recipients", "file"): "recipients",
    ("analyze recipients", "ratings"): "recipient-ratings",
    ("converse", "system_prompt"): "prompt",
    ("analyze conversations", "ratings"): "conversation-ratings",
    ("scales import", "path"): "wording",
    ("appraise", "template"): "template",
    ("study check", "file"): "study",
    ("study preview", "file"): "study",
    ("study preregister", "file"): "study",
    ("study new", "path"): "study",
    ("study add-arm", "file"): "study",
    ("study sync", "csv"): "platform",
    ("analyze style", "file"): "styled",
    ("analyze style", "dictionary"): "words",
    ("analyze style", "lists"): "words",
    ("analyze style", "tactics"): "tactics",
    ("analyze style", "tactic_labels"): "tactic labels",
    ("analyze agreement", "file"): "long",
    ("analyze ratings", "file"): "long",
    ("analyze judges", "file"): "judged",
    ("stats clmm", "file"): "long",
    ("stats lmm", "file"): "long",
    ("stats anova", "file"): "long",
    ("stats chi2", "file"): "long",
    ("stats preferences", "file"): "comparisons",
}
# Options that mean the same in every command.
EVERYWHERE = {"prices": "prices"}
WRITES = {
    "chart",
    "write",
    "junit",
    "archive",
    "approvals",
    "csv",
    "figures",
    "folder",
    "html",
    "out",
    "tables",
    "to",
    "transcripts",
    "write_lists",
}
_NOT_FILES = {"lab"}


def page() -> str:
    """The whole page."""
    taken: dict[str, list[str]] = {}
    for command, parameter, shown in _files():
        taken.setdefault(_format_of(command, parameter), []).append(shown)
    parts = [HEAD]
    for anchor, (heading, words) in SECTIONS.items():
        parts.append(f"\n## {heading}\n\n{words.format(**_columns())}\n")
        if anchor in taken:
            parts.append("\nTaken by: " + ", ".join(taken[anchor]) + ".\n")
        elif anchor != "written":
            raise Undocumented(f"no command takes the format {anchor!r}")
    return "".join(parts).replace("Taken by: ", "For: ")


def _files() -> Iterable[tuple[str, str, str]]:
    """Command, parameter and how it is written, of everything that takes a path."""
    for path, command in walk():
        name = path.removeprefix("empathylab ")
        for param in command.params:
            if param.name not in _NOT_FILES and _is_path(param.type_descriptor.annotation):
                flag = param.opts[0] if param.param_type_name == "option" else param.name.upper()
                yield name, param.name, f"`{name} {flag}`"


def _is_path(annotation: Any) -> bool:
    return annotation is Path or any(_is_path(part) for part in get_args(annotation))


def _format_of(command: str, parameter: str) -> str:
    found = USES.get((command, parameter)) or EVERYWHERE.get(parameter)
    if found is None and (parameter in WRITES or command == "study approvals"):
        found = "written"
    if found is None:
        raise Undocumented(
            f"`{command}` takes the file {parameter!r}; say in scripts/reference/formats.py which "
            "format it has"
        )
    return found


def _columns() -> dict[str, str]:
    posts = [
        f"| {what} | {', '.join(f'`{name}`' for name in names)} |"
        for what, names in reply_tables._POST_COLUMNS.items()
    ]
    from empathylab.scales import wording

    said = (inspect.getdoc(wording) or "").partition("\n\n")[2]
    return {
        "situation": _named(Situation, without=("context",)),
        "posts": "\n".join(["| | column |", "| --- | --- |", *posts]),
        "replies": ", ".join(f"`{name}`" for name in reply_tables.SITUATION_COLUMNS),
        "template": _named(AppraisalTemplate),
        "reply_template": _named(ReplyTemplate),
        "tactic": _named(Tactic),
        "wording": said,
        "scale": ", ".join(f"`{name}`" for name in Scale.model_fields),
    }


def _named(kind: type, without: tuple[str, ...] = ()) -> str:
    names = [field.name for field in dataclasses.fields(kind) if field.name not in without]
    return ", ".join(f"`{name}`" for name in names)
