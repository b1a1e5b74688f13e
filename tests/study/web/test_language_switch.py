"""Every page of a study in several languages lets participants change the language."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import select

from empathylab.store import Lab, schema
from empathylab.study import parse_study
from empathylab.study.web.interface_texts import direction, own_name
from tests.study.examples import BETWEEN, altered
from tests.study.web.desk import Desk
from tests.study.web.labs import launched
from tests.study.web.raters import Read, Visitor, app_of, filled, visiting

BILINGUAL = """\
name: bilingual
version: 1
title: {en: Replies to people, ar: ردود على الناس}
languages: [en, ar]
design: between
seed: 7
arms: {one: first/model, two: second/model}
situations: {set: dialogues, count: 6}
batch_size: 2
ratings_per_response: 2
dimensions:
  - name: empathy
    question: {en: "How empathetic is the reply?", ar: ما مدى تعاطف الرد؟}
    labels:
      - {en: Not at all, ar: غير متعاطف إطلاقًا}
      - {en: Somewhat, ar: متعاطف إلى حد ما}
      - {en: Very, ar: متعاطف جدًا}
recruitment: {platform: open}
blocks:
  - block: consent
    text: {en: "Take part?", ar: هل تودّ المشاركة في هذه الدراسة؟}
  - block: demographics
    fields:
      - name: age
        label: {en: Your age, ar: عمرك}
        kind: number
        minimum: 18
        maximum: 99
  - block: rate
    shows: [emotion, situation, utterance]
  - block: debrief
    text: {en: Thank you., ar: شكرًا لك.}
"""
SEVERAL = altered(parse_study(BETWEEN), languages=("en", "de", "ar"))


def switch(
    visitor: Visitor, page: httpx.Response, language: str, at: str = "page"
) -> httpx.Response:
    """The page after the choice of a language."""
    data = {"form": Read(page.text).fields["form"].value, "language": language}
    response = visitor.ask("POST", f"/language?at={at}", data=data)
    return visitor.get(response.headers["location"]) if response.is_redirect else response


@pytest.fixture
def visitor() -> Iterator[Visitor]:
    with visiting(Desk(SEVERAL)) as one:
        yield one


def test_a_participant_changes_the_language_and_keeps_it(visitor: Visitor) -> None:
    page = visitor.get("/")
    assert '<html lang="en" dir="ltr">' in page.text
    page = switch(visitor, page, "de")
    assert '<html lang="de" dir="ltr">' in page.text
    assert ">Weiter</button>" in page.text
    page = visitor.send(page, **filled(SEVERAL, page))
    assert '<html lang="de" dir="ltr">' in page.text


def test_arabic_pages_run_from_right_to_left(visitor: Visitor) -> None:
    page = switch(visitor, visitor.get("/"), "ar")
    assert '<html lang="ar" dir="rtl">' in page.text
    assert ">متابعة</button>" in page.text
    assert (direction("ar-EG"), direction("he"), direction("ko")) == ("rtl", "rtl", "ltr")


def test_the_switch_names_each_language_in_itself(visitor: Visitor) -> None:
    page = visitor.get("/")
    for code, name in (("en", "English"), ("de", "Deutsch"), ("ar", "العربية")):
        assert f'value="{code}"' in page.text
        assert f">{name}</button>" in page.text
    assert (own_name("pt-BR"), own_name("tlh")) == ("Português (BR)", "tlh")


def test_the_page_that_asks_about_leaving_comes_back_in_the_other_language(
    visitor: Visitor,
) -> None:
    visitor.get("/")
    page = switch(visitor, visitor.get("/leave"), "de", at="leave")
    assert visitor.sent[-1].url.path == "/leave"
    assert '<html lang="de"' in page.text


@pytest.mark.parametrize("path", ["/page", "/no-such-page", "//elsewhere.test/x"])
def test_a_page_without_a_session_offers_links_on_its_own_host(path: str, visitor: Visitor) -> None:
    page = visitor.ask("GET", path + "?a=1&language=en")
    links = [link for link in Read(page.text).links if "language=" in link]
    assert links == ["?a=1&language=en", "?a=1&language=de", "?a=1&language=ar"]
    assert '<html lang="de"' in visitor.ask("GET", path + links[1]).text


def test_a_study_in_one_language_has_no_switch() -> None:
    with visiting(Desk(parse_study(BETWEEN))) as visitor:
        assert 'class="languages"' not in visitor.get("/").text


@pytest.mark.parametrize(
    ("token", "language", "status"), [("own", "fi", 400), ("own", "", 400), ("forged", "de", 403)]
)
def test_a_change_needs_a_known_language_and_the_forms_token(
    token: str, language: str, status: int, visitor: Visitor
) -> None:
    page = visitor.get("/")
    form = Read(page.text).fields["form"].value if token == "own" else "x" * 20
    response = visitor.ask("POST", "/language", data={"form": form, "language": language})
    assert response.status_code == status
    assert '<html lang="en"' in visitor.get("/page").text


def test_a_guest_cannot_change_the_owners_language() -> None:
    study = parse_study(
        BETWEEN.replace("{platform: open}", "{platform: prolific, codes: {completed: C1}}")
    )
    desk = Desk(altered(study, languages=("en", "de")))
    link = "/?PROLIFIC_PID=" + "a" * 24 + "&STUDY_ID=" + "b" * 24 + "&SESSION_ID=" + "c" * 24
    app = app_of(desk)
    owner, guest = Visitor(app), Visitor(app)
    owner.get(link)
    page = guest.get(link)
    token = Read(page.text).fields["form"].value
    refused = guest.ask("POST", "/language", data={"form": token, "language": "de"})
    owner.close()
    guest.close()
    assert 'class="languages"' not in page.text
    assert refused.status_code == 403


def test_the_language_is_stored_and_a_deleted_participant_stays_without_one(
    sqlite_lab: Lab,
) -> None:
    service = launched(sqlite_lab, parse_study(BILINGUAL))
    with visiting(service) as visitor:
        page = switch(visitor, visitor.get("/?language=en"), "ar")
    assert "هل تودّ المشاركة" in page.text
    person = service.actions.participants()[0].person
    assert service.view(person).language == "ar"
    service.leave(person, delete=True)
    service.change_language(person, "en")
    assert _languages(sqlite_lab) == [""]


def _languages(lab: Lab) -> list[str]:
    with lab.reading() as connection:
        return list(connection.execute(select(schema.slots.c.language)).scalars())
