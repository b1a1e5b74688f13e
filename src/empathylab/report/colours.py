"""One colour per respondent throughout, and a scheme of its own for ordered answers.

Specifications hold the colours for light pages. The page exchanges each for its dark counterpart,
so a colour stands for the same respondent in either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

PEOPLE = "human"
SHOWN_PEOPLE = "people"
INK, PAPER = "#1F2328", "#FFFFFF"
"""Of text on a chart."""
GROUND = "#FFFFFE"
"""Of the frame that a chart stands in."""
_PEOPLE = ("#4A525C", "#C4CAD2")
# Blue, vermilion, green, pink and ochre after Okabe and Ito, then others that differ from them.
_RESPONDENTS = (
    ("#0072B2", "#56B4E9"),
    ("#D55E00", "#FF8A4C"),
    ("#00805D", "#2FC79A"),
    ("#B5489A", "#E39CC4"),
    ("#A66E00", "#F0C23C"),
    ("#2E93D6", "#A9D8F7"),
    ("#8A4B2A", "#D9A37F"),
    ("#4E7D00", "#A6D854"),
    ("#C2185B", "#FF7FA8"),
    ("#007C91", "#5CD6E8"),
    # Darker and duller relatives of the first ten.
    ("#00466E", "#8CC9EE"),
    ("#8C3B00", "#FFB48A"),
    ("#005540", "#8ADFC3"),
    ("#75265F", "#F0C3DC"),
    ("#6B4700", "#F7DD8E"),
    ("#5B7F99", "#7FA5BF"),
    ("#A8745A", "#B98A6E"),
    ("#7E8F3A", "#C6D38A"),
    ("#A85C74", "#D98CA3"),
    ("#4F8890", "#86B4BA"),
)
_OTHERS = ("#7A828C", "#9AA3AE")
# From worst to best: a single hue that no respondent has.
_ORDERED = (("#DAD6EC", "#3B3560"), ("#9A90C8", "#7F74BE"), ("#4B2E83", "#D6CCF5"))
_CHANGES = (("#B35806", "#E08A3C"), ("#F4F2EF", "#23282D"), ("#542788", "#A98FDD"))
SEQUENTIAL = [light for light, _ in _ORDERED]
"""Of proportions from none to all."""
DIVERGING = [light for light, _ in _CHANGES]
"""Of changes: down, none, up. To be mixed as RGB: other ways pass through another hue."""
ESTIMATE = "#33557A"
"""Of estimates that belong to no respondent."""
FOUND, NOT_FOUND = "#A3370F", "#7A828D"
GUIDE = "#8A9099"
"""Of lines to compare with."""
_WHO = ("respondent", "arm")
_MOST_ORDERED = 11


def ordered_colours(count: int) -> list[str]:
    """Colours of ordered answers, the worst first."""
    return [_mixed(SEQUENTIAL, place / max(1, count - 1)) for place in range(count)]


def text_on(colour: str) -> str:
    """Ink or paper, whichever can be read on that colour."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 150 else PAPER


def _mixed(anchors: Sequence[str], place: float) -> str:
    """The colour at that place between the anchors, from 0 to 1."""
    first = min(int(place * (len(anchors) - 1)), len(anchors) - 2)
    part = place * (len(anchors) - 1) - first
    ends = (
        [int(anchor[k : k + 2], 16) for k in (1, 3, 5)] for anchor in anchors[first : first + 2]
    )
    return "#" + "".join(f"{round(a + part * (b - a)):02X}" for a, b in zip(*ends, strict=True))


def _dark() -> dict[str, str]:
    pairs = dict((_PEOPLE, *_RESPONDENTS, _OTHERS, *_ORDERED, *_CHANGES))
    ends = [dark for _, dark in _ORDERED]
    for count in range(2, _MOST_ORDERED + 1):
        places = [place / (count - 1) for place in range(count)]
        pairs |= {_mixed(SEQUENTIAL, place): _mixed(ends, place) for place in places}
    return pairs | {
        INK: "#E7E9EC",
        PAPER: "#14171A",
        GROUND: "#1C2024",
        ESTIMATE: "#8FB8E0",
        FOUND: "#FF9E73",
        NOT_FOUND: "#9BA4AF",
    }


DARK = _dark()
"""The colour on a dark page for each on a light one."""


class Colours:
    """A colour for each respondent, and for the arms that they wrote."""

    def __init__(self, respondents: Iterable[str], authors: Mapping[str, str] | None = None):
        self._of: dict[str, str] = {PEOPLE: _PEOPLE[0], SHOWN_PEOPLE: _PEOPLE[0]}
        for name in respondents:
            self._add(name)
        for arm, author in (authors or {}).items():
            if arm not in self._of:
                self._of[arm] = self.of(author)

    def of(self, name: str) -> str:
        """The colour of a respondent or arm; a new name gets the next colour."""
        if name not in self._of:
            self._add(name)
        return self._of[name]

    def _add(self, name: str) -> None:
        if name in self._of:
            return
        place = len([item for item in self._of if item not in (PEOPLE, SHOWN_PEOPLE)])
        lights = [light for light, _ in _RESPONDENTS]
        self._of[name] = lights[place] if place < len(lights) else _OTHERS[0]

    def applied(self, spec: dict[str, Any]) -> dict[str, Any]:
        """The specification with these colours, and people called people."""
        coloured: dict[str, Any] = self._coloured(_renamed(spec))
        return coloured

    def _range(self, names: Sequence[str], *, named: bool) -> list[str]:
        """The colours of a chart's names; `named` if each has a row with its name."""
        found = [self.of(name) for name in names]
        if _OTHERS[0] not in found:
            return found
        if named:  # a colour for some would set them apart
            return [known if known == _PEOPLE[0] else _OTHERS[0] for known in found]
        # Grey lines look the same: here they get colours that are still free.
        free = iter([light for light, _ in _RESPONDENTS if light not in found])
        return [next(free, known) if known == _OTHERS[0] else known for known in found]

    def _coloured(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._coloured(part) for part in value]
        if not isinstance(value, dict):
            return value
        encoding = {
            name: part if name in ("data", "datasets") else self._coloured(part)
            for name, part in value.items()
        }
        colour = encoding.get("color")
        if isinstance(colour, dict) and colour.get("field") in _WHO:
            scale = colour.get("scale") or {}
            if domain := scale.get("domain"):
                named = (encoding.get("y") or {}).get("field") == colour["field"]
                found = self._range(domain, named=named)
                encoding["color"] = colour | {"scale": scale | {"range": found}}
        return encoding


def _renamed(value: Any) -> Any:
    """The same with `people` for `human` wherever it stands alone."""
    if isinstance(value, dict):
        return {name: _renamed(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part) for part in value]
    return SHOWN_PEOPLE if value == PEOPLE else value
