"""Every page of the viewer, over ordinary and hostile labs."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from html import unescape

import pytest
from markupsafe import Markup
from sqlalchemy import func, select

from empathylab.models import ScriptedModel
from empathylab.protocols.converse.plan import SIMULATOR, Conversing, plan_conversing
from empathylab.runs import Job, run
from empathylab.store import Lab, schema
from empathylab.store.conversations import (
    ImportedConversation,
    Speaker,
    SpokenTurn,
    store_conversations,
)
from empathylab.store.inserts import now
from empathylab.store.recipients import store_recipients
from empathylab.view import tables
from empathylab.view.rendering import breakable, money, written
from tests.helpers.conversing import KIND, listener, persona, rule_based_person
from tests.helpers.labs import filled
from tests.view.viewing import ARABIC, LONG, ODD, SCRIPT, Visitor, add_replies, add_study, viewing

MISSING = (
    "/runs/1",
    "/runs/x",
    "/answers/1",
    "/situations/-1",
    "/replies/9",
    "/conversations/1",
    "/scales/1",
    "/studies/1",
    "/raters/1",
    "/judges/1",
    "/replies/compare?first=1",
    "/none",
)


def fill(lab: Lab) -> None:
    """Runs of all protocols, replies that attack, and a closed study."""
    replies = [f"{SCRIPT} I am sorry", ARABIC, LONG, '=HYPERLINK("x")']
    add_replies(lab, {ODD: replies, SCRIPT: ["I am glad", "sorry", "so", "x"]})
    filled(lab, situations=1)
    model = ScriptedModel(listener(f"{KIND} {SCRIPT}"), name="scripted/kind")
    person = ScriptedModel(rule_based_person, name="scripted/person")
    plan = plan_conversing(lab, model.name, Conversing((persona(0),), person.name))
    run(lab, [Job(model, [plan], partners={SIMULATOR: person})])
    add_study(lab, "closed")


def crawl(visitor: Visitor, most: int = 6) -> dict[str, str]:
    """Every page that a link leads to, up to some of each kind."""
    todo, pages, kinds = ["/"], {}, dict[str, int]()
    while todo:
        path = todo.pop(0)
        kind = re.sub(r"\d+", "N", path.partition("?")[0])
        if path in pages or kinds.get(kind, 0) >= most:
            continue
        kinds[kind] = kinds.get(kind, 0) + 1
        answer = visitor.get(path)
        assert answer.status_code == 200, path
        pages[path] = answer.text
        if answer.headers["content-type"].startswith("text/html"):
            links = re.findall(r'href="([^"#]+)', answer.text)
            todo += [unescape(link) for link in links if link.startswith("/")]
    return pages


def test_every_page_opens_and_runs_no_text(sqlite_lab: Lab) -> None:
    fill(sqlite_lab)
    with viewing(sqlite_lab) as visitor:
        pages = crawl(visitor)
        diff = visitor.get("/replies/compare?first=1&second=5").text
        compared = visitor.get("/runs/compare?first=1&second=2").text
    kinds = {re.sub(r"\d+", "N", path.partition("?")[0]) for path in pages}
    assert {"/runs/N", "/answers/N", "/situations/N", "/replies/N", "/conversations/N"} <= kinds
    assert {"/scales/N", "/studies/N", "/raters/N", "/judges/N"} <= kinds
    for path, text in {**pages, "diff": diff, "compared": compared}.items():
        if "csv=" not in path:
            assert SCRIPT not in text, path
            assert "<i>" not in text, path
    assert "<mark>sorry</mark>" in diff
    assert "share" in diff
    assert "two different runs of the same protocol" in compared
    reply = visitor.get("/replies/3").text
    assert LONG in reply  # all 100 kB of it


def test_replies_are_found_by_words_and_filters(lab: Lab, database: str | None) -> None:
    texts = [
        "I'm so sorry to hear that.",
        "Sorrow passes; be kind.",
        "你好，我很难过。",
        "Élan vital",
    ]
    add_replies(lab, {"one": texts, "two": ["kind kind", "no", "nothing", "nobody"]})

    def found(query: str) -> list[str]:
        rows = csv.DictReader(io.StringIO(visitor.get(f"/replies?csv=replies&{query}").text))
        return [f"{row['respondent']}/{row['situation']}" for row in rows]

    with viewing(lab, database=database) as visitor:
        assert found("q=sorry") == ["one/s0"]
        assert found("q=sorr*") == ["one/s0", "one/s1"]
        assert found("q=SORRY+hear") == ["one/s0"]
        assert found("q=%22so+sorry%22") == ["one/s0"]
        assert found("q=%22sorry+so%22") == []
        assert found("q=I%27m") == ["one/s0"]
        assert found("q=kind") == ["one/s1", "two/s0"]
        assert found("q=kind&respondent=two") == ["two/s0"]
        assert found("q=kind&emotion=proud") == ["one/s1"]
        assert found("q=kind&set=other") == []
        assert found("q=难过") == ["one/s2"]
        assert found("q=élan") == ["one/s3"]
        assert found("q=no%25") == ["two/s1"]
        for hostile in ("%22", "NEAR(", "a+OR", "%27%29--", "*", "text:sorry", "-", "%00x"):
            assert visitor.get(f"/replies?q={hostile}").status_code == 200
        assert "<mark>sorry</mark>" in visitor.get("/replies?q=sorry").text
        with lab.writing() as connection:
            changed = schema.responses.update().where(schema.responses.c.id == 1)
            connection.execute(changed.values(text="Rewritten words"))
            connection.execute(schema.responses.delete().where(schema.responses.c.id == 5))
        assert found("q=sorry") == []
        assert found("q=rewritten") == ["one/s0"]
        assert found("q=kind") == ["one/s1"]


def test_tables_are_paged_and_downloaded_whole(sqlite_lab: Lab) -> None:
    add_replies(sqlite_lab, {"one": [f"reply {number}" for number in range(60)]})
    with viewing(sqlite_lab) as visitor:
        first, last = visitor.get("/replies?set=mine"), visitor.get("/replies?set=mine&page=3")
        assert "1–25 of 60" in first.text
        assert 'rel="next" href="/replies?set=mine&amp;page=2"' in first.text
        assert "51–60 of 60" in last.text
        assert 'rel="next"' not in last.text
        behind = visitor.get("/replies?set=mine&page=99").text
        assert "The list ends before this page" in behind
        assert 'rel="prev" href="/replies?set=mine&amp;page=3"' in behind
        for strange in ("0", "-1", "x", "9" * 30, "٣"):
            assert visitor.get(f"/replies?page={strange}").status_code == 200
        rows = list(csv.DictReader(io.StringIO(visitor.get("/replies?csv=situations").text)))
        assert [row["key"] for row in rows] == [f"s{number}" for number in range(60)]
        assert visitor.get("/replies?csv=answers").status_code == 404


def test_a_download_has_whole_texts_and_all_rows(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_CHUNK", 3)
    add_replies(sqlite_lab, {"one": ["kind"] * 10})
    filled(sqlite_lab, situations=1)
    text = "long " * 200
    with sqlite_lab.writing() as connection:
        connection.execute(schema.answers.update().values(text=text))
        connection.execute(schema.situations.update().values(text=text))

    def texts(address: str, column: str) -> list[str]:
        return [row[column] for row in csv.DictReader(io.StringIO(visitor.get(address).text))]

    with viewing(sqlite_lab) as visitor:
        pair = "/runs/compare?first=1&second=1&csv=answers"
        assert visitor.get(pair).status_code == 404  # a run has no difference from itself
        assert texts("/replies?set=mine&csv=situations", "text") == [text] * 10
        assert set(texts("/runs/2?csv=answers", "text")) == {text}
        assert text not in visitor.get("/runs/2").text


def test_an_answer_leads_to_those_beside_it_in_the_runs_list(sqlite_lab: Lab) -> None:
    filled(sqlite_lab, situations=1)
    with viewing(sqlite_lab) as visitor:
        listed = re.findall(r'href="(/answers/\d+)"', visitor.get("/runs/2").text)
        for place in (0, 5, len(listed) - 1):
            page = visitor.get(listed[place]).text
            before = re.findall(r'rel="prev" href="([^"]+)"', page)
            after = re.findall(r'rel="next" href="([^"]+)"', page)
            assert before == (listed[place - 1 : place] if place else [])
            assert after == listed[place + 1 : place + 2]


def test_a_page_number_turns_only_the_pages_of_the_long_table(sqlite_lab: Lab) -> None:
    filled(sqlite_lab, situations=4)
    with viewing(sqlite_lab) as visitor:
        later = visitor.get("/runs/1?page=2").text
        assert 'id="outcomes"' in later
        overview = visitor.get("/?page=2").text
    assert 'href="/runs/1"' in overview
    assert 'href="/runs">All runs</a>' in overview
    assert 'rel="next"' not in overview


def test_pages_below_a_section_mark_it_in_the_navigation(sqlite_lab: Lab) -> None:
    fill(sqlite_lab)
    sections = {"/answers/1": "Runs", "/situations/1": "Replies", "/raters/1": "Studies"}
    with viewing(sqlite_lab) as visitor:
        for path, section in sections.items():
            assert f'aria-current="page">{section}</a>' in visitor.get(path).text


def test_a_search_without_results_says_so(sqlite_lab: Lab) -> None:
    add_replies(sqlite_lab, {"one": ["kind"]})
    with viewing(sqlite_lab) as visitor:
        assert "Nothing matches these filters" in visitor.get("/replies?q=unfindable").text


def test_a_search_without_words_says_that_it_leaves_out_nothing(sqlite_lab: Lab) -> None:
    add_replies(sqlite_lab, {"one": ["kind"]})
    with viewing(sqlite_lab) as visitor:
        assert "contains no words" in visitor.get("/replies?q=%3F%21").text
        assert "contains no words" not in visitor.get("/replies?q=kind").text


def test_scales_can_be_filtered_by_every_outcome(lab: Lab, database: str | None) -> None:
    filled(lab, situations=1)
    with lab.writing() as connection:
        newest = connection.execute(select(func.max(schema.administrations.c.id))).scalar_one()
        changed = schema.administrations.update().values(outcome="refused", reason="as a test")
        connection.execute(changed.where(schema.administrations.c.id == newest))
    with viewing(lab, database=database) as visitor:
        assert '<option value="refused">' in visitor.get("/scales").text
        refused = visitor.get("/scales?outcome=refused").text
    assert re.findall(r'href="/scales/(\d+)"', refused) == [str(newest)]


def test_the_filter_of_a_runs_answers_leads_back_to_their_heading(sqlite_lab: Lab) -> None:
    filled(sqlite_lab, situations=1)
    with sqlite_lab.writing() as connection:
        changed = schema.answers.update().values(outcome="refused")
        connection.execute(changed.where(schema.answers.c.id == 1))
    with viewing(sqlite_lab) as visitor:
        text = visitor.get("/runs/1?outcome=refused").text
    parts = ('<h2 id="requests">', 'action="/runs/1#requests"', 'id="answers"')
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_the_newest_two_runs_of_one_protocol_are_offered_for_comparison(sqlite_lab: Lab) -> None:
    filled(sqlite_lab, situations=1)
    filled(sqlite_lab, situations=2)
    with sqlite_lab.reading() as connection:
        query = select(*schema.runs.c["id", "protocol"])
        protocols = {row.id: row.protocol for row in connection.execute(query)}
    with viewing(sqlite_lab) as visitor:
        page = visitor.get("/runs/compare").text
    first, second = map(int, re.findall(r'<option value="(\d+)" selected>', page))
    assert first < second
    assert protocols[first] == protocols[second]


def test_runs_that_no_other_run_can_be_compared_with_say_so(sqlite_lab: Lab) -> None:
    filled(sqlite_lab, situations=1)
    with viewing(sqlite_lab) as visitor:
        assert "Two runs of the same protocol are needed" in visitor.get("/runs/compare").text


def test_strange_values_of_a_filter_match_nothing(lab: Lab, database: str | None) -> None:
    filled(lab, situations=1)
    pages = ("/runs?respondent", "/runs/1?outcome", "/replies?respondent", "/replies?q")
    with viewing(lab, database=database) as visitor:
        for page in (*pages, "/scales?scale", "/conversations?simulator", "/studies?page"):
            for value in ("%00", "a%00b", "%ff", "' OR 1=1 --", '"unclosed', "NEAR(", "&|!:*"):
                answer = visitor.get(f"{page}={value}")
                assert answer.status_code == 200, (page, value)
        assert "Nothing matches these filters" in visitor.get("/runs?respondent=a%00b").text


def test_costs_that_are_not_nothing_do_not_look_like_it() -> None:
    costs = (None, 0.0, 0.00004, 0.00006, 0.5, 1234.5)
    assert [money(cost) for cost in costs] == [
        "–",
        "$0.00",
        "< $0.0001",
        "$0.0001",
        "$0.5000",
        "$1,234.50",
    ]


def test_plain_lists_of_settings_stand_on_one_line() -> None:
    assert written(["a", 1]) == '["a", 1]'
    assert written({"a": 1}).count("\n") == 2
    assert written([{}]).count("\n") == 2


def test_long_names_break_where_a_part_ends() -> None:
    assert breakable("a_b/<i>") == Markup("a_<wbr>b/&lt;i&gt;")
    assert breakable("a/b 22:15") == Markup("a/<wbr>b 22:15")


def test_cells_of_a_download_run_in_no_spreadsheet(sqlite_lab: Lab) -> None:
    add_replies(sqlite_lab, {"one": ['=HYPERLINK("x")']})
    with viewing(sqlite_lab) as visitor:
        answer = visitor.get("/replies?respondent=one&csv=replies")
    assert answer.headers["content-disposition"] == 'attachment; filename="replies.csv"'
    [row] = csv.DictReader(io.StringIO(answer.text))
    assert row["text"] == '\'=HYPERLINK("x")'


def test_what_is_not_there_is_a_page_that_says_so(sqlite_lab: Lab) -> None:
    with viewing(sqlite_lab) as visitor:
        for path in MISSING:
            answer = visitor.get(path)
            assert answer.status_code == 404, path
            assert "There is no such page" in answer.text


def test_an_empty_lab_says_how_to_fill_it(sqlite_lab: Lab) -> None:
    with viewing(sqlite_lab) as visitor:
        assert len(crawl(visitor)) >= 7
        assert "empathylab evaluate" in visitor.get("/").text
        empty = visitor.get("/conversations").text
        assert "empathylab converse" in empty
        assert "<form" not in empty
        assert "Nothing matches these filters" in visitor.get("/conversations?outcome=x").text


def test_a_run_that_goes_on_renews_its_page(sqlite_lab: Lab) -> None:
    filled(sqlite_lab, situations=1)
    with viewing(sqlite_lab) as visitor:
        assert "data-live" not in visitor.get("/runs/1").text
        with sqlite_lab.writing() as connection:
            connection.execute(schema.runs.update().values(finished_at=None, planned=10_000))
        assert "data-live" in visitor.get("/runs/1").text
        assert "data-live" in visitor.get("/runs").text
        assert "running" in visitor.get("/").text


def test_a_conversation_that_goes_on_renews_its_page(sqlite_lab: Lab) -> None:
    fill(sqlite_lab)
    pages = ("/conversations", "/conversations/1")
    with viewing(sqlite_lab) as visitor:
        for finished, live in ((False, True), (True, False)):
            with sqlite_lab.writing() as connection:
                outcome = "completed" if finished else "unfinished"
                connection.execute(schema.conversations.update().values(outcome=outcome))
                connection.execute(schema.runs.update().values(finished_at=None, planned=10_000))
            assert [("data-live" in visitor.get(page).text) for page in pages] == [live] * 2
        text = visitor.get("/conversations/1").text
        with sqlite_lab.writing() as connection:
            connection.execute(schema.conversations.update().values(outcome="unfinished"))
            before = now() - timedelta(hours=1)
            connection.execute(schema.answers.update().values(answered_at=before))
            connection.execute(schema.runs.update().values(started_at=before))
        assert not any("data-live" in visitor.get(page).text for page in pages)
    assert 'data-part="chat"' in text
    assert 'data-part="ending"' in text


def test_an_imported_conversation_names_its_faults_beside_the_score(sqlite_lab: Lab) -> None:
    said: list[tuple[Speaker, float | None]] = [
        ("person", 40.0),
        ("respondent", None),
        ("person", 30.0),
        ("respondent", None),
    ]
    turns = tuple(SpokenTurn(role, f"I am the {role} of this chat.", felt) for role, felt in said)
    talk = ImportedConversation(
        key="a", respondent="m", turns=turns, kind="model", simulator="s", language="en", final=20.0
    )
    store_conversations(sqlite_lab, "conversations", "talks.csv", [talk])
    with viewing(sqlite_lab) as visitor:
        page = visitor.get("/conversations/1").text
    assert "the message repeats one of the person&#39;s earlier messages" in page
    assert "The imported score stays" in page


def test_a_study_with_recipients_lists_what_they_got_and_said(sqlite_lab: Lab) -> None:
    rows = [
        {"participant": "ann", "response": "ai", "label": SCRIPT, "heard": 4.0},
        {"participant": "bob", "response": "human", "label": "ai", "heard": 3.25},
    ]
    about = {"title": "Helped", "source": "helped.csv", "licence": "CC0-1.0"}
    store_recipients(sqlite_lab, "helped", rows, **about, outcomes=["heard"])
    with viewing(sqlite_lab) as visitor:
        page = visitor.get("/studies/1").text
        lines = visitor.get("/studies/1?csv=recipients").text.splitlines()
    assert SCRIPT not in page
    cells = re.findall(r'<td role="cell" data-label="Heard" class="n">([^<]+)<', page)
    assert cells == ["4", "3.25"]
    assert page.count('role="row"') == 3
    assert lines[2] == "bob,human,ai,,,3.25"
