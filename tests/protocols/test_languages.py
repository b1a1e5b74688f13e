"""Telling another language from the expected one; short texts stay undecided."""

from __future__ import annotations

import pytest

from empathylab.protocols.languages import departs_from

SENTENCES = {
    "ar": "أنا آسف جدا لما حدث لك اليوم",
    "de": "Das tut mir so leid, ich bin für dich da, wenn du noch reden möchtest.",
    "el": "Λυπάμαι πολύ που το ακούω αυτό σήμερα",
    "en": "I am so sorry to hear that, and I would love to know how you are now.",
    "es": "Lo siento mucho, eso es muy difícil y estoy aquí para ti cuando quieras hablar.",
    "fr": "Je suis désolé pour toi, c'est très dur et je pense à toi dans ce moment.",
    "he": "אני כל כך מצטער לשמוע את זה",
    "hi": "मुझे यह सुनकर बहुत दुख हुआ",
    "id": "Saya sangat sedih mendengar itu dan saya ada di sini untuk kamu.",
    "it": "Mi dispiace molto, è davvero difficile e sono qui se hai bisogno di parlare.",
    "ja": "それはとても辛かったですね。話を聞かせてください。",
    "ko": "정말 힘들었겠어요. 제가 옆에 있을게요.",
    "nl": "Het spijt me zo voor je, ik ben er als je nog wat wilt praten.",
    "pl": "Bardzo mi przykro, że to się stało, jestem tu dla ciebie i nie jesteś z tym sam.",
    "pt": "Sinto muito, isso é muito difícil e eu estou aqui para você quando precisar.",
    "ru": "Мне очень жаль это слышать, я рядом",
    "sv": "Jag är så ledsen för det, och jag finns här om du vill prata mer med mig.",
    "th": "ฉันเสียใจด้วยจริงๆ กับสิ่งที่เกิดขึ้น",
    "tr": "Bunun için çok üzgünüm, ben buradayım ve sana her zaman bir omuz var.",
    "zh": "听到这个消息我很难过，我在这里陪你。",
}
LATIN = ("de", "en", "es", "fr", "id", "it", "nl", "pl", "pt", "sv", "tr")


@pytest.mark.parametrize("code", SENTENCES)
def test_a_sentence_is_in_its_own_language(code: str) -> None:
    assert departs_from(SENTENCES[code], code) is None


@pytest.mark.parametrize("code", [code for code in SENTENCES if code != "en"])
def test_a_sentence_in_another_language_is_not_english(code: str) -> None:
    said = departs_from(SENTENCES[code], "en")
    assert said is not None
    assert said.endswith("not in English")


@pytest.mark.parametrize("code", [code for code in SENTENCES if code != "en"])
def test_english_is_none_of_the_others(code: str) -> None:
    assert departs_from(SENTENCES["en"], code) is not None


@pytest.mark.parametrize("code", LATIN)
def test_neighbours_in_one_script_are_distinguished(code: str) -> None:
    for other in set(LATIN) - {code, "en"}:
        assert departs_from(SENTENCES[other], code) is not None, (other, code)


@pytest.mark.parametrize(
    "text", ["", "Qué pena, amigo.", "C'est la vie!", "🙂 42 …", "Ñandú, café, naïve, Zürich"]
)
def test_short_texts_and_loan_words_are_undecided(text: str) -> None:
    assert departs_from(text, "en") is None


def test_a_text_that_slips_into_another_script_is_found() -> None:
    assert departs_from("I am so sorry. 听到这个消息我很难过", "en") is not None


def test_one_foreign_name_is_no_other_language() -> None:
    text = "I think Мария would have loved to hear you say that about her garden."
    assert departs_from(text, "en") is None


def test_regions_of_a_language_are_that_language() -> None:
    assert departs_from(SENTENCES["pt"], "pt-BR") is None
    assert departs_from(SENTENCES["de"], "en_GB") is not None


def test_a_language_that_the_rule_does_not_know_is_undecided() -> None:
    assert departs_from(SENTENCES["en"], "sw") is None
