"""Replies, refusals, number words and prompts in the languages other than English."""

from __future__ import annotations

from string import Formatter

import pytest

from empathylab.errors import InputError
from empathylab.protocols import (
    QUESTIONNAIRE,
    REPLY_TEMPLATES,
    Expected,
    check_reply,
    reply_template,
)
from empathylab.protocols.languages import departs_from
from empathylab.protocols.reply_templates import TRANSLATED_TEMPLATES, in_language
from empathylab.protocols.templates import range_text
from empathylab.protocols.translations import questionnaire_in_language
from empathylab.scales import builtin_scale, looks_like_refusal, parse_answer
from empathylab.scales.answer_languages import answer_language, answer_languages
from empathylab.situations import builtin_set

LANGUAGES = ("de", "es", "fr", "ja", "ko", "zh")

VALID = {
    "de": "Das tut mir wirklich leid. Es muss sich furchtbar leer anfühlen, für vier zu kochen, "
    "wenn nur noch drei da sind.",
    "es": "Lo siento mucho, de verdad. Es normal que eches de menos a tu hijo en la cena; estoy "
    "aquí si quieres hablar.",
    "fr": "Je suis vraiment désolé pour toi. Ce n'est pas facile de voir cette assiette rester "
    "dans le placard.",
    "ja": "それはさみしいですね。いつもの席が空いていると、胸がぎゅっとなりますよね。"
    "よかったら話を聞かせてください。",
    "ko": "정말 허전하시겠어요. 아들의 자리가 비어 있는 걸 보면 마음이 아프지요. "
    "언제든 이야기해 주세요.",
    "zh": "听起来你心里一定空落落的。孩子离开家，看着他的盘子，谁都会难过。想聊的话我随时都在。",
}
REFUSED = {
    "de": "Es tut mir leid, aber ich kann diese Fragen nicht beantworten.",
    "es": "Lo siento, pero no puedo responder a estas preguntas.",
    "fr": "Désolé, mais je ne peux pas répondre à ces questions.",
    "ja": "申し訳ありませんが、そのご質問にはお答えできません。",
    "ko": "죄송하지만 이 질문에는 답변을 드릴 수 없습니다.",
    "zh": "抱歉，我无法回答这些问题。",
}
MACHINE = {
    "de": "Als KI kann ich das nicht fühlen, aber es klingt schwer für dich.",
    "es": "Como modelo de lenguaje no puedo sentirlo, pero suena muy duro para ti.",
    "fr": "En tant qu'intelligence artificielle, je ne peux pas le sentir, mais cela semble dur.",
    "ja": "私はAIなので同じようには感じられませんが、つらい出来事だったと思います。",
    "ko": "저는 인공지능이라서 똑같이 느낄 수는 없지만 정말 힘드셨을 것 같아요.",
    "zh": "作为一个人工智能，我不能真正体会，但这听起来很不容易。",
}
NO_FEELINGS = {
    "de": "Ich habe keine Gefühle.",
    "es": "No tengo sentimientos.",
    "fr": "Je n'ai pas de sentiments.",
    "ja": "私は感情を持っていません。",
    "ko": "저는 감정이 없습니다.",
    "zh": "我没有情感。",
}
LABELLED = {
    "de": "Antwort: Das klingt wirklich schwer für dich und deine Familie.",
    "es": "Respuesta: Eso suena muy difícil para ti y para tu familia.",
    "fr": "Réponse : Cela semble vraiment difficile pour toi et ta famille.",
    "ja": "返信：それは本当につらかったですね。いつでも話を聞きます。",
    "ko": "답변: 정말 힘드셨겠어요. 언제든 이야기해 주세요.",
    "zh": "回复：这听起来真的很不容易，我一直都在。",
}
ANSWERS = {
    "de": "Frage 1: drei\nFrage 2: vier Punkte\nFrage 3: eins",
    "es": "Pregunta 1: tres\nPregunta 2: cuatro puntos\nPregunta 3: uno",
    "fr": "Question 1 : trois\nQuestion 2 : quatre points\nQuestion 3 : un",
    "ja": "第1問：三\n第2問：4点\n第3問：一",
    "ko": "1번: 삼\n2번: 4점\n3번: 하나",
    "zh": "第1题：三\n第2题：4分\n第3题：一",
}


def outcome(text: str, language: str) -> str:
    return check_reply(text, Expected(("…",), 2, 97, language)).outcome


def test_every_language_has_its_words() -> None:
    assert tuple(answer_languages()) == LANGUAGES
    german = answer_language("de-AT")
    assert german is not None
    assert german.code == "de"
    assert answer_language("en") is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_reply_in_the_language_of_the_situation_is_valid(language: str) -> None:
    assert check_reply(VALID[language], Expected(("…",), 2, 97, language)) == ("valid", None)
    assert not looks_like_refusal(VALID[language])
    assert outcome(VALID[language], "en") == "wrong_language"


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_english_reply_is_in_the_wrong_language(language: str) -> None:
    english = "I am so sorry that you have to go through this, and I am here for you."
    assert outcome(english, language) == "wrong_language"


@pytest.mark.parametrize("language", LANGUAGES)
def test_refusals_are_recognised(language: str) -> None:
    assert outcome(REFUSED[language], language) == "refusal"
    assert looks_like_refusal(REFUSED[language])
    assert looks_like_refusal(NO_FEELINGS[language])


@pytest.mark.parametrize("language", LANGUAGES)
def test_talk_about_the_writer_or_the_task_is_recognised(language: str) -> None:
    assert outcome(MACHINE[language], language) == "meta_talk"
    assert outcome(LABELLED[language], language) == "meta_talk"
    assert not looks_like_refusal(MACHINE[language])


@pytest.mark.parametrize("language", LANGUAGES)
def test_number_words_are_read(language: str) -> None:
    parsed = parse_answer(ANSWERS[language], builtin_scale("panas"), (7, 2, 5))
    assert (parsed.outcome, parsed.values) == ("valid", {7: 3, 2: 4, 5: 1})


@pytest.mark.parametrize(
    ("text", "value"),
    [("我的答案是4", 4), ("私の回答は2です", 2), ("Meine Antwort: fünf", 5), ("둘", 2)],
)
def test_one_answer_in_a_sentence(text: str, value: int | None) -> None:
    parsed = parse_answer(text, builtin_scale("panas"), (1,))
    assert parsed.values == ({} if value is None else {1: value})


def test_a_chinese_reply_is_not_japanese_and_a_loop_is_seen_without_spaces() -> None:
    assert outcome(VALID["zh"], "ja") == "wrong_language"
    assert outcome("我很难过" * 10, "zh") == "repetition"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_built_in_template_is_translated_with_the_same_blanks(language: str) -> None:
    for name, english in REPLY_TEMPLATES.items():
        translated = in_language(english, f"{language}-XX")
        assert translated == TRANSLATED_TEMPLATES[f"{name}-{language}"]
        assert reply_template(translated.id) == translated
        assert translated.sees == english.sees
        for blank in ("{words}", "{least_words}", "{most_words}", "{situation}"):
            assert (blank in translated.system) == (blank in english.system), (name, blank)


def test_a_template_of_ones_own_and_an_earlier_version_stay_as_they_are() -> None:
    earlier = reply_template("empathic-listener@1")
    assert in_language(earlier, "de") == earlier
    assert in_language(REPLY_TEMPLATES["plain-listener"], "fi").id == "plain-listener"


@pytest.mark.parametrize("language", ["de", "zh"])
@pytest.mark.parametrize("name", ["appraisal", "dialogues"])
def test_translated_situations_follow_their_originals(name: str, language: str) -> None:
    translated = builtin_set(f"{name}-{language}")
    originals = {situation.id: situation for situation in builtin_set(f"{name}@2")}
    assert translated.language == language
    assert "translation" in translated.description
    assert not translated.validated
    assert len(translated) == 16
    assert len(translated.emotions) == (8 if name == "appraisal" else 16)
    for situation in translated:
        original = originals[situation.id]
        for field in ("emotion", "factor", "valence", "tags"):
            assert getattr(situation, field) == getattr(original, field)
        assert (situation.counterpart is None) == (original.counterpart is None)
        said = f"{situation.text} {situation.utterance or situation.counterpart}"
        assert outcome(said, language) == "valid"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_prompts_of_scales_are_translated_with_the_same_blanks(language: str) -> None:
    translated = questionnaire_in_language(f"{language}-XX")
    assert translated.id == f"questionnaire-{language}"
    for part in ("system", "imagine", "question", "reply_free", "reply_structured", "stability"):
        english, other = (getattr(value, part) for value in (QUESTIONNAIRE, translated))
        blanks = [blank for _, blank, _, _ in Formatter().parse(english) if blank]
        assert [blank for _, blank, _, _ in Formatter().parse(other) if blank] == blanks
        assert part == "question" or other != english
    assert departs_from(f"{translated.reply_free} {translated.stability}", language) is None
    assert "Whole" not in range_text(builtin_scale("gasp"), translated)


def test_a_language_without_prompts_is_refused() -> None:
    assert questionnaire_in_language(None) == questionnaire_in_language("en-GB") == QUESTIONNAIRE
    with pytest.raises(InputError, match="Italian.*Use one of en, de, es, fr, ja, ko, zh"):
        questionnaire_in_language("it")
