"""The viewer in a real browser, on a desk and on a phone, over a lab with hostile texts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from empathylab.store import Lab, schema
from empathylab.store.inserts import now
from empathylab.store.recipients import store_recipients
from empathylab.view.serving import Viewer, open_viewer
from empathylab.view.viewed_lab import ViewedLab
from tests.view.test_pages import fill

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WAYS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
}
PATHS = (
    "/",
    "/runs",
    "/runs/1",
    "/runs/compare?first=1&second=2",
    "/answers/1",
    "/replies",
    "/replies?q=sorry",
    "/replies/3",
    "/replies/compare?first=1&second=5",
    "/situations/3",
    "/conversations",
    "/conversations/1",
    "/scales",
    "/scales/1",
    "/studies",
    "/studies/1",
    "/studies/1?view=ratings",
    "/studies/2",
    "/raters/1",
    "/judges",
    "/judges/1",
)


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    """A viewer on the network, over a lab with a bit of everything."""
    folder = tmp_path_factory.mktemp("viewed")
    with Lab.open(folder) as lab:
        fill(lab)
        rows = [{"participant": "ann", "response": "ai", "label": "human", "felt_heard": 4.0}]
        about = {"title": "Helped", "source": "helped.csv", "licence": "CC0-1.0"}
        store_recipients(lab, "helped", rows, **about, outcomes=["felt_heard"])
    with closing(ViewedLab(folder)) as viewed:
        opened = open_viewer(viewed, 0)
        server = uvicorn.Server(uvicorn.Config(opened.app, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened.listener]})
        thread.start()
        yield opened
        server.should_exit = True
        thread.join()


@pytest.fixture(params=list(WAYS))
def page(viewer: Viewer, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A browser that came by the link; it fails where a page errs or loads from elsewhere."""
    context = browser.new_context(**WAYS[request.param])
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("console", lambda message: wrong.append(message.text))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("dialog", lambda dialog: wrong.append(dialog.message))
    home = viewer.link.partition("?")[0]
    opened.on("request", lambda asked: asked.url.startswith(home) or wrong.append(asked.url))
    opened.goto(viewer.link)
    opened.wait_for_url(home)
    yield opened
    context.close()
    assert wrong == []


def test_every_page_fits_is_accessible_and_loads_nothing(page: Page, viewer: Viewer) -> None:
    home = viewer.link.partition("/?")[0]
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    wide = page.viewport_size["width"] if page.viewport_size else 0
    for path in PATHS:
        page.goto(home + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= wide, path
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(20, 23, 26)" if dark else "rgb(251, 250, 248)"), path
        if not dark or path in PATHS[1::3]:
            found = Axe().run(page).response["violations"]
            assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == [], path


def test_people_search_compare_and_follow_the_curve(page: Page, viewer: Viewer) -> None:
    page.get_by_role("link", name="Replies", exact=True).click()
    page.get_by_label("Search in replies").fill("sorry")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("article.reply")).to_have_count(2)
    assert page.locator("mark").first.inner_text() == "sorry"
    page.get_by_role("button", name="Compare first and second").click()
    expect(page.locator(".diff")).to_have_count(2)
    assert "share" in str(page.text_content("main"))
    page.get_by_role("link", name="Conversations", exact=True).click()
    page.locator("tbody a").first.click()
    point = page.locator("svg a").nth(1)
    target = str(point.get_attribute("href"))
    point.focus()
    page.keyboard.press("Enter")
    expect(page.locator(f"{target}:target")).to_have_count(1)


def test_back_shows_the_filters_of_the_list_that_is_shown(page: Page, viewer: Viewer) -> None:
    home = viewer.link.partition("?")[0]
    page.goto(f"{home}scales")
    phase = page.locator("select[name=phase]")
    phase.select_option("default")
    page.wait_for_url("**/scales?phase=default")
    page.go_back()
    expect(phase).to_have_value("")
    page.go_forward()
    expect(phase).to_have_value("default")


def test_facts_stand_below_their_labels_in_every_direction_of_writing(
    page: Page, viewer: Viewer
) -> None:
    page.goto(f"{viewer.link.partition('?')[0]}replies/1")
    page.evaluate("document.querySelector('.facts dd').textContent = '\u0623\u0646\u0627'")
    left = page.evaluate(
        """() => {
          const value = document.querySelector('.facts dd');
          const written = document.createRange();
          written.selectNodeContents(value);
          return written.getBoundingClientRect().left - value.getBoundingClientRect().left;
        }"""
    )
    assert left < 1


def test_a_run_that_goes_on_is_shown_live(page: Page, viewer: Viewer) -> None:
    home = viewer.link.partition("/?")[0]
    folder = viewer.app.state.folder
    with Lab.open(folder) as lab:
        with lab.writing() as connection:
            connection.execute(schema.runs.update().values(finished_at=None, planned=500))
            # A run goes on for two minutes after an answer; a slow machine may need longer.
            later = now() + timedelta(hours=1)
            connection.execute(schema.answers.update().values(answered_at=later))
        page.goto(f"{home}/runs/1")
        assert page.locator(".livemark").count() == 1
        before = str(page.text_content("[data-part=progress]"))
        with lab.writing() as connection:
            connection.execute(schema.runs.update().values(planned=501))
        page.wait_for_function(
            "before => document.querySelector('[data-part=progress]').textContent !== before",
            arg=before,
        )
        assert "of 501 requests" in str(page.text_content("[data-part=progress]"))


def test_tables_appear_once_a_run_that_goes_on_has_answers(page: Page, viewer: Viewer) -> None:
    home = viewer.link.partition("/?")[0]
    with Lab.open(viewer.app.state.folder) as lab:
        with lab.reading() as connection:
            of_run = schema.runs.select().where(schema.runs.c.id == 1)
            new = dict(connection.execute(of_run).mappings().one())
            of_run = schema.answers.select().where(schema.answers.c.run_id == 1)
            answer = dict(connection.execute(of_run).mappings().first() or {})
        new |= {"fingerprint": str(page.viewport_size), "finished_at": None, "started_at": now()}
        with lab.writing() as connection:
            del new["id"]
            number = connection.execute(schema.runs.insert().values(**new)).inserted_primary_key[0]
        page.goto(f"{home}/runs/{number}")
        expect(page.locator("#outcomes")).to_have_count(0)
        with lab.writing() as connection:
            del answer["id"]
            answer |= {"run_id": number, "answered_at": now()}
            connection.execute(schema.answers.insert().values(**answer))
        expect(page.locator("#outcomes tbody tr")).to_have_count(1, timeout=20_000)
