"""The prompt by which a later model is asked for replies, as the study's respondents were."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from sqlalchemy import select

from empathylab.errors import InputError
from empathylab.protocols import ReplyTemplate, reply_template, usual_template
from empathylab.protocols.reply_templates import template_versions
from empathylab.situations import SituationSet
from empathylab.store import Lab, schema
from empathylab.store.inserts import hash_of
from empathylab.store.selections import resolve_situations
from empathylab.study.added_arms.instruments import MeasuredStudy


@dataclass(frozen=True, slots=True)
class StudyPrompt:
    """The template for replies, and what to know about it."""

    template: ReplyTemplate
    note: str
    """Empty where the template is the study's own."""

    @property
    def prompt(self) -> str:
        """As responses carry it."""
        return f"{self.template.id}@{self.template.version}"


def study_prompt(lab: Lab, study: MeasuredStudy) -> StudyPrompt:
    """The prompt of the study's models; the lab's usual one where it is not known."""
    recorded = study.template
    where = f"study {study.name}"
    if recorded is None:
        usual = _stored_version(
            lab, usual_template(resolve_situations(lab, study.situation_set)[0])
        )
        return StudyPrompt(
            usual,
            "The study does not record the prompt of its respondents; "
            f"{usual.id}@{usual.version} is used.",
        )
    if "system" in recorded:
        return StudyPrompt(ReplyTemplate(**recorded), "")
    # Version 0.1 recorded no version; there was only the first.
    template = reply_template(f"{recorded['template']}@{recorded.get('version', 1)}")
    if hash_of(dataclasses.asdict(template)) != recorded.get("fingerprint"):
        raise InputError(
            f"the template {template.id} differs from the one that the study used",
            where=where,
            got=f"{template.id}@{template.version}",
            remedy="Use the version of EmpathyLab that the study was imported with.",
        )
    return StudyPrompt(template, str(recorded.get("note", "")))


def _stored_version(lab: Lab, newest: ReplyTemplate) -> ReplyTemplate:
    """The template in the newest version that the lab has replies to; else the newest.

    Models measured earlier were asked in that version, and stay comparable.
    """
    with lab.reading() as connection:
        prompts = set(connection.execute(select(schema.responses.c.prompt).distinct()).scalars())
    stored = [
        template_version
        for template_version in template_versions(newest.id)
        if f"{template_version.id}@{template_version.version}" in prompts
    ]
    return max(stored, key=lambda item: item.version, default=newest)


def study_set(lab: Lab, study: MeasuredStudy) -> SituationSet:
    """The set of the study's situations, which must say what they said in the study."""
    whole, _ = resolve_situations(lab, study.situation_set)
    known = {situation.id: situation for situation in whole.situations}
    changed = [
        situation.id for situation in study.situations if known.get(situation.id) != situation
    ]
    if changed:
        raise InputError(
            f"{len(changed)} situations of the lab's set {whole.id} have a different text in the "
            "study",
            where=f"study {study.name}",
            got=changed[0],
            remedy="Import the study's archive into another lab, and measure there.",
        )
    return whole
