"""`empathylab tasks`: the protocols as tasks of other evaluation tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.tables import print_json

if TYPE_CHECKING:
    from empathylab.protocols import Appraisal, Responding
    from empathylab.store import Lab

EXAMPLE = "Example: `empathylab tasks lm-eval tasks --situations 2`"

app = typer.Typer(
    no_args_is_help=True,
    help="Writes the protocols as tasks for other evaluation tools.",
    epilog=EXAMPLE,
)


@app.command("lm-eval", epilog=EXAMPLE)
def lm_eval(
    folder: Annotated[Path, argument("A new folder.")],
    situation_set: Annotated[
        str, option("The set of situations to reply to.", "--set")
    ] = "dialogues",
    template: Annotated[
        str | None, option("The template of the replies' prompts.", metavar="NAME|FILE.toml")
    ] = None,
    scale: Annotated[str, option("The scale to administer.")] = "panas",
    appraisal_set: Annotated[
        str, option("The situations after which it is administered.")
    ] = "appraisal",
    situations: Annotated[int, option("Situations per emotion, 0 for all.", min=0)] = 0,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Writes `appraise` and `respond` as tasks for lm-evaluation-harness.

    The folder contains YAML files, documents with the exact prompts, and scoring with EmpathyLab's
    checks and parser. Run the tasks with `lm_eval --include_path FOLDER --apply_chat_template`.
    """
    import tempfile

    from empathylab.export.lm_eval import write_tasks
    from empathylab.store import Lab, has_lab

    chosen = (situation_set, template, scale, appraisal_set, situations)
    with tempfile.TemporaryDirectory(prefix="empathylab-") as place:
        # Without a lab there are the built-in sets and scales.
        with Lab.open(lab if has_lab(lab) else Path(place)) as opened:
            responding, appraisal = _planned(opened, *chosen)
    done = write_tasks(folder, responding, appraisal)
    if json:
        print_json(done._asdict())
        return
    typer.echo(done.path)
    for name, count in done.documents.items():
        typer.echo(f"{name}: {count} documents")
    if done.left_out:
        typer.echo(
            f"{done.left_out} situations have earlier turns and were left out: a task of the "
            "harness shows one turn.",
            err=True,
        )


def _planned(
    lab: Lab,
    situation_set: str,
    template: str | None,
    scale: str,
    appraisal_set: str,
    situations: int,
) -> tuple[Responding, Appraisal]:
    from empathylab.protocols import Appraisal, Responding, reply_template, usual_template
    from empathylab.store import lab_scale, lab_situation_set

    replied = lab_situation_set(lab, situation_set)
    appraised = lab_situation_set(lab, appraisal_set)
    responding = Responding(
        situation_set=replied,
        situations=replied.first_per_group(situations) if situations else replied.situations,
        template=usual_template(replied) if template is None else reply_template(template),
    )
    appraisal = Appraisal(
        scale=lab_scale(lab, scale),
        situation_set=appraised,
        situations=appraised.first_per_group(situations) if situations else appraised.situations,
        mode="free",
    )
    return responding, appraisal
