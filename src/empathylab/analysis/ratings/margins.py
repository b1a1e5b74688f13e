"""The smallest difference that matters: margins for equivalence, as declared or as given."""

from __future__ import annotations

from collections.abc import Mapping

from empathylab.analysis.ratings.scales import StudyScales
from empathylab.errors import InputError, UnknownName

Margins = Mapping[str, float]


def checked_margins(
    given: float | Margins | None, declared: Margins, scales: StudyScales
) -> dict[str, float]:
    """The margin of each dimension: as given, else as declared in the study file.

    In points of the scale for dimensions compared by mean, else in percentage points.
    """
    names = list(scales.continuous)
    margins = {name: value for name, value in declared.items() if name in names}
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                raise UnknownName("rated dimension", name, names)
        margins |= given
    elif given is not None:
        margins = dict.fromkeys(names, float(given))
    for name, value in margins.items():
        unit = "points" if name in scales.by_mean else "percentage points"
        most = scales.width(name)
        if not 0 < value < most:
            raise InputError(
                f"the margin of {name} must be between 0 and {most:g} {unit}",
                got=value,
                remedy="Declare the smallest difference that would matter.",
            )
    return margins
