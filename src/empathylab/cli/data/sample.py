"""`empathylab data sample`: a balanced draw from a set, kept under a name."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option, panel
from empathylab.cli.tables import print_json, print_rows
from empathylab.errors import InputError

if TYPE_CHECKING:
    from empathylab.situations import SituationSet
    from empathylab.situations.sampling.draws import Draw
    from empathylab.situations.word_lists import WordList

EXAMPLE = (
    "Example: `empathylab data sample empatheticdialogues --count 2000 --name balanced "
    "--balance emotion --balance length`"
)
_rules_option = panel("Exclusions")


def _print_unsafe(wanted: bool) -> None:
    if wanted:
        from empathylab.situations.word_lists import unsafe_text

        typer.echo(unsafe_text(), nl=False)
        raise typer.Exit


NameArgument = Annotated[str, argument("The set to sample from.", metavar="SET")]


def sample(
    name: NameArgument,
    count: Annotated[int, option("How many situations.", min=1)],
    selection: Annotated[str, option("A name for the sample, for --set.", "--name")],
    seed: Annotated[int, option("The same seed gives the same sample on every machine.")] = 1,
    balance: Annotated[
        list[str] | None,
        option(
            "emotion, valence, topic, factor, length, or none; repeatable, most important first. "
            "Default: emotion, or topic in a set of posts.",
            metavar="WHAT",
        ),
    ] = None,
    bands: Annotated[
        str, option("Length bands: how many, or their upper bounds in words.", metavar="N|A,B,…")
    ] = "3",
    min_words: Annotated[int, _rules_option("Minimum number of words.", min=0)] = 5,
    max_words: Annotated[int | None, _rules_option("Maximum number of words.", min=1)] = None,
    openings: Annotated[
        bool,
        _rules_option(
            "Leave out situations in which the second speaker is already involved.",
            "--openings/--answers-too",
        ),
    ] = True,
    unsafe: Annotated[
        str | None,
        _rules_option("Your own word list for unsafe content, or none.", metavar="FILE|none"),
    ] = None,
    duplicates: Annotated[
        Literal["near", "exact", "keep"], _rules_option("Which duplicates to leave out.")
    ] = "near",
    similarity: Annotated[
        float,
        _rules_option(
            "Texts with at least this Jaccard index of word pairs count as near duplicates."
        ),
    ] = 0.7,
    replied: Annotated[
        bool, _rules_option("Leave out situations without a human reply.", "--replied")
    ] = False,
    print_unsafe: Annotated[
        bool,
        option(
            "Print the built-in word list, to copy and edit.",
            "--print-unsafe",
            callback=_print_unsafe,
            is_eager=True,
        ),
    ] = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Samples situations from a set, balanced and seeded, and stores the sample under a name.

    Prints a paragraph for a paper's methods section. You can use the name like a set.
    """
    from empathylab.situations import builtin_set
    from empathylab.situations.sampling.draws import draw
    from empathylab.situations.sampling.exclusions import Rules
    from empathylab.store import Lab, has_lab, lab_situation_set
    from empathylab.store.selections import save_draw, situations_with_human_responses

    if not has_lab(lab):
        builtin_set(name)  # an unknown name must not leave a new lab behind

    rules = Rules(
        min_words=min_words,
        max_words=max_words,
        opening=openings,
        unsafe=_word_list(unsafe),
        duplicates=duplicates,
        similarity=similarity,
        replied=replied,
    )
    with Lab.open(lab) as opened:
        chosen = lab_situation_set(opened, name)
        drawing = draw(
            chosen,
            count,
            seed=seed,
            balance=_balances(balance, chosen),
            bands=_bands(bands),
            rules=rules,
            replied=situations_with_human_responses(opened, name) if replied else None,
        )
        change = save_draw(opened, selection, chosen, drawing)
    (_print_json if json else _print_draw)(selection, change, drawing)


def _balances(given: list[str] | None, chosen: SituationSet) -> list[str]:
    if given is None:
        return [chosen.grouped_by]
    return [item for item in given if item != "none"]


def _word_list(given: str | None) -> WordList:
    from empathylab.situations.word_lists import WordList, read_word_list, unsafe_words

    if given is None:
        return unsafe_words()
    return WordList(()) if given == "none" else read_word_list(Path(given))


def _bands(given: str) -> int | list[int]:
    parts = [part.strip() for part in given.split(",")]
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise InputError(
            "this must be a number of bands, or their upper bounds",
            where="--bands",
            got=given,
            remedy="Give --bands 3, or --bands 10,20,40.",
        )
    return int(parts[0]) if len(parts) == 1 else [int(part) for part in parts]


def _print_json(name: str, change: str, drawing: Draw) -> None:
    from empathylab.situations.sampling.methods import methods_paragraph

    document: dict[str, Any] = {
        "selection": name,
        "change": change,
        "paragraph": methods_paragraph(drawing),
        **dataclasses.asdict(drawing),
    }
    print_json(document)


def _print_draw(name: str, change: str, drawing: Draw) -> None:
    from empathylab.situations.sampling.methods import methods_paragraph

    typer.echo(f"{name}: {change}, {len(drawing.situations):,} situations\n")
    typer.echo(methods_paragraph(drawing))
    for balance, counts in drawing.counts.items():
        typer.echo("")
        rows = [
            {balance: value, "drawn": drawn, "available": drawing.supply[balance][value]}
            for value, drawn in counts.items()
        ]
        print_rows(rows)
    typer.echo(f"\nUse it: empathylab respond MODEL --set {name}", err=True)
