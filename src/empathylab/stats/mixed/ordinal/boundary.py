"""Standard deviations of zero and correlations of one, where a search ended close to them."""

from __future__ import annotations

import numpy as np

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.effects.structure import singular_trials
from empathylab.stats.mixed.ordinal.laplace import Laplace
from empathylab.stats.mixed.search import Place

_NEAR_ZERO = 0.15
"""Standard deviations, in units of the latent error's, that may really be zero."""
_BESIDE = 0.02
_NO_WORSE = 1e-6
"""Log-likelihood that a standard deviation of zero may cost and still be the maximum."""
_NO_WORSE_JOINTLY = 1e-4
"""The same for correlated effects, where searches end less close."""


def bounded(
    laplace: Laplace, place: Place, latent_sd: float, slack: float
) -> tuple[Array, list[int]]:
    """The parameters with factors that are singular where that is the maximum, and the free ones.

    The likelihood is flat at zero whichever way it bends there, so it is tried on the spot.
    Values are known up to `slack`.
    """
    whole, value = place.at.copy(), place.value
    free = list(range(len(whole)))
    near = _NEAR_ZERO * latent_sd
    for number, parameter in enumerate(laplace.effects.parameters, start=laplace.fixed):
        if parameter.row != parameter.column or abs(whole[number]) > near:
            continue
        block = next(
            block
            for block in laplace.effects.groups[parameter.group].blocks
            if parameter.row in block
        )
        if len(block) > 1:
            theta_now = whole[laplace.fixed :]
            trials = singular_trials(laplace.effects, theta_now, number - laplace.fixed)
            for theta, gone in trials:
                trial = np.concatenate([whole[: laplace.fixed], theta])
                at_trial = laplace(trial).value
                if at_trial <= value + _NO_WORSE_JOINTLY + slack:
                    whole, value = trial, at_trial
                    free = [item for item in free if item - laplace.fixed not in gone]
                    break
            continue
        trial, beside = whole.copy(), whole.copy()
        trial[number], beside[number] = 0.0, _BESIDE * latent_sd
        at_zero = laplace(trial).value
        if at_zero > value + _NO_WORSE + slack:
            continue
        if laplace(beside).value < at_zero - slack:
            whole[number] = beside[number]
        else:
            whole, value = trial, at_zero
            free.remove(number)
    return whole, free
