"""`empathylab data`: the situations there are."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from empathylab.cli import data_import
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption

app = typer.Typer(
    epilog="Example: `empathylab data list`",
    no_args_is_help=True,
    help="The situations there are, built in and in the lab.",
)
app.add_typer(data_import.app, name="import")


@app.command("list", epilog="Example: `empathylab data list`")
def list_sets(lab: LabOption = DEFAULT_LAB, json: JsonOption = False) -> None:
    """Lists the sets of situations: built in, and in the lab."""
    from empathylab.situations import builtin_sets
    from empathylab.store import Lab, has_lab, situation_sets_frame
    from empathylab.store.lab_situations import lab_situation_sets

    sets, used = builtin_sets(), set()
    if has_lab(lab):
        with Lab.open(lab, create=False) as opened:
            sets = lab_situation_sets(opened)
            used = set(situation_sets_frame(opened)["set"])
    rows = [
        {
            "set": one.id,
            "version": one.version,
            "title": one.title,
            "situations": len(one),
            "emotions": len(one.emotions),
            "validated": one.validated,
            "licence": one.licence,
            "in_lab": one.id in used,
        }
        for one in sets.values()
    ]
    from empathylab.cli.tables import print_rows

    print_rows(rows, "sets", as_json=json)


@app.command("show", epilog="Example: `empathylab data show appraisal --emotion guilt`")
def show(
    name: Annotated[str, typer.Argument(help="The set's id.")],
    emotion: Annotated[str | None, typer.Option(help="Only this emotion.")] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Shows a set's situations."""
    import dataclasses

    from empathylab.errors import UnknownName
    from empathylab.situations import builtin_set
    from empathylab.store import Lab, has_lab
    from empathylab.store.lab_situations import lab_situation_set

    if has_lab(lab):
        with Lab.open(lab, create=False) as opened:
            chosen = lab_situation_set(opened, name)
    else:
        chosen = builtin_set(name)
    if emotion is not None and emotion not in chosen.emotions:
        raise UnknownName("emotion", emotion, chosen.emotions, where=f"situation set {name}")
    picked = [one for one in chosen if emotion in (None, one.emotion)]
    if json:
        import json as encoder

        rows = [dataclasses.asdict(one) for one in picked]
        typer.echo(encoder.dumps({"set": name, "situations": rows}, indent=2, ensure_ascii=False))
        return
    typer.echo(f"{chosen.title} (version {chosen.version}, {chosen.licence})\n{chosen.description}")
    for one in picked:
        label = one.emotion + (f", {one.factor}" if one.factor else "")
        typer.echo(f"\n{one.id} ({label})\n  {one.text}")
        if one.utterance:
            typer.echo(f"  says: {one.utterance}")
        if one.counterpart:
            typer.echo(f"  had it gone well: {one.counterpart}")


@app.command("fetch", epilog="Example: `empathylab data fetch emotionbench`")
def fetch(
    name: Annotated[Literal["emotionbench"], typer.Argument(help="Which published data.")],
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="A mirror of the pinned commit's files.")
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Downloads published files from their public repository and imports them.

    The commit is pinned and every file is checked against its hash. The files stay in the lab's
    folder `sources`; read their licence before you pass them on.
    """
    from empathylab.cli.data_import import print_imported
    from empathylab.situations.fetching import EMOTIONBENCH_FILES, EMOTIONBENCH_URL, fetch_files
    from empathylab.store import Lab
    from empathylab.store.emotionbench import import_emotionbench

    with Lab.open(lab) as opened:
        folder = opened.folder / "sources" / name
        fetch_files(
            EMOTIONBENCH_FILES,
            base_url or EMOTIONBENCH_URL,
            folder,
            said=lambda file: typer.echo(f"Downloading {file}", err=True),
        )
        print_imported(import_emotionbench(opened, folder), as_json=json)
