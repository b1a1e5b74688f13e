"""Links for researchers: to the configured address, and the first one printed once."""

from __future__ import annotations

from empathylab.store import Lab
from empathylab.study.web.console import first_link
from tests.study.service_examples import opened
from tests.study.web.console.researchers import at_console

PUBLIC = "https://lab.example.org/study"


def test_an_invitation_links_to_the_public_address_whatever_the_host_says(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with at_console(service, public_url=PUBLIC) as owner:
        form = owner.token()
        answer = owner.ask(
            "POST",
            "/console/invite",
            data={"form": form, "role": "viewer"},
            headers={"host": "evil.example", "origin": "http://evil.example"},
        )
        assert "evil.example" not in answer.text
        page = owner.get("/console/accounts").text
        if page.find("/console/welcome?link=") < 0:  # the gate may refuse a foreign host outright
            page = owner.shown("/console/invite", role="viewer").text
        assert "evil.example" not in page
    assert f"{PUBLIC}/console/welcome?link=" in page


def test_the_first_link_is_given_once_while_it_is_good(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab)
    link = first_link(sqlite_lab, PUBLIC, renew=False, clock=service.now)
    assert link is not None
    assert first_link(sqlite_lab, PUBLIC, renew=False, clock=service.now) is None
    clock.skip(hours=25)
    assert first_link(sqlite_lab, PUBLIC, renew=False, clock=service.now) is not None
