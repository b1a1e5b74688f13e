"""Lists of phrases: what they find in each language, and what they leave alone."""

from __future__ import annotations

import pytest

from empathylab.models import Completion
from empathylab.study.design.ethics import live_notes
from empathylab.study.live.safety import crisis_words, reply_problem
from tests.study.live.examples import RECIPIENT, recipient

FOUND = {
    "en": ("I want to die", "Nobody loves you.", "As an AI, I hear you.", "I can't assist you."),
    "de": (
        "Ich will sterben",
        "Niemand liebt dich.",
        "Ich bin eine KI.",
        "Dabei kann ich nicht helfen.",
    ),
    "zh": ("我不想活了", "没有人爱你。", "作为人工智能，我理解。", "抱歉，我无法回答。"),
    "es": ("quiero morir", "Nadie te quiere.", "Soy una IA.", "Lo siento, pero no puedo ayudarte."),
    "fr": (
        "je veux mourir",
        "Personne ne t’aime.",
        "Je suis une IA.",
        "Je ne peux pas vous aider.",
    ),
    "pt": ("quero morrer", "Ninguém te ama.", "Sou uma IA.", "Desculpe, mas não posso ajudar."),
    "ja": (
        "もう死にたいです",
        "死ねばいいのに。",
        "私はAIです。",
        "その質問にはお答えできません。",
    ),
    "ko": (
        "죽고 싶어요",
        "아무도 당신을 사랑하지 않아요.",
        "저는 AI입니다.",
        "도와드릴 수 없습니다.",
    ),
    "ar": ("أفكر في الانتحار", "لا أحد يحبك.", "أنا نموذج لغوي.", "لا يمكنني مساعدتك."),
}
KIND = {
    "en": "That sounds hard. I am glad that you told me, and I hope the next days are easier.",
    "de": "Das klingt schwer. Danke, dass Sie davon erzählen; das ist nicht leicht.",
    "zh": "听起来很难过。谢谢你告诉我，希望你慢慢好起来。",
    "es": "Suena muy difícil. Gracias por contármelo; espero que te sientas mejor.",
    "fr": "Cela semble très dur. Merci de me l’avoir raconté ; prenez soin de vous.",
    "pt": "Isso parece muito difícil. Obrigada por me contar; espero que melhore.",
    "ja": "それはつらかったですね。話してくれてありがとうございます。",
    "ko": "정말 힘드셨겠어요. 이야기해 주셔서 고맙습니다.",
    "ar": "يبدو هذا صعبا جدا. شكرا لأنك أخبرتني، وأتمنى لك أياما أفضل.",
}


@pytest.mark.parametrize("language", FOUND)
def test_each_list_finds_what_is_said_plainly_in_each_language(language: str) -> None:
    live = recipient().live
    assert live is not None
    crisis, unsafe, identity, refusal = FOUND[language]
    assert crisis_words(crisis, language)
    replies = {"unsafe": unsafe, "identity": identity, "refusal": refusal}
    for check, text in replies.items():
        assert reply_problem(live, Completion(text), "", "", language) == check
    assert reply_problem(live, Completion(KIND[language]), "", "", language) is None
    assert not crisis_words(KIND[language], language)


def test_the_check_warns_of_languages_without_lists() -> None:
    known = recipient(RECIPIENT.replace("languages: [en]", "languages: [ko]"))
    assert not any("phrases" in note for note in live_notes(known))
    study = recipient(RECIPIENT.replace("languages: [en]", "languages: [fi]"))
    notes = " ".join(live_notes(study))
    for words in ("crisis words in fi", "'unsafe' has no phrases in fi", "'refusal' has no"):
        assert words in notes
