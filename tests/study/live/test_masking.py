"""Personal details: what is replaced before a model reads it, what is missed, and what stays."""

from __future__ import annotations

import pytest

from empathylab.models import ScriptedModel
from empathylab.store import Lab, schema
from empathylab.study.live.masking import Masks
from empathylab.study.session.service import StudyService, launch
from tests.study.live.examples import engine_of, recipient, run_until
from tests.study.live.test_chat import CHAT
from tests.study.service_examples import Clock, rows_of, someone


@pytest.mark.parametrize(
    ("language", "text", "masked"),
    [
        ("en", "My friend Saoirse left me.", "My friend [name 1] left me."),
        ("en", "my older brother Tadeusz, he lied", "my older brother [name 1], he lied"),
        ("en", "Oluwaseun left me.", "Oluwaseun left me."),  # at the start only: missed
        ("en", "I told Nkechi that I was ill", "I told [name 1] that I was ill"),
        ("en", "Nkechi left. I miss Nkechi's voice", "[name 1] left. I miss [name 1]'s voice"),
        ("en", "I met Łukasz Żak and Björk", "I met [name 1] and [name 2]"),
        ("en", "then Владимир came", "then [name 1] came"),
        ("en", "my colleague 李雷 quit", "my colleague [name 1] quit"),
        ("en", "my sister فاطمة cried", "my sister [name 1] cried"),
        ("en", "Sarah Jane Smith, 12 High Street", "[name 1] [name 2], [address 1]"),
        ("en", "call 0171 2345678 or a@b.org", "call [number 1] or [link 1]"),
        ("de", "Meine Freundin Aylin hat Angst.", "Meine Freundin [name 1] hat Angst."),
        ("de", "Ich habe Kazimierz getroffen", "Ich habe Kazimierz getroffen"),  # missed
        ("zh", "我朋友小明走了", "我朋友[name 1]走了"),
        ("zh", "我男友李伟离开了我", "我男友[name 1]离开了我"),
        ("ja", "田中さんに言われた", "[name 1]さんに言われた"),
        ("ko", "친구 민수가 떠났다", "친구 [name 1]가 떠났다"),
        ("ar", "صديقتي اسمها مريم", "صديقتي اسمها [name 1]"),
        ("es", "le dije a Iñaki que no", "le dije a [name 1] que no"),
        ("fr", "j'ai vu Loïc hier", "j'ai vu [name 1] hier"),
        ("pt", "a minha irmã Iracema chorou", "a minha irmã [name 1] chorou"),
    ],
)
def test_names_are_replaced_by_cue_list_and_capital(language: str, text: str, masked: str) -> None:
    masks = Masks(language)
    assert masks.mask(text) == masked
    if "[name 2]" not in masked and "Nkechi left" not in text:
        assert masks.restored(masked) == text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "On Monday, in July and at Christmas, I felt alone. Then I'm fine."),
        ("en", "My English teacher and my Mum watch Netflix, thank God."),
        ("en", "He said: Please stay. “Why?” I asked, and OK, I did. PhD students know, UK or US."),
        ("en", "I think I've lost it, and I can't sleep.\nEverything is hard.\n- Nothing helps"),
        ("en", "It was 2024 and I was 35 years old."),
        ("de", "Weil mein Freund Angst hat, gehe ich am Montag zur Arbeit. Mein Hund schläft."),
        ("zh", "我很高兴，今天和妈妈去公园了。"),
        ("ja", "お母さんと赤ちゃんは元気です。"),
        ("ko", "오늘 친구를 만나서 기뻤어요."),
        ("ar", "كنت وحيدا في البيت"),
        ("es", "En Navidad estuve sola. Luego me fui."),
        ("fr", "À Noël, j’étais seule. Ensuite, je suis partie."),
        ("pt", "No Natal fiquei sozinha. Depois fui embora."),
    ],
)
def test_ordinary_words_are_not_taken_for_names(language: str, text: str) -> None:
    assert Masks(language).mask(text) == text


def test_a_placeholder_stands_for_the_same_person_throughout_a_conversation(
    sqlite_lab: Lab,
) -> None:
    author = 'model: {model: scripted/listener, prompt: "Listen."}'
    text = CHAT.replace("fixed: {text: Tell me more., written_by: person}", author)
    text = text.replace("  delay:", "  mask: true\n  fallback: Thank you.\n  delay:")
    clock = Clock()
    launch(sqlite_lab, recipient(text), now=clock())
    service = StudyService(sqlite_lab, "talk", clock=clock)
    ann = someone(service, "ann")
    service.submit(ann, "consent", {"agree": "yes"})
    replies = ["What did [name 1] say?", "So [name 2] knows, but not [name 1] or [name 3]."]
    for number, message in enumerate(("I told Saoirse.", "My brother Tadeusz, not Saoirse."), 1):
        service.view(ann)
        service.submit(ann, f"chat/{number}", {"message": message})
        model = ScriptedModel([replies[number - 1]])
        run_until(
            lambda: all(row["state"] == "ready" for row in rows_of(sqlite_lab, schema.live_turns)),
            engine_of(service, model),
        )
        clock.skip(seconds=20)
    [(messages, _)] = model.calls
    assert [message.content for message in messages[1:]] == [
        "I told [name 1].",
        replies[0],
        "My brother [name 2], not [name 1].",
    ]
    said = [row["text"] for row in rows_of(sqlite_lab, schema.live_turns)]
    assert said[1] == "What did Saoirse say?"
    assert said[3] == "So Tadeusz knows, but not Saoirse or [name 3]."
