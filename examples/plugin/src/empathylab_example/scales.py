"""A questionnaire of three items, written for this example and not validated."""

from __future__ import annotations

from collections.abc import Iterable

from empathylab.scales import Scale, scale_from_dict


def scales() -> Iterable[Scale]:
    """The scales of this package; `read_scale` reads them from TOML files instead."""
    yield scale_from_dict(
        {
            "id": "feeling-heard-example",
            "version": 1,
            "name": "Feeling heard (example)",
            "citation": "Written for the example plugin; not validated.",
            "licence": "Apache-2.0",
            "instruction": "How much do you agree with each statement?",
            "minimum": 1,
            "maximum": 5,
            "anchors": {"1": "not at all", "5": "completely"},
            "items": 3,
            "reversed": [3],
            "rule": "mean",
            "words": [
                "I feel that someone listens to me.",
                "I feel that my view matters.",
                "I feel that nobody notices me.",
            ],
        }
    )
