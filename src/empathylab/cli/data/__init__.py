"""`empathylab data`: the situations there are, and what was replied and rated."""

from __future__ import annotations

import contextlib
import dataclasses
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.cli.data import imports, match, sample, show, stimuli
from empathylab.cli.options import (
    DEFAULT_LAB,
    JsonOption,
    LabOption,
    add_commands,
    argument,
    option,
)
from empathylab.cli.tables import print_json, print_rows

if TYPE_CHECKING:
    from empathylab.situations import SituationSet
    from empathylab.store import Lab

app = typer.Typer(
    epilog="Example: `empathylab data list`",
    no_args_is_help=True,
    help="Lists, shows and imports situations, replies, ratings and studies.",
)
app.add_typer(imports.app, name="import")


@app.command("list", epilog="Example: `empathylab data list`")
def list_sets(lab: LabOption = DEFAULT_LAB, json: JsonOption = False) -> None:
    """Lists the sets of situations, built in and in the lab, with their replies and ratings."""
    from empathylab.situations import builtin_sets
    from empathylab.store import Lab, has_lab
    from empathylab.store.queries import situation_sets_frame
    from empathylab.store.situations import lab_situation_sets

    with contextlib.ExitStack() as stack:
        sets, used, parts = builtin_sets(), set(), {}
        if has_lab(lab):
            opened = stack.enter_context(Lab.open(lab, create=False))
            sets = lab_situation_sets(opened)
            used = set(situation_sets_frame(opened)["set"])
            parts = {name: partial(read, opened) for name, read in _PARTS.items()}
        rows = [_set_row(each_set, used) for each_set in sets.values()]
        if json:
            counted = {name: parts[name]() if name in parts else [] for name in _PARTS}
            print_json({"sets": rows, **counted})
            return
        # Each part is printed before the next is counted, which takes seconds in a large lab.
        print_rows(rows)
        for name, count in parts.items():
            if part := count():
                typer.echo(f"\n{name.capitalize()}")
                print_rows(part)


def _set_row(each_set: SituationSet, used: set[str]) -> dict[str, Any]:
    return {
        "set": each_set.id,
        "version": each_set.version,
        "title": each_set.title,
        "situations": len(each_set),
        "emotions": len(each_set.emotions),
        "topics": len(each_set.topics),
        "validated": each_set.validated,
        "licence": each_set.licence,
        "in_lab": each_set.id in used,
    }


def _drawn(lab: Lab) -> list[dict[str, Any]]:
    """The situations that were drawn from sets, by the draw's name."""
    from empathylab.store.selections import lab_selections

    return [
        {
            "draw": name,
            "from": selection.situation_set,
            "version": selection.version,
            "situations": len(selection.situations),
        }
        for name, selection in lab_selections(lab).items()
    ]


def _replied(lab: Lab) -> list[dict[str, Any]]:
    """How many replies each respondent gave to each set."""
    from empathylab.store.listings.summaries import replies_by_set

    return replies_by_set(lab).to_dicts()


def _rated(lab: Lab) -> list[dict[str, Any]]:
    """The studies, with their arms, raters and ratings."""
    from empathylab.store.listings.summaries import rating_counts
    from empathylab.store.ratings import lab_studies

    return [
        {
            "study": name,
            "title": study.title,
            "design": study.design,
            **dataclasses.asdict(rating_counts(lab, name)),
        }
        for name, study in lab_studies(lab).items()
    ]


_PARTS = {"draws": _drawn, "responses": _replied, "studies": _rated}

add_commands(app, show, sample, match, stimuli)


@app.command("fetch", epilog="Example: `empathylab data fetch emotionbench`")
def fetch(
    name: Annotated[
        Literal["emotionbench", "empatheticdialogues"],
        argument("Which published data."),
    ],
    base_url: Annotated[str | None, option("A mirror with the same files.", metavar="URL")] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Downloads published files from their public address and imports them.

    Every file is checked against its hash. The files stay in the lab's folder `sources`; read their
    licence before you share them.
    """
    from empathylab.cli.data.imports.rated_responses import store_dialogues
    from empathylab.cli.data.imports.situations import print_imported
    from empathylab.situations.sources import fetching
    from empathylab.store import Lab
    from empathylab.store.imports.emotionbench import import_emotionbench

    def on_download(file: str) -> None:
        typer.echo(f"Downloading {file}", err=True)

    with Lab.open(lab) as opened:
        folder = opened.folder / "sources" / name
        if name == "emotionbench":
            url = base_url or fetching.EMOTIONBENCH_URL
            fetching.fetch_files(fetching.EMOTIONBENCH_FILES, url, folder, on_download=on_download)
            print_imported(import_emotionbench(opened, folder), as_json=json)
            return
    [archive] = fetching.fetch_files(
        fetching.EMPATHETICDIALOGUES_FILES,
        base_url or fetching.EMPATHETICDIALOGUES_URL,
        folder,
        on_download=on_download,
        by_hand="empathylab data import empatheticdialogues FILE",
    )
    store_dialogues(lab, archive, as_json=json)
