"""Protocol hashes that version 0.1 computed: the same file must give the same hash for ever.

`protocols_0_1/` holds the presets and the demo as 0.1 shipped them, and two files that use every
key. The hashes were printed by 0.1 itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from empathylab.errors import UserError
from empathylab.study import Study, parse_study, protocol_hash
from empathylab.study.design.protocol import to_dict
from empathylab.study.design.reading import study_from_dict
from tests.study.examples import appraisal, between, within

FOLDER = Path(__file__).parent / "protocols_0_1"
HASHES = {
    "appraisal": "027f6e6f5757a399c3c57ecda56d0f06838ba6b65b8c62fe3ac17d00be33ba10",
    "between-subjects": "32d5e92a35d4fa0f245797e346860082e1ab97db5cc558afea81eeb9be2bd2c9",
    "demo": "b9e5dbdc41493f35a2894d559e028a69c7d457dbd26a686df3ce60e803391f25",
    "everything": "f6a6b2d2913986dde230250633ecf8be5210b7617c1b16d253c511a16f9a9e3c",
    "within-subjects": "05193cf43cabb34e82ea06b088c92cad61ca6ad9fe5241c4a32d03deb382f30b",
    "writing": "396e950bae6b21c74db6b8656315aa960a491534768a51482e1b8b48d2ebdf1c",
}


def kept(name: str) -> Study:
    return parse_study((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), file=name)


@pytest.mark.parametrize("name", HASHES)
def test_a_file_of_version_0_1_keeps_its_hash(name: str) -> None:
    assert protocol_hash(kept(name)) == HASHES[name]


@pytest.mark.parametrize("name", HASHES)
def test_what_the_lab_stores_of_it_keeps_the_hash(name: str) -> None:
    assert protocol_hash(study_from_dict(to_dict(kept(name)))) == HASHES[name]


def test_the_example_studies_keep_their_hashes() -> None:
    found = [protocol_hash(value, {"x": "y"}) for value in (between(), within(), appraisal())]
    assert found == [
        "eec859ce3c0c3f5f1a0281000a7f9c3d9b9132ee5ce57843d79093c12b0c66db",
        "4328f736475f35cf92d8cab7ed1a5b809561e1d646780059193b7a21f8d88675",
        "0abb83003d6430ae1be138bf9f4a71cb430805c345992ac9a82b85372b6a790b",
    ]


def test_a_declared_margin_and_looks_change_the_hash_and_come_back() -> None:
    plain = to_dict(between())
    dimensions: list[dict[str, object]] = plain["dimensions"]  # type: ignore[assignment]
    declared = plain | {
        "dimensions": [dimension | {"margin": 10} for dimension in dimensions],
        "looks": {"ratings": 400, "at": [0.5, 1]},
    }
    study = study_from_dict(declared)
    assert protocol_hash(study) != protocol_hash(between())
    again = study_from_dict(to_dict(study))
    assert again.dimensions[0].margin == 10
    assert again.looks is not None
    assert (again.looks.ratings, again.looks.at) == (400, (0.5, 1.0))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("margin", 0, "between 0 and"),
        ("margin", 100, "between 0 and"),
        ("at", [0.5, 0.9], "the last is 1"),
        ("at", [1, 0.5], "rising order"),
    ],
)
def test_a_margin_or_look_that_makes_no_sense_is_refused(
    key: str, value: object, message: str
) -> None:
    plain = to_dict(between())
    if key == "margin":
        dimensions: list[dict[str, object]] = plain["dimensions"]  # type: ignore[assignment]
        plain["dimensions"] = [dimension | {"margin": value} for dimension in dimensions]
    else:
        plain["looks"] = {"ratings": 400, "at": value}
    with pytest.raises(UserError, match=message):
        study_from_dict(plain)
