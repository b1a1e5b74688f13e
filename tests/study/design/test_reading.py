"""A study's file: what is read, and what each mistake is answered with."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.errors import InputError, UnknownName, UserError
from empathylab.study import parse_study, read_study
from empathylab.study.blocks.demographics import Demographics
from empathylab.study.blocks.rate import Rate
from empathylab.study.blocks.tutorial import Tutorial
from tests.study.examples import APPRAISAL, BETWEEN, appraisal, between


def refused(text: str) -> str:
    with pytest.raises(UserError) as error:
        parse_study(text, file="study.yaml")
    return str(error.value)


def changed(old: str, new: str, text: str = BETWEEN) -> str:
    assert text.count(old) >= 1
    return text.replace(old, new, 1)


def line_of(part: str, text: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "my study.yaml"
    path.write_text(BETWEEN, encoding="utf-8")
    study = read_study(path)
    assert study.name == "small"
    assert list(study.arms) == ["one", "two"]
    assert [block.kind for block in study.blocks] == [
        *("consent", "demographics", "tutorial", "scale", "rate", "attention", "comment"),
        "debrief",
    ]


def test_what_is_left_out_has_its_default() -> None:
    study = appraisal()
    assert (study.design, study.batch_size, study.repeats) == ("between", 1, 3)
    assert study.time_limits.abandon_after == 60
    assert study.retention.platform_ids == 90


def test_a_check_has_two_attempts_unless_told() -> None:
    tutorial = next(block for block in between().blocks if isinstance(block, Tutorial))
    assert tutorial.check is not None
    assert (tutorial.check.attempts, tutorial.check.needed) == (2, 2)


def test_blocks_of_one_kind_are_distinguished_by_a_number() -> None:
    text = changed(
        "  - block: comment\n", "  - block: comment\n    text: Well?\n  - block: comment\n"
    )
    assert [block.id for block in parse_study(text).blocks][-3:] == [
        "comment",
        "comment-2",
        "debrief",
    ]


def test_a_no_among_the_options_stays_a_no() -> None:
    text = changed("options: [female, male, other]", "options: [yes, No, 3, 2024-01-01]")
    block = next(block for block in parse_study(text).blocks if isinstance(block, Demographics))
    assert block.fields[1].values == ("yes", "No", "3", "2024-01-01")


def test_points_may_bear_numbers_only_between_their_ends() -> None:
    text = changed("labels: [Bad, Okay, Good]", 'labels: [Low, "", High]\n    values: [0, 1, 2]')
    [dimension] = parse_study(text).dimensions
    assert dimension.values == (0, 1, 2)
    assert dimension.labels[1] is None


def test_every_language_needs_its_text() -> None:
    text = changed("languages: [en]", "languages: [en, de]")
    assert refused(text).startswith(
        "study.yaml line 3: 'title' must be a table with a text in each language: en, de"
    )


def test_texts_are_said_in_the_language_asked_for() -> None:
    text = changed("title: Feelings", "title: {de: Gefühle, en: Feelings}", APPRAISAL)
    text = text.replace("languages: [en]", "languages: [en, de]")
    for old in ("Take part?", "Imagine it", "Thank you"):
        text = text.replace(f"text: {old}", f"text: {{en: '{old}', de: '{old}'}}")
    study = parse_study(text)
    assert study.title.in_language("de") == "Gefühle"
    assert study.title.in_language("fr") == "Feelings"


def test_an_unknown_key_is_named_with_its_line_and_the_nearest() -> None:
    text = changed("    text: Anything else?", "    text: Anything else?\n    requierd: true")
    assert refused(text) == (
        f"study.yaml line {line_of('requierd', text)}: there is no key 'requierd'. "
        "Did you mean 'required'?"
    )


def test_an_unknown_block_is_answered_with_the_nearest() -> None:
    message = refused(changed("block: tutorial", "block: tutorail"))
    assert "there is no block 'tutorail'. Did you mean 'tutorial'?" in message


def test_a_missing_key_names_the_table() -> None:
    message = refused(changed("    text: Anything else?\n", ""))
    assert "the key 'text' is missing in 'blocks[7]'. Add text." in message


def test_a_key_written_twice_is_refused() -> None:
    message = refused(changed("seed: 7", "seed: 7\nseed: 8"))
    assert "line 7: the key 'seed' is given twice; first in line 6" in message


def test_references_are_refused() -> None:
    text = changed("title: A small study", "title: &t A small study")
    text = text.replace("text: Take part?", "text: *t")
    assert "references (*name) are not allowed in a study file; got '*t'" in refused(text)


def test_a_short_file_that_would_grow_without_end_is_refused() -> None:
    lines = ["a: &a [x, x]"] + [
        f"{new}: &{new} [*{old}, *{old}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    assert "references" in refused("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "study.yaml: the file is empty"),
        ("- a\n- b\n", "the file must be a table of keys and values; got 'a list'. Write lines"),
        ("name: [a\n", "study.yaml line 2: this is not valid YAML"),
        ("a: 1\n b: 2\n", "put a text with characters"),
        ("a:\n  b: 1\n c: 2\n", "line 3: this is not valid YAML: expected <block end>"),
        ("a:\n  b: 1\n c: 2\n", "Check the indentation: keys of one level begin in the same"),
        ("a:\n\tb: 1\n", "Replace the tab with spaces"),
        ("name: !!python/object:os.system x\n", "this is not valid YAML"),
        ("[" * 3000 + "]" * 3000, "nested too deeply"),
        ("name: \x07", "this is not valid YAML"),
        ("a: 1\n---\nb: 2\n", "this is not valid YAML"),
        ("? [a]\n: 1\n", "a key must be text"),
        ("x" * 2_000_001, "longer than 2,000,000 characters"),
    ],
)
def test_what_is_no_study_at_all_is_refused(text: str, message: str) -> None:
    assert message in refused(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: small", "name: My Study", "'name' must be lower-case letters, digits and hyphens"),
        ("version: 1", "version: one", "'version' must be a whole number; got 'one'"),
        ("version: 1", "version: true", "'version' must be a whole number; got 'true'"),
        ("seed: 7", "seed: -1", "'seed' must be 0 or more; got '-1'"),
        ("languages: [en]", "languages: [English]", "'languages[1]' must be a language such as en"),
        ("languages: [en]", "languages: en", "'languages' must be a list; got 'en'"),
        ("design: between", "design: beetween", "Did you mean 'between'?"),
        ("title: A small study", "title:", "'title' must be text that is not empty; got 'nothing'"),
        ("  one: first/model", "  everyone: a/b", "not 'everyone'; got 'everyone'"),
        ("  one: first/model", "  a/b: c", "an arm's name must be letters"),
        ("  two: second/model", "  two: first/model", "'one' and 'two' show the same responses"),
        ("{set: dialogues, count: 6}", "{count: 6}", "given as a set or as a selection"),
        ("count: 6", "per_topic: 1, per_emotion: 2", "left out where there is 'per_emotion'"),
        ("batch_size: 2", "batch_size: 0", "'batch_size' must be 1 or more; got '0'"),
        ("ratings_per_response: 2", "people_per_situation: 2", "Use ratings_per_response."),
        ("labels: [Bad, Okay, Good]", "labels: [Bad]", "must be a list of 2 or more; got 1"),
        ("labels: [Bad, Okay, Good]", 'labels: ["", Good]', "first and last labels are not empty"),
        ("labels: [Bad,", "values: [1, 3, 2]\n    labels: [Bad,", "3 numbers in rising order"),
        ("platform: open", "platform: prolofic", "Did you mean 'prolific'?"),
        ("platform: open", "platform: prolific", "'recruitment.codes' must be given for Prolific"),
        ("platform: open", "platform: sona, return_url: 'http://x'", "begins with https://"),
        ("kind: text", "kind: text, options: [a, b]", "there is no key 'options'"),
        ("kind: text", "kind: text, minimum: 1", "there is no key 'minimum'"),
        ("[female, male, other]", "[female, female]", "two options 'female'"),
        ("name: town", "name: sex", "two questions of the name 'sex'"),
        ("    after: 1", "", "'blocks[6].after' must be given together"),
        ("    after: 1", "    after: 2", "must be less than the 2 items of a batch; got 2"),
        ("    inside: rate", "    inside: rat", "Did you mean 'rate'?"),
        ('answer: "No"', "answer: Nope", "there is no option 'Nope'. Did you mean 'No'?"),
        ("shows: [emotion,", "shows: [arm,", "'blocks[5].shows[1]': there is no value 'arm'"),
        ("shows: [emotion,", "dimensions: [warmth]\n    shows: [emotion,", "no dimension 'warmth'"),
        (
            "    scale: teq",
            "    scale: teq\n    phase: evoked",
            "after a situation has been imagined",
        ),
        ("  - block: comment", "  - block: rate\n  - block: comment", "there are 2 blocks rate"),
        ("  - block: comment", "  - block: imagine", "imagines one situation"),
        ("  - block: comment", "  - block: debrief", "there are 2 blocks debrief"),
        ("    text: Anything else?", "    id: rate\n    text: x", "two blocks have the id 'rate'"),
        ("seed: 7", "seed: 7\nreplies_per_situation: one", "left out in a between-subjects design"),
    ],
)
def test_a_mistake_is_answered_with_what_is_wrong(old: str, new: str, message: str) -> None:
    answer = refused(changed(old, new))
    assert message in answer
    assert answer.startswith("study.yaml line ")


def test_the_consent_comes_first_and_the_debriefing_last() -> None:
    consent = "  - block: consent\n    text: Take part?\n"
    assert "the block consent: it comes first; got 'demographics'" in refused(changed(consent, ""))
    debrief = "  - block: debrief\n    text: Thank you\n"
    assert "the block debrief: it comes last; got 'comment'" in refused(changed(debrief, ""))


def test_a_study_without_work_is_refused() -> None:
    text = APPRAISAL[: APPRAISAL.index("  - block: scale")] + "  - block: debrief\n    text: Bye\n"
    assert "a block rate, imagine or write" in refused(text)


def test_arms_without_ratings_are_refused() -> None:
    message = refused(changed("seed: 3", "seed: 3\narms: {a: b/c}", APPRAISAL))
    assert "'arms' must be left out where no responses are rated" in message


def test_ratings_without_arms_or_dimensions_are_refused() -> None:
    arms = "arms:\n  one: first/model\n  two: second/model\n"
    assert "'arms' must be given where responses are rated" in refused(changed(arms, ""))
    start, end = BETWEEN.index("dimensions:"), BETWEEN.index("recruitment:")
    assert "'dimensions' must be given" in refused(BETWEEN[:start] + BETWEEN[end:])


def test_nobody_imagines_two_situations() -> None:
    message = refused(changed("seed: 3", "seed: 3\nbatch_size: 2", APPRAISAL))
    assert "Set batch_size to 1, or remove it." in message


def test_one_reply_to_a_situation_needs_batches_that_hold_all_arms() -> None:
    text = changed("design: between", "design: within\nreplies_per_situation: one")
    assert "'batch_size' must be a multiple of the number of arms, 2" in refused(
        text.replace("batch_size: 2", "batch_size: 3")
    )


def test_a_design_within_subjects_needs_two_arms() -> None:
    text = changed("design: between", "design: within").replace("  two: second/model\n", "")
    assert "two or more arms in a within-subjects design; got 1" in refused(text)


QUOTA = "quotas:\n  - by: sex\n    counts: {female: 3, male: 3}\nrecruitment:"


def test_quotas_are_read() -> None:
    [quota] = parse_study(changed("recruitment:", QUOTA)).quotas
    assert (quota.by, quota.counts, quota.others) == ("sex", {"female": 3, "male": 3}, None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("by: sex", "by: gender", "there is no question 'gender'"),
        ("by: sex", "by: age", "by a required choice, and 'age' is not one"),
        ("female: 3", "femal: 3", "there is no option 'femal'. Did you mean 'female'"),
        ("counts: {female: 3, male: 3}", "shares: {female: 0.7, male: 0.7}", "add up to 1 at most"),
        ("counts: {female: 3, male: 3}", "others: 3", "given with counts or with shares"),
        ("  - by: sex", "  - {by: sex, counts: {male: 1}}\n  - by: sex", "two quotas by 'sex'"),
    ],
)
def test_quotas_that_fit_no_question_are_refused(old: str, new: str, message: str) -> None:
    assert message in refused(changed("recruitment:", QUOTA.replace(old, new, 1)))


def test_a_quota_may_go_by_what_the_platform_tells() -> None:
    quota = QUOTA.replace("by: sex", "by: country\n    source: platform").replace("female", "NL")
    assert parse_study(changed("recruitment:", quota)).quotas[0].source == "platform"


RULES = "exclusions:\n  - rule: too fast\n    seconds: 60\nrecruitment:"


def test_exclusion_rules_are_kept_as_they_are_declared() -> None:
    study = parse_study(changed("recruitment:", RULES))
    assert study.exclusions == ({"rule": "too fast", "seconds": 60},)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("too fast", "to fast", "Did you mean 'too fast'?"),
        ("seconds: 60", "second: 60", "Did you mean 'seconds'?"),
        ("seconds: 60", "seconds: -1", "above 0"),
        ("seconds: 60", "seconds: soon", "a rule whose settings are numbers"),
        ("- rule: too fast\n    seconds: 60", "- too fast", "begins with the key 'rule'"),
    ],
)
def test_a_wrong_exclusion_rule_is_refused_at_its_line(old: str, new: str, message: str) -> None:
    text = changed("recruitment:", RULES.replace(old, new))
    answer = refused(text)
    assert message in answer
    assert answer.startswith(f"study.yaml line {line_of('exclusions:', text) + 1}: ")


def test_completion_codes_must_differ() -> None:
    codes = "{platform: prolific, codes: {completed: AAA, no-consent: AAA}}"
    message = refused(changed("{platform: open}", codes))
    assert "'recruitment.codes.no-consent' must be a code that no other outcome has" in message


def test_a_code_that_could_break_a_link_is_refused() -> None:
    codes = "{platform: prolific, codes: {completed: 'A&B'}}"
    assert "letters, digits, hyphens and underscores" in refused(changed("{platform: open}", codes))


def test_an_unknown_outcome_is_answered_with_the_nearest() -> None:
    codes = "{platform: prolific, codes: {complete: AB}}"
    assert "Did you mean 'completed'?" in refused(changed("{platform: open}", codes))


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_study(tmp_path / "none.yaml")


def test_rate_names_its_dimensions() -> None:
    text = changed("    shows: [emotion,", "    dimensions: [empathy]\n    shows: [emotion,")
    block = next(block for block in parse_study(text).blocks if isinstance(block, Rate))
    assert block.dimensions == ("empathy",)


LINES = BETWEEN.splitlines()


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, len(LINES) - 1),
    st.sampled_from(["", "x", "a: b", "- x", "  - block: rate", "null", "[", "name: 3", "\t", "'"]),
    st.booleans(),
)
def test_a_broken_line_never_ends_in_a_traceback(number: int, line: str, replace: bool) -> None:
    lines = [*LINES[:number], line, *LINES[number + replace :]]
    with contextlib.suppress(UserError):
        parse_study("\n".join(lines), file="study.yaml")


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="ab:-[]{}#&*!|>'\"%@ \n\t0~", max_size=60))
def test_any_text_is_answered_and_not_crashed_on(text: str) -> None:
    with pytest.raises(UserError):
        parse_study(text, file="study.yaml")


def test_an_unknown_name_is_that_kind_of_error() -> None:
    with pytest.raises(UnknownName):
        parse_study(changed("seed: 7", "sead: 7\nseed: 7"))
