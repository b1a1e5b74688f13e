"""Norming: the block type `norm`, and the questionnaires that come with it."""

from empathylab.study.blocks.norming.norm import Norm, norm_scales

__all__ = ["Norm", "norm_scales"]
