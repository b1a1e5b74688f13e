"""Invitations: one person each, known by a hash, and calm refusals for all others."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.store import Lab, schema
from empathylab.study.design.definition import Retention
from empathylab.study.recruiting.invitations import (
    Invitation,
    invite,
    list_invitations,
    new_token,
    revoke,
)
from empathylab.study.session.service import StudyService, launch
from empathylab.study.web.recruitment import visit_token
from tests.study.recruiting.examples import recruiting, served
from tests.study.service_examples import delete_expired, rows_of
from tests.study.web.raters import Read, Visitor, app_of, visiting, walk


def path(one: Invitation) -> str:
    """Where the link leads on the server."""
    parts = urlsplit(one.link("https://study.test/"))
    return f"{parts.path}?{parts.query}"


def test_an_invitation_lets_one_person_in_to_the_end(lab: Lab) -> None:
    service, _ = served(lab, recruiting("invitation"))
    (one,) = invite(service, 1)
    with visiting(service) as visitor:
        visitor.get(path(one))
        page = walk(visitor, service.study)
    assert "CODE-COMPLETED-1" in page.text
    assert [row["person"] for row in rows_of(lab, schema.slots)] == [one.person]
    assert [row.state for row in list_invitations(service)] == ["finished"]


def test_the_same_person_goes_on_by_their_link(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("invitation"))
    (one,) = invite(service, 1)
    with visiting(service) as visitor:
        visitor.get(path(one))
        walk(visitor, service.study, "rate/1")
    with visiting(service) as elsewhere:
        page = elsewhere.get(path(one))
    assert Read(page.text).fields["step"].value == "rate/1"


def test_two_browsers_with_one_link_share_one_place(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("invitation"))
    (one,) = invite(service, 1)
    app = app_of(service)
    browsers = [Visitor(app), Visitor(app)]
    for browser in browsers:
        browser.get(path(one))
    walk(browsers[0], service.study)
    page = browsers[1].get("/page")
    assert "CODE-COMPLETED-1" in page.text
    assert len(rows_of(sqlite_lab, schema.slots)) == 1
    for browser in browsers:
        browser.close()


@pytest.mark.parametrize("why", ["expired", "revoked", "forged", "unrecorded", "other study"])
def test_a_link_that_is_not_good_gets_a_calm_page_and_no_place(sqlite_lab: Lab, why: str) -> None:
    service, clock = served(sqlite_lab, recruiting("invitation"))
    (one,) = invite(service, 1, days=2)
    link = path(one)
    if why == "expired":
        clock.skip(days=2)
    elif why == "revoked":
        assert revoke(service, one.token)
    elif why == "forged":
        link = link[:-1] + ("a" if link[-1] != "a" else "b")
    elif why == "unrecorded":
        link = f"/?invitation={new_token(service.secret)}"
    else:
        link = f"/?invitation={new_token(b'a key of quite another study, yes')}"
    with visiting(service) as visitor:
        page = visitor.get(link)
        again = visitor.get("/page")
    assert page.status_code in (400, 403)
    assert Read(page.text).title in (
        "You cannot take part with this link",
        "This link is not valid",
    )
    assert again.status_code == 403
    assert rows_of(sqlite_lab, schema.slots) == []
    assert rows_of(sqlite_lab, schema.people) == []


def test_a_participant_who_has_begun_goes_on_when_the_link_has_expired(sqlite_lab: Lab) -> None:
    service, clock = served(sqlite_lab, recruiting("invitation"))
    (one,) = invite(service, 1, days=2)
    with visiting(service) as visitor:
        visitor.get(path(one))
        clock.skip(days=3)
        page = visitor.get(path(one))
    assert page.status_code == 200
    assert [row.state for row in list_invitations(service)] == ["begun"]


def test_a_trial_needs_no_invitation(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("invitation"))
    with visiting(service) as visitor:
        assert visitor.get(f"/?visit={visit_token('test', service.secret)}").status_code == 200


def test_only_a_hash_of_an_invitation_is_kept(lab: Lab) -> None:
    service, _ = served(lab, recruiting("invitation"))
    (one,) = invite(service, 1, labels=["first wave"])
    (row,) = rows_of(lab, schema.invitations)
    assert (row["person"], row["label"]) == (one.person, "first wave")
    for secret in (one.token, *one.token.split(".")):
        assert secret not in str(row)
        assert secret not in str(service.actions.audit())


def test_the_list_says_what_became_of_each(lab: Lab) -> None:
    service, clock = served(lab, recruiting("invitation"))
    unused, begun, finished, gone, old = (
        invite(service, 1, labels=[name], days=9)[0] for name in ("u", "b", "f", "g", "o")
    )
    for one, until in ((begun, "rate"), (finished, "")):
        with visiting(service) as visitor:
            visitor.get(path(one))
            walk(visitor, service.study, until)
    assert revoke(service, gone.link("https://study.test/x/"), who="eva")
    states = {invitation.label: invitation.state for invitation in list_invitations(service)}
    assert states == {"u": "unused", "b": "begun", "f": "finished", "g": "revoked", "o": "unused"}
    clock.skip(days=9)
    assert {invitation.label: invitation.state for invitation in list_invitations(service)}[
        "o"
    ] == "expired"
    assert [item.action for item in service.actions.audit()][-1] == "revoke invitation"
    assert unused.expires_at is not None
    assert old.person != unused.person


def test_who_has_come_is_not_shut_out_by_revoking(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("invitation"))
    (one,) = invite(service, 1)
    with visiting(service) as visitor:
        visitor.get(path(one))
        assert not revoke(service, one.person)
        assert visitor.get(path(one)).status_code == 200


def test_an_invitation_is_revoked_once_and_by_any_of_its_names(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("invitation"))
    one, other = invite(service, 2)
    assert revoke(service, one.person)
    assert not revoke(service, one.token)
    assert revoke(service, other.link("https://study.test/"))
    with pytest.raises(UnknownName, match="no invitation 'nothing'"):
        revoke(service, "nothing")


def test_labels_are_one_for_all_or_one_each(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("invitation"))
    assert [item.label for item in invite(service, 2, labels=["all"])] == ["all", "all"]
    assert [item.label for item in invite(service, 2, labels=["a\x00", " b "])] == ["a", "b"]
    with pytest.raises(InputError, match="does not match"):
        invite(service, 3, labels=["a", "b"])


@pytest.mark.parametrize("count", [0, -1, 10_001])
def test_a_number_of_invitations_that_makes_no_sense_is_refused(
    sqlite_lab: Lab, count: int
) -> None:
    service, _ = served(sqlite_lab, recruiting("invitation"))
    with pytest.raises(InputError, match="from 1 to 10,000"):
        invite(service, count)
    assert rows_of(sqlite_lab, schema.invitations) == []


@pytest.mark.parametrize("days", [0, -1, 3651, float("nan"), float("inf")])
def test_days_that_make_no_sense_are_refused(sqlite_lab: Lab, days: float) -> None:
    service, _ = served(sqlite_lab, recruiting("invitation"))
    with pytest.raises(InputError, match="at most 3,650 days"):
        invite(service, 1, days=days)


def test_a_study_on_a_platform_invites_nobody(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    with pytest.raises(InputError, match="platform: prolific"):
        invite(service, 1)


def test_a_participant_who_deletes_their_data_leaves_no_name_with_the_invitation(lab: Lab) -> None:
    service, _ = served(lab, recruiting("invitation"))
    (one,) = invite(service, 1, labels=["Zebedee Quux"])
    with visiting(service) as visitor:
        visitor.get(path(one))
        walk(visitor, service.study, "rate")
        service.leave(one.person, delete=True)
        refused = visitor.get(path(one))
    (row,) = rows_of(lab, schema.invitations)
    assert (row["label"], row["revoked_at"] is not None) == (None, True)
    assert one.person not in str(row)
    assert refused.status_code == 403
    assert [invitation.state for invitation in list_invitations(service)] == ["ended"]


def test_labels_are_deleted_with_the_platform_ids(sqlite_lab: Lab) -> None:
    study = recruiting("invitation", retention=Retention(platform_ids=30))
    service, clock = served(sqlite_lab, study)
    invite(service, 1, labels=["Zebedee Quux"])
    service.actions.close()
    clock.skip(days=31)
    delete_expired(service)
    assert rows_of(sqlite_lab, schema.invitations)[0]["label"] is None


def test_an_invitation_is_for_one_version_of_the_study(sqlite_lab: Lab) -> None:
    service, clock = served(sqlite_lab, recruiting("invitation"))
    (one,) = invite(service, 1)
    launch(sqlite_lab, recruiting("invitation", version=2), now=clock())
    later = StudyService(sqlite_lab, "small", clock=clock)
    with visiting(later) as visitor:
        assert visitor.get(path(one)).status_code == 403


def test_a_link_bears_its_token_whatever_the_address() -> None:
    one = Invitation("key", "ab.cd", None, None)
    assert one.link("https://study.test/") == "https://study.test/?invitation=ab.cd"
