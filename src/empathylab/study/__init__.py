"""Studies with people: the study file, its blocks, and the pages that participants see."""

from empathylab.study.blocks.interface import Block, ParticipantPath
from empathylab.study.blocks.registry import register as register_block
from empathylab.study.blocks.steps import Step
from empathylab.study.design.definition import Study
from empathylab.study.design.protocol import protocol_hash
from empathylab.study.design.reading import PRESETS, parse_study, preset_text, read_study

__all__ = [
    "PRESETS",
    "Block",
    "ParticipantPath",
    "Step",
    "Study",
    "parse_study",
    "preset_text",
    "protocol_hash",
    "read_study",
    "register_block",
]
