"""EmpatheticDialogues' files, in the archive's format, with made-up texts."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.situations.sources.empatheticdialogues import read_dialogues
from empathylab.situations.sources.released import Release

HEADER = "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags"
FOUR = (
    "c1,1,proud,My boat floats_comma_ at last,10,I built a boat.,5|5|5_4|4|4,",
    "c1,2,proud,My boat floats_comma_ at last,11,Does it float?,5|5|5_4|4|4,",
    "c1,3,proud,My boat floats_comma_ at last,10,It does_comma_ mostly.,5|5|5_4|4|4,",
    "c1,4,proud,My boat floats_comma_ at last,11,Take me along!,5|5|5_4|4|4,",
)


def text(*rows: str) -> str:
    return "\n".join((HEADER, *rows)) + "\n"


def one_file(tmp_path: Path, *rows: str, name: str = "train.csv") -> Path:
    path = tmp_path / name
    path.write_text(text(*rows), encoding="utf-8")
    return path


def read(tmp_path: Path, *rows: str, turns: int = 1, **emotions: str) -> Release:
    return read_dialogues(one_file(tmp_path, *rows), turns=turns, emotions=emotions)


def archive(path: Path, members: dict[str, str], **fields: object) -> Path:
    with tarfile.open(path, "w:gz") as made:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content.encode())
            for field, value in fields.items():
                setattr(member, field, value)
            made.addfile(member, io.BytesIO(content.encode()))
    return path


def row(key: str, number: int, speaker: int, said: str, emotion: str = "sad") -> str:
    return f"{key},{number},{emotion},It rained on {key},{speaker},{said},5|5|5,"


def test_a_conversation_becomes_a_situation_and_a_human_reply(tmp_path: Path) -> None:
    release = read(tmp_path, *FOUR)
    (situation,) = release.situation_set
    assert (situation.id, situation.emotion, situation.valence) == ("c1", "proud", "positive")
    assert situation.text == "My boat floats, at last"
    assert (situation.utterance, situation.context) == ("I built a boat.", ())
    (reply,) = release.replies
    assert (reply.situation, reply.respondent, reply.text) == ("c1", "human", "Does it float?")
    assert release.respondents == {"human": "human"}


def test_the_split_and_the_self_evaluation_stand_in_the_replys_details(tmp_path: Path) -> None:
    (reply,) = read(tmp_path, *FOUR).replies
    assert reply.details == {"split": "train", "selfeval": "5|5|5_4|4|4"}


def test_nothing_is_noted_where_nothing_was_dropped(tmp_path: Path) -> None:
    assert read(tmp_path, *FOUR).notes == ()


def test_several_turns_of_one_person_in_a_row_are_one(tmp_path: Path) -> None:
    release = read(
        tmp_path,
        row("c", 1, 1, "My dog ran off."),
        row("c", 2, 1, "He came back."),
        row("c", 3, 2, "Good."),
        row("c", 4, 2, "Is he well?"),
        row("c", 5, 1, "Yes."),
    )
    assert release.situation_set.situations[0].utterance == "My dog ran off. He came back."
    assert release.replies[0].text == "Good. Is he well?"


def test_a_later_reply_has_the_earlier_turns_as_context(tmp_path: Path) -> None:
    release = read(tmp_path, *FOUR, turns=2)
    (situation,) = release.situation_set
    assert situation.context == ("I built a boat.", "Does it float?")
    assert situation.utterance == "It does, mostly."
    assert release.replies[0].text == "Take me along!"
    assert release.situation_set.id == "empatheticdialogues-turn-2"


def test_conversations_that_end_earlier_are_left_out_and_counted(tmp_path: Path) -> None:
    short = (row("s", 1, 1, "It is late."), row("s", 2, 2, "It is."))
    release = read(tmp_path, *FOUR, *short, turns=2)
    assert len(release.situation_set) == 1
    assert "1 conversations were left out: it ends before the speaker's turn 2 (first: s)." in (
        release.notes
    )


def test_a_conversation_without_a_reply_is_a_situation_all_the_same(tmp_path: Path) -> None:
    release = read(tmp_path, row("lone", 1, 1, "Is anybody there?"))
    assert (len(release.situation_set), release.replies, release.respondents) == (1, (), {})
    assert release.notes[0].startswith("1 conversations end before a reply")


def test_rows_may_be_shuffled(tmp_path: Path) -> None:
    assert read(tmp_path, *FOUR[::-1]).situation_set == read(tmp_path, *FOUR).situation_set


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("c2,1,sad,It rained", "too few cells"),
        ("c2,1,sad,It rained, and, poured, down,3,Wet again.,5|5|5,,,", "too many cells"),
        ("c2,1,sad,It rained,3,Wet, again.,5|5|5,", "too many cells"),
        ("c2,one,sad,It rained,3,Wet again.,5|5|5,", "'utterance_idx' is not a number"),
        ("c2,1,sad,It rained,he,Wet again.,5|5|5,", "'speaker_idx' is not a number"),
        (",1,sad,It rained,3,Wet again.,5|5|5,", "no conversation ID"),
        ("c2,1,sad,It rained,3,  ,5|5|5,", "the utterance is empty"),
    ],
)
def test_a_broken_row_is_dropped_and_said(tmp_path: Path, broken: str, reason: str) -> None:
    release = read(tmp_path, *FOUR, broken)
    assert [item.id for item in release.situation_set] == ["c1"]
    assert release.notes == (f"1 rows were dropped: {reason} (first: train.csv row 6).",)


def test_a_stray_quotation_mark_swallows_no_rows(tmp_path: Path) -> None:
    stray = row("q", 1, 1, '"What a day')
    release = read(tmp_path, stray, row("q", 2, 2, "Tell me."), *FOUR)
    assert [item.id for item in release.situation_set] == ["q", "c1"]
    assert release.situation_set.situations[0].utterance == '"What a day'


def test_a_row_saved_anew_with_quotes_is_read_by_them(tmp_path: Path) -> None:
    saved = 'q,1,sad,"Rain, again",1,"He said ""no"", then left",5|5|5,'
    (situation,) = read(tmp_path, saved).situation_set
    assert (situation.text, situation.utterance) == ("Rain, again", 'He said "no", then left')


def test_doubled_quotes_without_a_comma_are_single_ones(tmp_path: Path) -> None:
    (situation,) = read(tmp_path, 'q,1,sad,Rain,1,"He said ""no""",5|5|5,').situation_set
    assert situation.utterance == 'He said "no"'


def test_the_candidates_of_valid_and_test_rows_are_no_damage(tmp_path: Path) -> None:
    release = read(tmp_path, *(f"{item},Yes.|No.|Maybe_comma_ yes." for item in FOUR))
    assert (len(release.situation_set), release.notes) == (1, ())


def test_rows_without_their_last_cells_are_taken(tmp_path: Path) -> None:
    assert read(tmp_path, "c,1,sad,Rain,1,Wet again.").notes[0].startswith("1 conversations end")


def test_tags_entities_and_control_characters_are_cleaned(tmp_path: Path) -> None:
    (situation,) = read(
        tmp_path, "c,1,sad,Tea &amp; <b>toast</b>,1,I <3 it<br/>so\x07 much &lt;sigh>,5|5|5,"
    ).situation_set
    assert situation.text == "Tea & toast"
    assert situation.utterance == "I <3 it so\ufffd much <sigh>"


def test_an_unknown_emotion_is_kept_with_a_warning_and_can_be_mapped(tmp_path: Path) -> None:
    rows = [row("c", 1, 1, "It is late.", "bored")]
    kept = read(tmp_path, *rows)
    assert kept.situation_set.situations[0].emotion == "bored"
    assert any("--map bored=" in note for note in kept.notes)
    mapped = read(tmp_path, *rows, bored="lonely").situation_set.situations[0]
    assert (mapped.emotion, mapped.valence) == ("lonely", "negative")


def test_another_situation_or_emotion_under_the_same_id_is_said(tmp_path: Path) -> None:
    other = "c1,5,afraid,Another story,10,Hm.,5|5|5,"
    release = read(tmp_path, *FOUR, other)
    assert release.situation_set.situations[0].emotion == "proud"
    assert "1 rows have a different emotion from their conversation's first row" in release.notes[0]
    assert "1 rows have a different situation" in release.notes[1]


def test_a_row_that_is_there_twice_is_dropped(tmp_path: Path) -> None:
    release = read(tmp_path, *FOUR, FOUR[0])
    assert "the same row appears twice" in release.notes[0]


def test_another_text_for_the_same_turn_is_dropped_and_said(tmp_path: Path) -> None:
    release = read(tmp_path, *FOUR, FOUR[1].replace("float", "sink"))
    assert release.replies[0].text == "Does it float?"
    assert "a different text for the same turn" in release.notes[0]


@pytest.mark.parametrize(
    ("missing", "reason"),
    [(0, "the first turn is missing"), (1, "a turn in the middle is missing")],
)
def test_a_conversation_with_a_hole_is_left_out(tmp_path: Path, missing: int, reason: str) -> None:
    holed = [one for number, one in enumerate(FOUR) if number != missing]
    release = read(tmp_path, *holed, row("ok", 1, 1, "It is late."))
    assert [item.id for item in release.situation_set] == ["ok"]
    assert any(f"left out: {reason} (first: c1)" in note for note in release.notes)


def test_a_hole_after_the_reply_does_not_matter(tmp_path: Path) -> None:
    assert read(tmp_path, *FOUR[:2], FOUR[3]).notes == ()


def test_a_third_speaker_is_said(tmp_path: Path) -> None:
    third = FOUR[2].replace(",10,It", ",12,It")
    whole = (item.replace("c1,", "c2,") for item in FOUR)
    release = read(tmp_path, *FOUR[:2], third, FOUR[3], *whole, turns=2)
    assert release.notes == (
        "1 conversations were left out: more than two people speak (first: c1).",
    )


def test_a_situation_without_a_text_takes_the_opening(tmp_path: Path) -> None:
    (situation,) = read(tmp_path, "c,1,sad,,1,It is late again.,5|5|5,").situation_set
    assert situation.text == "It is late again."


def test_archive_and_folder_give_the_same_set(tmp_path: Path) -> None:
    splits = ("test", "valid", "train")
    files = {f"{split}.csv": text(row(split, 1, 1, f"I am {split}.")) for split in splits}
    packed = archive(tmp_path / "a.tar.gz", {f"deep/{key}": one for key, one in files.items()})
    folder = tmp_path / "empatheticdialogues"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content)
    first, second, third = map(read_dialogues, (packed, folder, tmp_path))
    assert first.situation_set == second.situation_set == third.situation_set
    assert [item.id for item in first.situation_set] == ["train", "valid", "test"]


def test_one_split_alone_is_a_set_of_its_own(tmp_path: Path) -> None:
    files = {
        f"{value}.csv": text(row(value, 1, 1, f"I am {value}.")) for value in ("train", "test")
    }
    release = read_dialogues(archive(tmp_path / "a.tgz", files), splits=("test",))
    assert [item.id for item in release.situation_set] == ["test"]
    assert release.situation_set.id == "empatheticdialogues-test"


def test_an_absent_split_is_said(tmp_path: Path) -> None:
    release = read_dialogues(archive(tmp_path / "a.tgz", {"train.csv": text(*FOUR)}))
    assert release.notes == ("there is no valid.csv and no test.csv.",)


def test_a_conversation_in_two_splits_is_taken_once(tmp_path: Path) -> None:
    files = {"train.csv": text(*FOUR), "test.csv": text(FOUR[0])}
    release = read_dialogues(archive(tmp_path / "a.tgz", files))
    assert len(release.situation_set) == 1
    assert "in another split" in release.notes[0]


def test_members_with_harmful_names_write_nothing(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    read_dialogues(archive(inside / "a.tgz", {"../train.csv": text(*FOUR)}))
    assert not (tmp_path / "train.csv").exists()


def test_links_and_resource_forks_in_the_archive_are_passed_over(tmp_path: Path) -> None:
    link = archive(
        tmp_path / "a.tgz", {"train.csv": ""}, type=tarfile.SYMTYPE, linkname="/etc/passwd"
    )
    fork = archive(tmp_path / "b.tgz", {"x/._train.csv": text(*FOUR)})
    for path in (link, fork):
        with pytest.raises(InputError, match="contains no train.csv"):
            read_dialogues(path)


def test_an_archive_that_claims_a_huge_file_is_refused(tmp_path: Path) -> None:
    member = tarfile.TarInfo("train.csv")
    member.size = 2 << 30
    (tmp_path / "a.tgz").write_bytes(gzip.compress(member.tobuf()))
    with pytest.raises(InputError, match="far larger than"):
        read_dialogues(tmp_path / "a.tgz")


def test_the_same_split_twice_in_an_archive_is_refused(tmp_path: Path) -> None:
    files = {"a/train.csv": text(*FOUR), "b/train.csv": text(*FOUR)}
    with pytest.raises(InputError, match="train.csv twice"):
        read_dialogues(archive(tmp_path / "a.tgz", files))


@pytest.mark.parametrize("cut", [200, 2000])
def test_a_cut_off_archive_is_one_sentence(tmp_path: Path, cut: int) -> None:
    rows = [row(f"c{n}", 1, n, f"{n * n * 7919} {n**5}") for n in range(400)]
    path = archive(tmp_path / "a.tgz", {"train.csv": text(*rows)})
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(InputError, match="cannot be read"):
        read_dialogues(path)


@pytest.mark.parametrize("content", [b"not an archive", b""])
def test_what_is_no_archive_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.tar.gz").write_bytes(content)
    with pytest.raises(InputError, match="cannot be read"):
        read_dialogues(tmp_path / "a.tar.gz")


def test_missing_columns_are_named(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("conv_id,utterance_idx,context\nc,1,sad\n")
    with pytest.raises(InputError, match="'prompt', 'speaker_idx', 'utterance' are missing"):
        read_dialogues(path)


def test_another_encoding_is_said_with_the_row(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_bytes(text(*FOUR, row("c", 1, 1, "Café")).encode("latin-1"))
    with pytest.raises(InputError, match="train.csv row 6: the text is not UTF-8"):
        read_dialogues(path)
    path.write_bytes(text(*FOUR).encode("utf-16"))
    with pytest.raises(InputError, match="UTF-16"):
        read_dialogues(path)


def test_a_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text(*FOUR).replace("\n", "\r\n").encode())
    assert read_dialogues(path).notes == ()


def test_a_reply_of_a_megabyte_is_kept_whole(tmp_path: Path) -> None:
    release = read(tmp_path, FOUR[0], FOUR[1].replace("Does it float?", "far " * 300_000 + "off"))
    assert len(release.replies[0].text) == 1_200_003


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_file_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "train.csv"
    path.write_text(content)
    with pytest.raises(InputError, match="the file is empty"):
        read_dialogues(path)


def test_a_file_of_broken_rows_only_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no usable conversation.*too few cells"):
        read(tmp_path, "c,1,sad")


@pytest.mark.parametrize("name", ["nowhere.csv", "nowhere", "nowhere.tar.gz"])
def test_a_path_that_is_not_there_is_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        read_dialogues(tmp_path / name)


def test_a_folder_or_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no train.csv, valid.csv or test.csv here"):
        read_dialogues(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match="not an archive"):
        read_dialogues(tmp_path / "notes.txt")


def test_impossible_options_are_refused(tmp_path: Path) -> None:
    path = one_file(tmp_path, *FOUR)
    with pytest.raises(InputError, match="1 or more"):
        read_dialogues(path, turns=0)
    with pytest.raises(UnknownName, match="Did you mean 'train'"):
        read_dialogues(path, splits=("trian",))
    with pytest.raises(InputError, match="no split is chosen"):
        read_dialogues(path, splits=())
