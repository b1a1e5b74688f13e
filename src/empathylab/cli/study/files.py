"""`empathylab study new` and `check`: a study file, before the launch."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.tables import print_json, print_rows
from empathylab.errors import UnknownName
from empathylab.files import write_new

if TYPE_CHECKING:
    from empathylab.study.design.checks import Checked

NEW_EXAMPLE = "Example: `empathylab study new my-study.yaml --preset within-subjects`"
CHECK_EXAMPLE = "Example: `empathylab study check my-study.yaml`"
_PAGE = ("number", "block", "page", "shows", "asks")
_UNFILLED = re.compile(r"\[\[(.+?)\]\]", re.DOTALL)


def new(
    path: Annotated[
        Path | None, argument("The file to write, or its folder. Default: named after the preset.")
    ] = None,
    preset: Annotated[
        Literal[
            "appraisal",
            "between-subjects",
            "chat",
            "norming",
            "peer",
            "recipient",
            "within-subjects",
        ],
        option(
            "What participants do: imagine a situation between two scales; rate replies of one "
            "respondent or of several; describe situations; describe an experience and get a "
            "reply; or have a conversation."
        ),
    ] = "between-subjects",
    json: JsonOption = False,
) -> None:
    """Writes a study file for you to fill in. Never overwrites a file.

    The file's name becomes the study's name.
    """
    from empathylab.study import preset_text

    file = _file(path, preset)
    text = preset_text(preset).replace(f"name: {preset}", f"name: {_study_name(file)}", 1)
    write_new(file, text)
    read = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    blanks = list(dict.fromkeys(" ".join(item.split()) for item in _UNFILLED.findall(read)))
    if json:
        summary = {
            "file": str(file),
            "preset": preset,
            "study": _study_name(file),
            "fill_in": blanks,
        }
        print_json(summary)
        return
    typer.echo(file)
    typer.echo(f"Fill in the text in [[double brackets]]: {'; '.join(blanks)}.", err=True)
    if preset.endswith("-subjects"):
        typer.echo("Name the arms: whose replies are rated.", err=True)
    typer.echo(f"Then: empathylab study check {file}", err=True)


def _file(path: Path | None, preset: str) -> Path:
    if path is None or path.is_dir():
        return (path or Path()) / f"{preset}.yaml"
    return path if path.suffix in (".yaml", ".yml") else path.with_name(f"{path.name}.yaml")


def _study_name(file: Path) -> str:
    """Lower-case letters, digits and hyphens, from the file's name."""
    name = re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-")
    return name if name[:1].isalpha() else f"study-{name}".rstrip("-")


def check(
    file: Annotated[Path, argument("The study's YAML file.", metavar="FILE")],
    language: Annotated[
        str | None, option("Show the pages in this language. Default: the first.")
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Shows what a rater will see, how many raters are needed, and what is still missing.

    Changes nothing. Exits with 2 if the study cannot be launched yet.
    """
    from empathylab.store import has_lab

    checked = checked_file(file, lab)
    study = checked.study
    if language is not None and language not in study.languages:
        raise UnknownName("language of the study", language, study.languages, where=file.name)
    if not has_lab(lab):
        typer.echo(f"There is no lab at {lab} yet, so only built-in texts are available.", err=True)
    if json:
        print_json(checked_row(checked))
    else:
        _print(checked, file, language or study.languages[0])
    if checked.plan.problems:
        typer.echo("The study cannot be launched yet:", err=True)
    for sentence in checked.plan.problems:
        typer.echo(f"{file.name}: {sentence}", err=True)
    if not checked.plan.ready:
        raise typer.Exit(2)


def checked_file(file: Path, lab: Path) -> Checked:
    """The study in the file, checked against the lab where there is one."""
    from empathylab.api.studies import check_study
    from empathylab.store import Lab, has_lab
    from empathylab.study import read_study

    study = read_study(file)
    if not has_lab(lab):
        return check_study(study, None)
    with Lab.open(lab, create=False) as opened:
        return check_study(study, opened)


def checked_row(checked: Checked) -> dict[str, Any]:
    """The plan and the pages as plain values."""
    study, plan = checked.study, checked.plan
    first = checked.previews.get(study.languages[0])
    return {
        "study": study.name,
        "version": study.version,
        "ready": plan.ready,
        "problems": list(plan.problems),
        "notes": list(plan.notes),
        "information": checked.information,
        "situations": plan.situations,
        "raters": plan.raters,
        "packet": list(plan.batch_sizes),
        "arms": [dataclasses.asdict(arm) for arm in plan.arms],
        "minutes": None if first is None else first.minutes,
        "questions": None if first is None else first.questions,
        "pages": {
            language: [
                {name: getattr(row, name) for name in (*_PAGE, "words", "seconds")}
                for row in preview.rows
            ]
            for language, preview in checked.previews.items()
        },
    }


def _print(checked: Checked, file: Path, language: str) -> None:
    study, plan = checked.study, checked.plan
    typer.echo(f"{study.title.in_language(language)} ({study.name}, version {study.version})\n")
    preview = checked.previews.get(language)
    if preview is not None:
        first, *others = _PAGE
        print_rows(
            [
                {"": getattr(row, first), **{name: getattr(row, name) for name in others}}
                for row in preview.rows
            ]
        )
        typer.echo(
            f"\nOne rater reads about {preview.words:,} words and answers {preview.questions} "
            f"questions, in about {preview.minutes:.0f} minutes."
        )
    if plan.raters:
        typer.echo(" ".join(plan.sentences))
    if checked.information:
        typer.echo(f"For the methods section: {checked.information}")
    for note in plan.notes:
        typer.echo(f"– {note}", err=True)
    if plan.ready:
        typer.echo(f"The study can be launched: empathylab study serve {file}", err=True)
