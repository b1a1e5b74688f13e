"""How the person who was helped feels: the block and the questionnaires that ship with it."""

from empathylab.study.blocks.feeling.feel import Feel, feeling_scales

__all__ = ["Feel", "feeling_scales"]
