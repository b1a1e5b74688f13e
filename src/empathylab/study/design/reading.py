"""Studies read from YAML files or from the lab, checked, with file and line in every error.

A study's file has these keys (those with * may be left out):

    name, version      lower-case letters, digits and hyphens; a whole number from 1
    title              what people read above every page
    languages          such as [en] or [en, de]; with several, each text is a table by language
    seed               decides every draw
    design *           between (default) or within subjects
    arms *             where responses are rated: name of the arm = respondent, or a table with
                       respondent and prompt
    situations         set or selection; then count, per_emotion, per_topic, per_factor (a number,
                       or a table of numbers), valence
    responses *        sample: which of several replies
    dimensions *       what is rated: each with name, question, labels, and maybe values, direction
    batch_size *       situations in one rater's packet
    ratings_per_response *, people_per_situation *
    replies_per_situation *   within subjects: all or one
    quotas *           each with by, counts or shares, and maybe others, source
    time_limits *      abandon_after, finish_within: minutes
    exclusions *       rules, as `empathylab.stats.raters.exclusions` knows them
    recruitment        platform, once, codes (by outcome), return_url
    retention *        platform_ids, comments: days after closing
    content_note *, help *, contact *
    interface *        by language, words in place of those that the pages say of themselves, in the
                       shape of `web/interface/en.yaml`
    blocks             in order, each with block (its kind), maybe id and title, and what its kind
                       needs; consent comes first and debrief last
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast, get_args

from empathylab.errors import InputError, UserError
from empathylab.files import read_text
from empathylab.study.blocks.types import Imagine, Rate, Write
from empathylab.study.design.block_reading import Languages, choice, flag, identifier, read_blocks
from empathylab.study.design.consistency import check_consistency
from empathylab.study.design.definition import (
    EVERYONE,
    Arm,
    Design,
    Dimension,
    Outcome,
    Platform,
    Quota,
    Recruitment,
    Retention,
    Situations,
    Study,
    TimeLimits,
)
from empathylab.study.design.entries import Entry, Table, entries_from_plain, entries_from_yaml
from empathylab.study.design.interface_texts import read_interface

_REQUIRED = (
    "name",
    "version",
    "title",
    "languages",
    "seed",
    "blocks",
    "situations",
    "recruitment",
)
_OPTIONAL = (
    "design",
    "arms",
    "responses",
    "dimensions",
    "batch_size",
    "ratings_per_response",
    "people_per_situation",
    "replies_per_situation",
    "quotas",
    "time_limits",
    "exclusions",
    "retention",
    "content_note",
    "help",
    "contact",
    "interface",
)
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_ARM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,59}")
_CODE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_GROUPS = ("emotion", "topic", "factor")


def read_study(path: str | Path) -> Study:
    """The study in a YAML file, checked."""
    path = Path(path)
    return parse_study(read_text(path), file=path.name)


def parse_study(text: str, *, file: str = "study") -> Study:
    """The study written in a YAML text, checked; `file` names the text in errors."""
    return _study(entries_from_yaml(text, file=file))


def study_from_dict(data: Mapping[str, object], *, where: str = "study") -> Study:
    """The study that `to_dict` wrote, checked as if it came from a file."""
    return _study(entries_from_plain(data, file=where))


def _study(entry: Entry) -> Study:
    table = entry.table(_REQUIRED, _OPTIONAL)
    languages = Languages(_languages(table["languages"]))
    blocks = read_blocks(table["blocks"], languages)
    rated = any(isinstance(one, Rate) for one in blocks)
    batch_size = table.get("batch_size")
    responses = table.get("responses")
    sample = responses.table(optional=("sample",)).get("sample") if responses else None
    study = Study(
        name=identifier(table["name"]),
        version=table["version"].whole(1),
        title=languages.text(table["title"]),
        languages=languages.languages,
        design=cast("Design", choice(table, "design", "design", get_args(Design), "between")),
        seed=table["seed"].whole(0, 2**63 - 1),
        blocks=blocks,
        situations=_situations(table["situations"]),
        recruitment=_recruitment(table["recruitment"]),
        arms=_arms(table),
        sample=sample.whole(0) if sample else 0,
        dimensions=_dimensions(table, languages),
        batch_size=batch_size.whole(1, 200) if batch_size else (10 if rated else 1),
        repeats=_repeats(table, rated=rated),
        replies_per_situation=choice(
            table, "replies_per_situation", "way to show replies", ("one", "all"), "all"
        ),
        quotas=_quotas(table),
        time_limits=_time_limits(table),
        exclusions=_exclusions(table),
        retention=_retention(table),
        content_note=languages.optional(table, "content_note"),
        help=languages.optional(table, "help"),
        contact=languages.optional(table, "contact"),
        interface=read_interface(table, languages.languages),
    )
    if not any(isinstance(one, Rate | Imagine | Write) for one in blocks):
        raise table.wrong("blocks", "a list with work in it: a block rate, imagine or write")
    check_consistency(study, table)
    return study


def _languages(entry: Entry) -> list[str]:
    found = []
    for one in entry.entries("a list of languages, such as [en]"):
        name = one.text()
        if not _LANGUAGE.fullmatch(name) or name in found:
            raise one.wrong("a language such as en, de or pt-BR, each once")
        found.append(name)
    return found


def _arms(table: Table) -> dict[str, Arm]:
    entry = table.get("arms")
    if entry is None:
        return {}
    arms = {}
    for name, one in entry.pairs("a table from each arm's name to its respondent").items():
        if not _ARM.fullmatch(name) or name == EVERYONE:
            raise InputError(
                "an arm's name must be letters, digits, dots and hyphens, 60 at most, and not "
                f"{EVERYONE!r}",
                where=one.where,
                got=name,
                remedy="Rename the arm; the respondent's name goes behind the colon.",
            )
        if isinstance(one.value, dict):
            fields = one.table(("respondent",), ("prompt",))
            prompt = fields.get("prompt")
            arms[name] = Arm(fields["respondent"].text(), prompt.text() if prompt else None)
        else:
            arms[name] = Arm(one.text())
    return arms


def _situations(entry: Entry) -> Situations:
    per = tuple(f"per_{group}" for group in _GROUPS)
    table = entry.table(optional=("set", "selection", "count", "valence", *per))
    if ("set" in table) == ("selection" in table):
        raise entry.wrong("given as a set or as a selection", "Name one of the two.")
    grouped = [one for one in per if table.get(one)]
    if len(grouped) > 1:
        raise table.wrong(grouped[1], f"left out where there is {grouped[0]!r}", "Keep one.")
    number, counts = None, {}
    if grouped:
        of_group = table[grouped[0]]
        if isinstance(of_group.value, dict):
            listed = of_group.pairs("a number, or a table of numbers")
            counts = {name: one.whole(1) for name, one in listed.items()}
        else:
            number = of_group.whole(1)
    valence = table.get("valence")
    return Situations(
        set=table["set"].text() if "set" in table else None,
        selection=table["selection"].text() if "selection" in table else None,
        count=table["count"].whole(1) if table.get("count") else None,
        group=grouped[0].removeprefix("per_") if grouped else None,  # type: ignore[arg-type]
        per_group=number,
        counts=counts,
        valence=valence.choice("valence", ("positive", "negative", "mixed")) if valence else None,  # type: ignore[arg-type]
    )


def _dimensions(table: Table, languages: Languages) -> tuple[Dimension, ...]:
    entry = table.get("dimensions")
    if entry is None:
        return ()
    found: list[Dimension] = []
    for one in entry.entries("a list of dimensions"):
        dimension = _dimension(one, languages)
        if dimension.name in [earlier.name for earlier in found]:
            raise InputError(
                f"two dimensions have the name {dimension.name!r}",
                where=one.where,
                remedy="Rename one of them.",
            )
        found.append(dimension)
    return tuple(found)


def _dimension(entry: Entry, languages: Languages) -> Dimension:
    table = entry.table(("name", "question", "labels"), ("values", "direction"))
    listed = table["labels"].entries("a list of two labels or more", least=2)
    labels = tuple(
        None if one.value is None or one.value == "" else languages.text(one) for one in listed
    )
    if labels[0] is None or labels[-1] is None:
        raise table["labels"].wrong(
            "labels of which the first and the last are not empty", "Say what the ends mean."
        )
    given = table.get("values")
    values = (
        tuple(one.whole() for one in given.entries("a list of whole numbers"))
        if given
        else tuple(range(1, len(labels) + 1))
    )
    if len(values) != len(labels) or list(values) != sorted(set(values)):
        raise table.wrong("values", f"{len(labels)} numbers in rising order, one for each label")
    return Dimension(
        identifier(table["name"]),
        languages.text(table["question"]),
        values,
        labels,
        choice(table, "direction", "direction", ("fixed", "random"), "fixed"),
    )


def _repeats(table: Table, *, rated: bool) -> int:
    key, other = "ratings_per_response", "people_per_situation"
    if not rated:
        key, other = other, key
    if table.get(other):
        raise table.wrong(
            other,
            "left out: the blocks "
            + ("rate responses" if rated else "ask for no ratings of responses"),
            f"Use {key}.",
        )
    entry = table.get(key)
    return entry.whole(1, 10_000) if entry else 1


def _quotas(table: Table) -> tuple[Quota, ...]:
    entry = table.get("quotas")
    if entry is None:
        return ()
    return tuple(_quota(one) for one in entry.entries("a list of quotas"))


def _quota(entry: Entry) -> Quota:
    table = entry.table(("by",), ("counts", "shares", "others", "source"))
    if (table.get("counts") is None) == (table.get("shares") is None):
        raise entry.wrong("given with counts or with shares", "Give one of the two.")
    counts, shares = table.get("counts"), table.get("shares")
    others = table.get("others")
    quota = Quota(
        by=table["by"].text(),
        counts={k: v.whole(0) for k, v in counts.pairs("a table of numbers").items()}
        if counts
        else {},
        shares={k: v.number(0, 1) for k, v in shares.pairs("a table of shares").items()}
        if shares
        else {},
        others=others.whole(0) if others else None,
        source=choice(table, "source", "source", ("demographics", "platform"), "demographics"),
    )
    if shares and sum(quota.shares.values()) > 1 + 1e-9:
        total = sum(quota.shares.values())
        raise shares.wrong("shares that add up to 1 at most", got=f"{total:g}")
    return quota


def _time_limits(table: Table) -> TimeLimits:
    entry = table.get("time_limits")
    if entry is None:
        return TimeLimits()
    limits = entry.table(("abandon_after",), ("finish_within",))
    abandon = limits["abandon_after"].whole(5, 60 * 24 * 60)
    finish = limits.get("finish_within")
    return TimeLimits(abandon, finish.whole(abandon) if finish else None)


def _recruitment(entry: Entry) -> Recruitment:
    table = entry.table(("platform",), ("once", "codes", "return_url"))
    platform = cast("Platform", table["platform"].choice("platform", get_args(Platform)))
    codes = _codes(table)
    if platform == "prolific" and "completed" not in codes:
        raise table.wrong(
            "codes",
            "given for Prolific, at least one for 'completed'",
            "Copy the completion codes from the study's page on Prolific.",
        )
    address = table.get("return_url")
    if address and not address.text().startswith("https://"):
        raise address.wrong("an address that begins with https://")
    return Recruitment(
        platform,
        flag(table, "once", default=True),
        codes,
        address.text() if address else None,
    )


def _codes(table: Table) -> dict[Outcome, str]:
    entry = table.get("codes")
    if entry is None:
        return {}
    codes: dict[Outcome, str] = {}
    known = entry.table(optional=get_args(Outcome))
    for outcome in get_args(Outcome):
        one = known.get(outcome)
        if one is None:
            continue
        code = one.text()
        if not _CODE.fullmatch(code):
            raise one.wrong("letters, digits, hyphens and underscores, 64 at most")
        if code in codes.values():
            raise one.wrong("another code than those before it", "Give each outcome its own.")
        codes[outcome] = code
    return codes


def _retention(table: Table) -> Retention:
    entry = table.get("retention")
    if entry is None:
        return Retention()
    days = entry.table((), ("platform_ids", "comments"))
    ids, comments = days.get("platform_ids"), days.get("comments")
    return Retention(
        ids.whole(0, 36_500) if ids else Retention().platform_ids,
        comments.whole(0, 36_500) if comments else None,
    )


def _exclusions(table: Table) -> tuple[Mapping[str, object], ...]:
    entry = table.get("exclusions")
    if entry is None:
        return ()
    from empathylab.stats.raters.exclusions import rules_from  # statistics load slowly

    found = []
    for one in entry.entries("a list of rules"):
        rule = one.plain()
        if not isinstance(rule, dict):
            raise one.wrong("a table that begins with the key 'rule'")
        try:
            rules_from([rule])
        except UserError as error:
            message = str(error).rstrip(".")
            raise InputError(message, where=one.where, remedy="Correct the rule.") from None
        except TypeError:
            raise one.wrong("a rule whose settings are numbers", got=rule) from None
        found.append(rule)
    return tuple(found)
