"""The scales a lab can use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from empathylab.errors import InputError, UnknownName, UserError
from empathylab.scales import builtin_scale, scale_to_dict
from empathylab.store import Lab
from empathylab.store.scales import import_scales, lab_scale, lab_scales

OWN: dict[str, Any] = {
    "id": "calm",
    "version": 1,
    "name": "Calm scale",
    "citation": "None.",
    "licence": "CC0",
    "instruction": "Answer.",
    "minimum": 1,
    "maximum": 5,
    "items": 2,
    "rule": "sum",
    "words": ["I am calm.", "I am at ease."],
}


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def teq_words(tmp_path: Path, prefix: str = "Text") -> Path:
    items = {str(item): f"{prefix} {item}" for item in range(1, 17)}
    return write(tmp_path / "teq.json", {"name": "TEQ", "items": items})


def test_without_imports_the_built_in_scale_is_used(lab: Lab) -> None:
    assert lab_scale(lab, "teq") == builtin_scale("teq")


def test_imported_wording_completes_a_built_in_scale(lab: Lab, tmp_path: Path) -> None:
    (done,) = import_scales(lab, teq_words(tmp_path))
    assert done.change == "added"
    found = lab_scale(lab, "TEQ")
    assert found.require_words()[0] == "Text 1"
    assert found.reversed == builtin_scale("teq").reversed


def test_importing_the_same_wording_again_changes_nothing(lab: Lab, tmp_path: Path) -> None:
    import_scales(lab, teq_words(tmp_path))
    (done,) = import_scales(lab, teq_words(tmp_path))
    assert done.change == "unchanged"


def test_the_newest_wording_is_used(lab: Lab, tmp_path: Path) -> None:
    import_scales(lab, teq_words(tmp_path, "Old"))
    import_scales(lab, teq_words(tmp_path, "New"))
    assert lab_scale(lab, "teq").require_words()[0] == "New 1"


def test_a_scale_of_ones_own_is_used(lab: Lab, tmp_path: Path) -> None:
    import_scales(lab, write(tmp_path / "calm.json", OWN))
    assert lab_scale(lab, "calm").items == 2
    assert "calm" in lab_scales(lab)


def test_a_higher_version_is_used(lab: Lab, tmp_path: Path) -> None:
    import_scales(lab, write(tmp_path / "calm.json", OWN | {"version": 2, "rule": "mean"}))
    import_scales(lab, write(tmp_path / "calm.json", OWN))
    assert lab_scale(lab, "calm").rule == "mean"


def test_a_scale_without_words_does_not_hide_one_with_words(lab: Lab, tmp_path: Path) -> None:
    bare = scale_to_dict(builtin_scale("panas")) | {"version": 2}
    del bare["words"]
    import_scales(lab, write(tmp_path / "panas.json", bare))
    assert lab_scale(lab, "panas").words is not None


def test_one_version_is_not_scored_in_two_ways(sqlite_lab: Lab, tmp_path: Path) -> None:
    other = scale_to_dict(builtin_scale("panas")) | {"reversed": [1]}
    with pytest.raises(InputError, match="already a scale panas of version 1.*Raise the version"):
        import_scales(sqlite_lab, write(tmp_path / "panas.json", other))


def test_an_unknown_scale_suggests_the_nearest(sqlite_lab: Lab) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'panas'"):
        lab_scale(sqlite_lab, "pannas")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"revered": [1]}, "no key 'revered'. Did you mean 'reversed'"),
        ({"reversed": [3]}, "'reversed' must be item numbers from 1 to 2; got 3"),
        (
            {"subscales": [{"id": "a", "name": "A", "items": []}]},
            "'subscales[1].items' must be at least one item number",
        ),
    ],
)
def test_a_wrong_scale_file_is_one_sentence(
    sqlite_lab: Lab, tmp_path: Path, change: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError) as caught:
        import_scales(sqlite_lab, write(tmp_path / "calm.json", OWN | change))
    assert sentence in str(caught.value)


@pytest.mark.shared_data
def test_the_published_wordings_complete_the_built_in_scales(
    sqlite_lab: Lab, shared_data: Path
) -> None:
    import_scales(sqlite_lab, shared_data / "emotionbench" / "questionnaires.json")
    import_scales(sqlite_lab, shared_data / "teq.json")
    assert all(scale.words is not None for scale in lab_scales(sqlite_lab).values())
