"""`empathylab study preregister`: the plan of a study, written down before the data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.tables import print_json
from empathylab.errors import InputError
from empathylab.files import write_new

if TYPE_CHECKING:
    from empathylab.store import Lab
    from empathylab.study import Study

EXAMPLE = "Example: `empathylab study preregister my-study.yaml`"
ENDING = ".preregistration"


def preregister(
    file: Annotated[Path, argument("The study's YAML file.", metavar="FILE")],
    icc: Annotated[
        float, option("Intraclass correlation of one rater's ratings, 0 to 1.", min=0, max=1)
    ] = 0.1,
    power: Annotated[
        float, option("The power to compare the sample size with.", min=0.5, max=0.999)
    ] = 0.95,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Writes AsPredicted's eight answers (Markdown) and an OSF JSON beside the study's file.

    Read them, complete them, and submit them yourself. The launch stores their date and hash with
    the study, and the analysis lists every deviation. Files are never overwritten.
    """
    import contextlib
    import json as encoder

    from empathylab.analysis.preregistration.answers import as_markdown, preregistration
    from empathylab.cli.study.files import checked_file
    from empathylab.store import Lab, has_lab
    from empathylab.store.inserts import now

    checked = checked_file(file, lab)
    if not checked.plan.raters:
        raise InputError(
            "the plan cannot be written: " + " ".join(checked.plan.problems).removesuffix("."),
            where=file.name,
            remedy="Run `empathylab study check FILE`.",
        )
    with Lab.open(lab, create=False) if has_lab(lab) else contextlib.nullcontext() as opened:
        launched = opened is not None and _is_launched(opened, checked.study)
        document = preregistration(checked, now=now(), launched=launched, icc=icc, power=power)
        answers, osf = (file.with_suffix(ENDING + ending) for ending in (".md", ".json"))
        write_new(osf, encoder.dumps(document, ensure_ascii=False, indent=2) + "\n")
        write_new(answers, as_markdown(document))
        if opened is not None and launched:
            record_beside(opened, checked.study, file)
    if json:
        files = {"markdown": str(answers), "osf": str(osf)}
        print_json(files | {"hash": document["hash"], "recorded": launched})
        return
    typer.echo(answers)
    typer.echo(osf)
    typer.echo(
        "Complete and submit it yourself: nothing was sent. "
        + ("It is recorded with the study." if launched else "`study serve FILE` records it."),
        err=True,
    )


def record_beside(lab: Lab, study: Study, file: Path) -> bool:
    """Whether a preregistration beside the study's file was recorded with the study now."""
    import json as encoder

    from empathylab.analysis.preregistration.record import content_hash, record
    from empathylab.store.inserts import now
    from empathylab.store.studies.records import find_study

    path = file.with_suffix(f"{ENDING}.json")
    if not path.is_file():
        return False
    try:
        document = encoder.loads(path.read_text(encoding="utf-8"))
        content = {name: value for name, value in document.items() if name != "hash"}
        whole = content_hash(content) == document["hash"] and "plan" in content
    except (ValueError, KeyError, AttributeError):
        whole = False
    if not whole:
        raise InputError(
            "the preregistration has changed since it was written",
            where=path.name,
            remedy="Restore it, or delete it and run `empathylab study preregister FILE` again.",
        )
    with lab.writing() as connection:
        row = find_study(connection, study.name, study.version)
        return row is not None and record(connection, row.id, now(), operator(), document)


def _is_launched(lab: Lab, study: Study) -> bool:
    from empathylab.store.studies.records import find_study

    with lab.reading() as connection:
        return find_study(connection, study.name, study.version) is not None
