"""`empathylab scales`: the questionnaires there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument
from empathylab.cli.tables import print_json, show_rows
from empathylab.errors import UnknownName

if TYPE_CHECKING:
    from empathylab.scales import Scale

app = typer.Typer(
    epilog="Example: `empathylab scales list`",
    no_args_is_help=True,
    help="Lists, shows and imports questionnaires.",
)


@app.command("list", epilog="Example: `empathylab scales list`")
def list_scales(lab: LabOption = DEFAULT_LAB, json: JsonOption = False) -> None:
    """Lists the scales, built in and in the lab, and which of them have their wording."""

    rows = [
        {
            "scale": scale.id,
            "version": scale.version,
            "name": scale.name,
            "items": scale.items,
            "range": f"{scale.minimum}–{scale.maximum}",
            "emotion": scale.emotion,
            "wording": scale.words is not None,
        }
        for scale in _scales(lab).values()
    ]
    show_rows(rows, "scales", as_json=json)


@app.command("show", epilog="Example: `empathylab scales show panas`")
def show(
    name: Annotated[str, argument("The scale's ID.")],
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Shows a scale: its range, items, subscales, rule and source."""
    from empathylab.scales import describe_range, find_scale, scale_to_dict

    known = _scales(lab)
    scale = find_scale(name, known.values())
    if scale is None:
        raise UnknownName("scale", name, known)
    if json:
        print_json(scale_to_dict(scale))
        return
    typer.echo(f"{scale.name} ({scale.id}, version {scale.version})")
    typer.echo(f"{scale.citation}\nLicence: {scale.licence}")
    typer.echo(f"{scale.items} items; {describe_range(scale)}; score: {scale.rule}")
    if scale.reversed:
        typer.echo(f"Reversed: {', '.join(map(str, sorted(scale.reversed)))}")
    for part in scale.subscales:
        typer.echo(f"{part.name}: {', '.join(map(str, part.items))}")
    if scale.words is None:
        typer.echo("The wording is copyrighted by its authors and does not ship.")
    for number, words in enumerate(scale.words or (), start=1):
        typer.echo(f"{number:3}. {words}")


@app.command("import", epilog="Example: `empathylab scales import questionnaires.json`")
def import_file(
    path: Annotated[
        Path,
        argument(
            "Wording: EmotionBench's questionnaires.json, a small JSON (name, items) or a CSV "
            "(scale, item, text). Or your own scale: TOML or JSON."
        ),
    ],
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports the wording of scales, or your own scale."""
    from empathylab.store import Lab
    from empathylab.store.scales import import_scales

    with Lab.open(lab) as opened:
        done = import_scales(opened, path)
    rows = [
        {
            "scale": item.scale.id,
            "version": item.scale.version,
            "name": item.scale.name,
            "items": item.scale.items,
            "wording": item.scale.words is not None,
            "change": item.change,
        }
        for item in done
    ]
    show_rows(rows, "scales", as_json=json)


def _scales(lab: Path) -> dict[str, Scale]:
    """The lab's scales where there is a lab, else those that ship and those of plugins."""
    from empathylab.scales import known_scales
    from empathylab.store import Lab, has_lab
    from empathylab.store.scales import lab_scales

    if not has_lab(lab):
        return known_scales()
    with Lab.open(lab, create=False) as opened:
        return lab_scales(opened)
