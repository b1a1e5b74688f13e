"""The study files to begin with."""

from __future__ import annotations

import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.scales import builtin_scales
from empathylab.situations import builtin_set
from empathylab.study import PRESETS, Study, parse_study, preset_text
from empathylab.study.blocks.attention import Attention
from empathylab.study.blocks.consent import Consent
from empathylab.study.blocks.scale import ScaleBlock
from empathylab.study.blocks.tutorial import Tutorial
from empathylab.study.design.definition import Situations
from empathylab.study.design.materials import choose_situations
from empathylab.study.design.planning import needed_raters
from tests.study.examples import SITUATION_PRESETS, between, scales


def study_of(name: str) -> Study:
    return parse_study(preset_text(name), file=f"{name}.yaml")


def situations_of(study: Study) -> list[str]:
    wanted = study.situations
    offered = () if wanted is None else builtin_set(str(wanted.set))
    return [situation.id for situation in choose_situations(study, offered)]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_study_of_its_own_name(name: str) -> None:
    assert study_of(name).name == name


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_cares_for_its_raters(name: str) -> None:
    study = study_of(name)
    assert study.content_note is not None
    assert study.help is not None
    assert study.contact is not None
    consent, debrief = study.blocks[0], study.blocks[-1]
    assert isinstance(consent, Consent)
    assert "voluntary" in consent.text.in_language("en")
    assert debrief.kind == "debrief"


@pytest.mark.parametrize("name", SITUATION_PRESETS)
def test_a_preset_has_worked_examples_and_two_attempts_at_its_check(name: str) -> None:
    [tutorial] = [block for block in study_of(name).blocks if isinstance(block, Tutorial)]
    assert len(tutorial.examples) >= 2
    assert tutorial.check is not None
    assert tutorial.check.attempts == 2
    assert all(question.explanation for question in tutorial.check.questions)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_checks_attention_and_says_beforehand_whom_it_excludes(name: str) -> None:
    study = study_of(name)
    assert any(isinstance(block, Attention) for block in study.blocks)
    assert {exclusion["rule"] for exclusion in study.exclusions} >= {"failed attention", "too fast"}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_can_be_launched_once_its_replies_and_wording_are_there(name: str) -> None:
    study = study_of(name)
    chosen = situations_of(study)
    plan = needed_raters(study, chosen, dict.fromkeys(study.arms, chosen), scales())
    assert plan.problems == ()


def test_the_presets_need_the_raters_that_their_comments_say() -> None:
    raters = {}
    for name in PRESETS:
        study = study_of(name)
        chosen = situations_of(study)
        plan = needed_raters(study, chosen, dict.fromkeys(study.arms, chosen), scales())
        raters[name] = plan.raters
    # 2 arms × 128 / 8; 36 posts × 3 / 6; 108 situations × 3; 180 situations × 40 / 15; 2 × 2 × 60;
    # 2 × 60; 120
    assert raters == {
        "between-subjects": 32,
        "within-subjects": 18,
        "appraisal": 324,
        "norming": 480,
        "recipient": 240,
        "chat": 120,
        "peer": 120,
    }


def test_the_published_flow_has_the_tutorial_before_the_questionnaire() -> None:
    # Welivita & Pu (2024): consent, tutorial with worked examples, TEQ, ratings.
    kinds = [block.kind for block in study_of("between-subjects").blocks]
    assert kinds.index("tutorial") < kinds.index("scale") < kinds.index("rate")
    [tutorial] = [
        block for block in study_of("between-subjects").blocks if isinstance(block, Tutorial)
    ]
    assert len(tutorial.examples) == 6


def test_the_same_feelings_are_asked_before_and_after_imagining() -> None:
    asked = [block for block in study_of("appraisal").blocks if isinstance(block, ScaleBlock)]
    assert [(item.scale, item.phase) for item in asked] == [
        ("panas", "default"),
        ("panas", "evoked"),
    ]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_names_scales_and_sets_that_exist(name: str) -> None:
    study = study_of(name)
    assert situations_of(study) or study.live is not None
    for block in study.blocks:
        if isinstance(block, ScaleBlock):
            bundled = {scale.id for scale in block.bundled_scales}
            assert block.scale in {*builtin_scales(), *bundled}


def test_an_unknown_preset_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'between-subjects'"):
        preset_text("between")


POSTS = builtin_set("posts")


def chosen(**wanted: object) -> list[str]:
    study = between(situations=Situations(set="posts", **wanted))  # type: ignore[arg-type]
    return [situation.id for situation in choose_situations(study, POSTS)]


def test_without_a_wish_all_situations_are_used() -> None:
    assert chosen() == [post.id for post in POSTS]


def test_so_many_are_drawn_from_each_topic() -> None:
    found = chosen(per_topic=2)
    assert len(found) == 12
    topics = [post.topic for post in POSTS if post.id in found]
    assert {topics.count(topic) for topic in POSTS.topics} == {2}


def test_topics_can_have_numbers_of_their_own() -> None:
    found = chosen(per_topic={"parenting": 3, "anger": 1})
    topics = [post.topic for post in POSTS if post.id in found]
    assert (topics.count("parenting"), topics.count("anger"), len(topics)) == (3, 1, 4)


def test_a_number_in_total_is_drawn_by_the_seed() -> None:
    assert len(chosen(count=5)) == 5
    assert chosen(count=5) == chosen(count=5)
    study = between(situations=Situations(set="posts", count=5), seed=8)
    assert [situation.id for situation in choose_situations(study, POSTS)] != chosen(count=5)


def test_only_pleasant_situations_can_be_used() -> None:
    dialogues = builtin_set("dialogues")
    study = between(situations=Situations(set="dialogues", valence="positive"))
    assert {situation.valence for situation in choose_situations(study, dialogues)} == {"positive"}


def test_an_unknown_topic_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no topic 'parentings'. Did you mean 'parenting'"):
        chosen(per_topic={"parentings": 1})


def test_more_than_there_is_cannot_be_drawn() -> None:
    with pytest.raises(
        InputError, match="asks for 99 situations of topic parenting, but there are 8"
    ):
        chosen(per_topic={"parenting": 99})
    with pytest.raises(InputError, match="asks for 99 situations, but there are 48"):
        chosen(count=99)


def test_an_empty_set_is_refused() -> None:
    with pytest.raises(InputError, match="asks for 1 situations, but there are 0"):
        choose_situations(between(situations=Situations(set="posts")), ())
