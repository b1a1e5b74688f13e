"""`empathylab scales`: the questionnaires there are."""

from __future__ import annotations

from typing import Annotated

import typer

from empathylab.cli.options import JsonOption

app = typer.Typer(no_args_is_help=True, help="The questionnaires there are.")


@app.command("list", epilog="Example: `empathylab scales list`")
def list_scales(json: JsonOption = False) -> None:
    """Lists the scales, and which of them come with their wording."""
    from empathylab.cli.tables import print_rows
    from empathylab.scales import builtin_scales

    rows = [
        {
            "scale": one.id,
            "version": one.version,
            "name": one.name,
            "items": one.items,
            "range": f"{one.minimum}–{one.maximum}",
            "emotion": one.emotion,
            "wording": one.words is not None,
        }
        for one in builtin_scales().values()
    ]
    print_rows(rows, "scales", as_json=json)


@app.command("show", epilog="Example: `empathylab scales show panas`")
def show(
    name: Annotated[str, typer.Argument(help="The scale's id.")],
    json: JsonOption = False,
) -> None:
    """Shows a scale: its range, items, subscales, rule and source."""
    import json as encoder

    from empathylab.scales import builtin_scale, describe_range, scale_to_dict

    scale = builtin_scale(name)
    if json:
        typer.echo(encoder.dumps(scale_to_dict(scale), indent=2, ensure_ascii=False))
        return
    typer.echo(f"{scale.name} ({scale.id}, version {scale.version})")
    typer.echo(f"{scale.citation}\nLicence: {scale.licence}")
    typer.echo(f"{scale.items} items; {describe_range(scale)}; score: {scale.rule}")
    if scale.reversed:
        typer.echo(f"Reversed: {', '.join(map(str, sorted(scale.reversed)))}")
    for part in scale.subscales:
        typer.echo(f"{part.name}: {', '.join(map(str, part.items))}")
    if scale.words is None:
        typer.echo("The wording is under its authors' rights and does not ship.")
    for number, words in enumerate(scale.words or (), start=1):
        typer.echo(f"{number:3}. {words}")
