"""`empathylab data`: the situations there are."""

from __future__ import annotations

from typing import Annotated

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption

app = typer.Typer(no_args_is_help=True, help="The situations there are, built in and in the lab.")


@app.command("list", epilog="Example: `empathylab data list`")
def list_sets(lab: LabOption = DEFAULT_LAB, json: JsonOption = False) -> None:
    """Lists the sets of situations: built in, and used in the lab."""
    from empathylab.situations import builtin_sets
    from empathylab.store import Lab, has_lab, situation_sets_frame

    used = set()
    if has_lab(lab):
        with Lab.open(lab, create=False) as opened:
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
        for one in builtin_sets().values()
    ]
    from empathylab.cli.tables import print_rows

    print_rows(rows, "sets", as_json=json)


@app.command("show", epilog="Example: `empathylab data show appraisal --emotion guilt`")
def show(
    name: Annotated[str, typer.Argument(help="The set's id.")],
    emotion: Annotated[str | None, typer.Option(help="Only this emotion.")] = None,
    json: JsonOption = False,
) -> None:
    """Shows a set's situations."""
    import dataclasses

    from empathylab.errors import UnknownName
    from empathylab.situations import builtin_set

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
