"""Studies read from YAML files or from the lab, checked, with file and line in every error.

`empathylab.study.design.definition` says which keys a file has and what each means; the blocks are
in `empathylab.study.blocks`, one module per type.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from empathylab.errors import UnknownName
from empathylab.file_models import placed_errors, validate
from empathylab.files import read_text
from empathylab.study.design.consistency import check_consistency
from empathylab.study.design.definition import Languages, Study
from empathylab.study.design.text_values import fill_texts
from empathylab.yaml_documents import Document, read_yaml

PRESETS = (
    "appraisal",
    "between-subjects",
    "chat",
    "norming",
    "peer",
    "recipient",
    "within-subjects",
)
"""The study files to begin with."""
_LANGUAGES: TypeAdapter[tuple[str, ...]] = TypeAdapter(Languages)


def preset_text(name: str) -> str:
    """The YAML text of a preset, comments and all, to be written into the user's folder."""
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    folder = files("empathylab.study") / "presets"
    return (folder / f"{name}.yaml").read_text(encoding="utf-8")


def read_study(path: str | Path) -> Study:
    """The study in a YAML file, checked."""
    path = Path(path)
    return parse_study(read_text(path), file=path.name)


def parse_study(text: str, *, file: str = "study") -> Study:
    """The study written in a YAML text, checked; `file` names the text in errors."""
    begin = "Begin with `empathylab study new --preset between-subjects`."
    document = read_yaml(text, file=file, what="study file", empty=begin)
    study = _study(document)
    with placed_errors(document):
        return fill_texts(study)


def study_from_dict(data: Mapping[str, object], *, where: str = "study") -> Study:
    """The study that `to_dict` wrote, checked as if it came from a file."""
    return _study(Document(data, where))


def _study(document: Document) -> Study:
    study = validate(Study, document, {"languages": _languages(document)})
    with placed_errors(document):
        check_consistency(study)
    return study


def _languages(document: Document) -> tuple[str, ...]:
    """What every text must be given in; none where the file does not say, which is an error."""
    try:
        return _LANGUAGES.validate_python(document.value(("languages",)))
    except ValidationError:
        return ()
