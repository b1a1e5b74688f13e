"""The demonstration study: situations, replies and questions that ship, ready to be opened."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from empathylab.errors import InputError
from empathylab.files import packaged_table
from empathylab.scales import Scale, scale_from_dict
from empathylab.situations import builtin_set
from empathylab.situations.sources.released import Release, Reply
from empathylab.store import Lab
from empathylab.store.imports.releases import content_hash, import_release
from empathylab.store.inserts import now
from empathylab.store.scales import save_scales
from empathylab.store.selections import save_selection
from empathylab.store.studies.records import find_study
from empathylab.study.admin.launching import launch
from empathylab.study.design.definition import Study
from empathylab.study.design.reading import parse_study

SOURCE = "demo-replies"
_SELECTION = "demo-situations-2"


@cache
def demo_release() -> Release:
    """The replies of all three manners of writing, with where they come from."""
    table = packaged_table(__name__, "replies.toml")
    origin = {key: table[key] for key in ("version", "licence", "validated")}
    # A language model drafted them, so they are a model's; no name of one stands on them.
    names = {manner: f"demo/{manner}" for manner in table["respondents"]}
    replies = tuple(
        Reply(
            situation=situation,
            respondent=names[manner],
            text=of_manners[manner],
            details={"source": SOURCE, **origin, "manner": described},
        )
        for situation, of_manners in table["replies"].items()
        for manner, described in table["respondents"].items()
    )
    return Release(
        situation_set=builtin_set(table["situation_set"]),
        respondents=dict.fromkeys(names.values(), "model"),
        replies=replies,
        notes=(table["description"],),
    )


def open_demo(lab: Lab, *, who: str = "researcher") -> str:
    """The name under which the demonstration study runs in the lab, from now on or already.

    What it needs is brought into the lab first. Once launched, it stays as it was.
    """
    study = demo_study()
    with lab.reading() as connection:
        existing = find_study(connection, study.name)
    if existing is not None and existing.launched_at is None:
        raise InputError(
            "the lab has an imported study with this name",
            got=study.name,
            remedy="Open the demo in another lab, with --lab.",
        )
    if existing is not None and existing.version >= study.version:
        return study.name
    furnish_demo(lab)
    return launch(lab, study, now=now(), who=who)


def furnish_demo(lab: Lab) -> None:
    """Brings situations, replies and the questionnaire of the study into the lab, once."""
    release = demo_release()
    situations = list(dict.fromkeys(reply.situation for reply in release.replies))
    with lab.writing() as connection:
        save_scales(connection, [_questionnaire()])
    import_release(lab, release, kind="built in", source=SOURCE, fingerprint=content_hash(release))
    recipe = {"kind": "first of each emotion", "set": release.situation_set.id}
    paragraph = (
        f"The first situation of each of {len(situations)} emotions was taken from the set "
        f"“{release.situation_set.title}”."
    )
    save_selection(
        lab,
        _SELECTION,
        release.situation_set,
        situations,
        recipe,
        result={"paragraph": paragraph},
    )


def demo_study() -> Study:
    """The study as its file says it."""
    text = (files(__name__) / "demo.yaml").read_text(encoding="utf-8")
    return parse_study(text, file="demo.yaml")


def _questionnaire() -> Scale:
    return scale_from_dict(packaged_table(__name__, "talking.toml"), where="talking.toml")
