"""Standard deviations of zero and correlations of one, where a search ended close to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.effects.structure import Effects, singular_trials
from empathylab.stats.mixed.search import Function, Place


class Limits(NamedTuple):
    """Where singular factors are tried, and what they may cost and still be the minimum."""

    near: float
    """Diagonal elements up to this size may really be zero."""
    beside: float
    """An element that is tried beside zero, where the slope is 0 whether or not it is a minimum."""
    alone: float
    """Cost of an effect's own standard deviation of zero."""
    jointly: float
    """Cost of a singular factor of correlated effects, where searches end less close."""


def bounded(
    function: Function, effects: Effects, place: Place, limits: Limits, slack: float
) -> tuple[Array, list[int]]:
    """The parameters with factors that are singular where that is the minimum, and the free ones.

    The last parameters are the factors' elements. The function is flat at zero whichever way it
    bends there, so zero is tried on the spot. Values are known up to `slack`.
    """
    whole, value = place.at.copy(), place.value
    free = list(range(len(whole)))
    fixed = len(whole) - len(effects.parameters)
    for number, parameter in enumerate(effects.parameters, start=fixed):
        if parameter.row != parameter.column or abs(whole[number]) > limits.near:
            continue
        blocks = effects.groups[parameter.group].blocks
        if len(next(block for block in blocks if parameter.row in block)) > 1:
            for theta, gone in singular_trials(effects, whole[fixed:], number - fixed):
                trial = np.concatenate([whole[:fixed], theta])
                at_trial = function(trial)[0]
                if at_trial <= value + limits.jointly + slack:
                    whole, value = trial, min(at_trial, value)
                    free = [item for item in free if item - fixed not in gone]
                    break
            continue
        trial, beside = whole.copy(), whole.copy()
        trial[number], beside[number] = 0.0, limits.beside
        at_zero = function(trial)[0]
        if at_zero > value + limits.alone + slack:
            continue
        if function(beside)[0] < at_zero - slack:
            whole[number] = beside[number]
        else:
            whole, value = trial, at_zero
            free.remove(number)
    return whole, free
