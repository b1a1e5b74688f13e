"""Studies with people: the study's file, who gets which place, and which page comes next."""

from empathylab.study.assignment.allocation import (
    Full,
    Person,
    Place,
    State,
    arm_counts,
    choose_place,
    displaced,
    ended,
    is_live,
)
from empathylab.study.assignment.batches import study_slots
from empathylab.study.assignment.blinding import opaque_id, person_key, same_id
from empathylab.study.assignment.quotas import quota_limits, quota_traits
from empathylab.study.assignment.slots import Item, Slot
from empathylab.study.blocks.answers import check_answer, valid_values
from empathylab.study.blocks.content import page_content
from empathylab.study.blocks.forms import Accepted, Problem, Refused, clean_text
from empathylab.study.blocks.interface import Block, ParticipantPath
from empathylab.study.blocks.pages import PageContent
from empathylab.study.blocks.registry import register as register_block
from empathylab.study.blocks.steps import Step
from empathylab.study.design.definition import EVERYONE, Study
from empathylab.study.design.materials import choose_scales, choose_situations
from empathylab.study.design.planning import Plan, needed_raters
from empathylab.study.design.preset_files import PRESETS, preset_text
from empathylab.study.design.preview import Preview, preview_study
from empathylab.study.design.protocol import (
    Difference,
    differences,
    frozen_protocol,
    protocol_hash,
    require_same_protocol,
    to_dict,
)
from empathylab.study.design.reading import parse_study, read_study, study_from_dict
from empathylab.study.session.completion import Completion, completion_for
from empathylab.study.session.flow import (
    End,
    GoTo,
    NeedsPlace,
    Show,
    decide,
    failed_attention,
    last_step,
    study_steps,
)
from empathylab.study.session.timing import Timing, page_timing, too_soon

__all__ = [
    "EVERYONE",
    "PRESETS",
    "Accepted",
    "Block",
    "Completion",
    "Difference",
    "End",
    "Full",
    "GoTo",
    "Item",
    "NeedsPlace",
    "PageContent",
    "ParticipantPath",
    "Person",
    "Place",
    "Plan",
    "Preview",
    "Problem",
    "Refused",
    "Show",
    "Slot",
    "State",
    "Step",
    "Study",
    "Timing",
    "arm_counts",
    "check_answer",
    "choose_place",
    "choose_scales",
    "choose_situations",
    "clean_text",
    "completion_for",
    "decide",
    "differences",
    "displaced",
    "ended",
    "failed_attention",
    "frozen_protocol",
    "is_live",
    "last_step",
    "needed_raters",
    "opaque_id",
    "page_content",
    "page_timing",
    "parse_study",
    "person_key",
    "preset_text",
    "preview_study",
    "protocol_hash",
    "quota_limits",
    "quota_traits",
    "read_study",
    "register_block",
    "require_same_protocol",
    "same_id",
    "study_from_dict",
    "study_slots",
    "study_steps",
    "to_dict",
    "too_soon",
    "valid_values",
]
