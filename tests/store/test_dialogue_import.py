"""EmpatheticDialogues in the lab."""

from __future__ import annotations

from pathlib import Path

from empathylab.situations.sources.empatheticdialogues import read_dialogues
from empathylab.store import Lab, lab_situation_set, responses_frame
from empathylab.store.imports.releases import ImportedRelease, content_hash, import_release

HEADER = "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags"
ROWS = (
    "c\x001,1,proud,My boat floats,10,I built a boat.,5|5|5_4\x00,",
    "c\x001,2,proud,My boat floats,11,Does it float?\x00,5|5|5_4\x00,",
    "c2,1,sad,It rains,12,It rains again.,5|5|5_4|4|4,",
    "c2,2,sad,It rains,13,Stay in_comma_ then.,5|5|5_4|4|4,",
)


def brought(lab: Lab, path: Path, *rows: str, turns: int = 1) -> ImportedRelease:
    path.write_text("\n".join((HEADER, *rows)), encoding="utf-8")
    release = read_dialogues(path, turns=turns)
    return import_release(
        lab,
        release,
        kind="empatheticdialogues",
        source=path.name,
        fingerprint=content_hash(release),
    )


def test_conversations_and_replies_are_in_the_lab(lab: Lab, tmp_path: Path) -> None:
    done = brought(lab, tmp_path / "train.csv", *ROWS)
    assert [(thing.things, thing.added) for thing in done.things] == [
        ("situations", 2),
        ("responses", 2),
    ]
    assert [item.emotion for item in lab_situation_set(lab, "empatheticdialogues")] == [
        "proud",
        "sad",
    ]
    assert responses_frame(lab)["text"].to_list() == ["Does it float?\ufffd", "Stay in, then."]


def test_the_same_file_again_changes_nothing(lab: Lab, tmp_path: Path) -> None:
    brought(lab, tmp_path / "train.csv", *ROWS)
    again = brought(lab, tmp_path / "train.csv", *ROWS)
    assert (again.change, again.version) == ("unchanged", 1)


def test_a_corrected_file_says_what_changed(lab: Lab, tmp_path: Path) -> None:
    brought(lab, tmp_path / "train.csv", *ROWS)
    mended = [row.replace("Stay in", "Go out") for row in ROWS]
    done = brought(lab, tmp_path / "train.csv", *mended)
    assert done.change == "replaced"
    counts = {thing.things: (thing.changed, thing.unchanged) for thing in done.things}
    assert counts["responses"] == (1, 1)


def test_a_later_turn_keeps_its_context_in_the_lab(lab: Lab, tmp_path: Path) -> None:
    later = "c2,3,sad,It rains,12,All week?,5|5|5_4|4|4,"
    brought(lab, tmp_path / "train.csv", *ROWS, later, turns=2)
    (situation,) = lab_situation_set(lab, "empatheticdialogues-turn-2")
    assert situation.context == ("It rains again.", "Stay in, then.")
