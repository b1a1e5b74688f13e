"""A study file checked against the lab before launch: what it needs, and what people see."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from empathylab.errors import InputError, UnknownName, UserError
from empathylab.scales import Scale, known_scales
from empathylab.situations import Situation, SituationSet, builtin_set, builtin_versions
from empathylab.store import Lab
from empathylab.store.scales import lab_scales
from empathylab.store.selections import resolve_situations
from empathylab.store.situations import stored_situations
from empathylab.store.studies.added_arms import asked_by
from empathylab.store.studies.records import (
    find_study,
    frozen_responses,
    launched_study,
    respondent_responses,
    respondents_with_replies,
    situations_failed,
)
from empathylab.study.assignment.batches import study_slots
from empathylab.study.blocks.interface import Outcome, ParticipantPath
from empathylab.study.blocks.pages import ShownReply
from empathylab.study.design.claims import claim_warnings
from empathylab.study.design.definition import Study
from empathylab.study.design.material_notes import (
    PromptFields,
    content_note_warnings,
    information_sentence,
    information_warnings,
)
from empathylab.study.design.materials import choose_scales, choose_situations
from empathylab.study.design.planning import Plan, needed_raters
from empathylab.study.design.preview import Preview, preview_study
from empathylab.study.design.protocol import require_same_protocol
from empathylab.study.design.reading import study_from_dict


@dataclass(frozen=True, slots=True)
class Checked:
    """What a study needs, what stands in its way, and what one of its raters will see."""

    study: Study
    plan: Plan
    """Its problems hold those with the lab too."""
    pages: Mapping[str, Mapping[str, Preview]] = field(hash=False)
    """By arm and language; none where a scale is unknown or a batch cannot be made."""
    information: str = ""
    """For a methods section: what raters and respondents are shown of each situation."""

    @property
    def previews(self) -> Mapping[str, Preview]:
        """By language, the pages of a rater of the first arm; none without situations."""
        return (
            next(iter(self.pages.values()), {})
            if self.plan.problems == () or self.plan.situations
            else {}
        )


def check_study(
    study: Study, lab: Lab | None = None, *, shown_fields: PromptFields = lambda prompt: None
) -> Checked:
    """The study checked against the lab, in which nothing is changed; without one, what ships.

    `shown_fields` says what a prompt tells respondents of a situation, where that is known.
    """
    known = known_scales() if lab is None else lab_scales(lab)
    problems: list[str] = []
    chosen: tuple[Situation, ...] = ()
    replies: dict[str, dict[str, ShownReply]] = {}
    prompts: dict[str, set[str]] = {}
    failed: dict[str, set[str]] = {}
    respondents: list[str] = []
    try:
        whole, offered = _offered(study, lab)
        chosen = choose_situations(study, offered)
        if lab is not None:
            with lab.reading() as connection:
                problems += _launched_problems(connection, study)
                replies, troubles, prompts = _replies(connection, study, whole, chosen)
                problems += troubles
                failed = _failed(connection, study, whole, chosen)
                respondents = respondents_with_replies(connection)
    except UserError as error:
        problems.append(str(error))
    shown = {arm: list(texts) for arm, texts in replies.items()}
    keys = [item.id for item in chosen]
    plan = needed_raters(study, keys, shown, known, failed=failed, respondents=respondents)
    problems += code_problems(study)
    # Without situations everything else that is missing is only a consequence.
    has_material = bool(chosen) or study.situations is None
    all_problems = (*problems, *plan.problems) if has_material else tuple(problems)
    pages = dict(_pages(study, chosen, replies, known))
    first: Mapping[str, Preview] = next(iter(pages.values()), {}) if has_material else {}
    minutes = max((item.minutes for item in first.values()), default=None)
    notes = (
        *plan.notes,
        *claim_warnings(study, minutes, invented=_is_invented(chosen)),
        *content_note_warnings(study, chosen),
        *information_warnings(study, chosen, prompts, shown_fields),
    )
    return Checked(
        study,
        replace(plan, problems=tuple(dict.fromkeys(all_problems)), notes=notes),
        pages,
        information_sentence(study, chosen, prompts, shown_fields),
    )


def _offered(study: Study, lab: Lab | None) -> tuple[SituationSet | None, tuple[Situation, ...]]:
    wanted = study.situations
    if wanted is None:
        return None, ()
    if lab is not None:
        return resolve_situations(lab, wanted.source)
    whole = builtin_set(wanted.source)
    return whole, whole.situations


def _is_invented(chosen: Collection[Situation]) -> bool | None:
    """Whether the situations are those that ship, which nobody lived through; None without any."""
    if not chosen:
        return None
    shipped = {item.text for whole in builtin_versions().values() for item in whole}
    return all(item.text in shipped for item in chosen)


def _launched_problems(connection: Connection, study: Study) -> Iterator[str]:
    """What keeps the file from being launched beside what the lab has launched already."""
    if study.follow_up is not None:
        first = launched_study(connection, study.follow_up.study)
        platform = first.protocol.get("recruitment", {}).get("platform")
        if platform not in (None, study.recruitment.platform):
            yield (
                f"The first study, {first.name}, recruits on {platform}: use the same "
                "platform, so that they are recognised."
            )
    existing = find_study(connection, study.name)
    if existing is None:
        return
    if existing.launched_at is None:
        yield f"The lab has an imported study called {study.name!r}: give this one another name."
    elif study.version < existing.version:
        newest = existing.version
        yield f"Version {newest} has already been launched: launch that one, or a newer one."
    elif study.version == existing.version:
        before = study_from_dict(existing.protocol, where=f"study {study.name} of the lab")
        try:
            require_same_protocol(before, study)
        except InputError as error:
            yield str(error)


def _replies(
    connection: Connection, study: Study, whole: SituationSet | None, chosen: tuple[Situation, ...]
) -> tuple[dict[str, dict[str, ShownReply]], list[str], dict[str, set[str]]]:
    """By arm and situation, the replies that would be shown; what is wrong; and their prompts."""
    if not study.rated or whole is None:
        return {}, [], {}
    existing = find_study(connection, study.name, study.version)
    frozen = frozen_responses(connection, existing.id) if existing is not None else {}
    ids = stored_situations(connection, whole)
    keys = {ids[item.id]: item.id for item in chosen if item.id in ids}
    shown: dict[str, dict[str, ShownReply]] = {}
    problems: list[str] = []
    prompts: dict[str, set[str]] = {}
    for name, arm in study.arms.items():
        try:
            replies = frozen.get(name) or respondent_responses(
                connection,
                arm.respondent,
                list(keys),
                sample=study.responses.sample,
                prompt=arm.prompt,
                arm=name,
            )
        except InputError as error:
            problems.append(str(error))
            replies = []
        shown[name] = {
            keys[reply.situation]: ShownReply(reply.text, reply.chat, reply.rated_turn)
            for reply in replies
            if reply.situation in keys
        }
        prompts[name] = asked_by(connection, [reply.response for reply in replies])
    return shown, problems, prompts


def _failed(
    connection: Connection, study: Study, whole: SituationSet | None, chosen: tuple[Situation, ...]
) -> dict[str, set[str]]:
    """By arm, the situations that its model was asked about and gave no valid reply to."""
    if not study.rated or whole is None:
        return {}
    ids = stored_situations(connection, whole)
    keys = {ids[item.id]: item.id for item in chosen if item.id in ids}
    return {
        name: {
            keys[number]
            for number in situations_failed(
                connection, arm.respondent, sample=study.responses.sample, prompt=arm.prompt
            )
            if number in keys
        }
        for name, arm in study.arms.items()
    }


def _pages(
    study: Study,
    chosen: tuple[Situation, ...],
    replies: Mapping[str, Mapping[str, ShownReply]],
    known: Mapping[str, Scale],
) -> Iterator[tuple[str, dict[str, Preview]]]:
    """By arm, the pages of its first rater in every language."""
    try:
        scales = choose_scales(study, known)
        slots = study_slots(study, [item.id for item in chosen])
    except (InputError, UnknownName):
        return
    texts = {(key, arm): text for arm, of_arm in replies.items() for key, text in of_arm.items()}
    situations = {item.id: item for item in chosen}
    for arm, of_arm in slots.items():
        yield (
            arm,
            {
                language: preview_study(
                    ParticipantPath(study, scales),
                    language=language,
                    slot=of_arm[0] if of_arm else None,
                    situations=situations,
                    replies=texts,
                )
                for language in study.languages
            },
        )


def missing_codes(study: Study) -> tuple[Outcome, ...]:
    """The outcomes of a study on Prolific that need a completion code and have none.

    Participants who leave by themselves return their submission, so `withdrawn` needs no code.
    """
    if study.recruitment.platform != "prolific":
        return ()
    needed = dict.fromkeys(_needed(study))
    return tuple(outcome for outcome in needed if outcome not in study.recruitment.codes)


def code_problems(study: Study) -> Iterator[str]:
    """A sentence where codes are missing."""
    missing = missing_codes(study)
    if missing:
        yield (
            f"The study is on Prolific and has no completion code for {', '.join(missing)}: "
            "participants with these outcomes could not return to Prolific. Add the codes under "
            "recruitment, codes, and on the study's page on Prolific."
        )


def _needed(study: Study) -> Iterator[Outcome]:
    yield "completed"
    for block in study.blocks:
        yield from block.early_outcomes
    # Without quotas, only people who took part in an earlier version are turned away.
    if study.quotas or (study.recruitment.once and study.version > 1):
        yield "screened-out"
    yield "full"
    if study.time_limits.finish_within is not None:
        yield "timed-out"
