"""Quotas by what a platform tells: the link that it gives people says of what kind they are."""

from __future__ import annotations

import pytest
from starlette.datastructures import QueryParams

from empathylab.cli.study.serve import _link
from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.store.ratings import raters_frame
from empathylab.study import parse_study
from empathylab.study.assignment.quotas import has_room, link_traits, traits_to_fill
from empathylab.study.design.definition import Quota
from empathylab.study.design.planning import needed_raters
from empathylab.study.session.service import StudyService
from empathylab.study.web.recruitment import BadLink, Visit, read_link, visit_token
from tests.study.examples import BETWEEN, KEY, between, ids, scales
from tests.study.service_examples import opened
from tests.study.web.raters import Read, filled, visiting

QUOTA = Quota(by="country", counts={"CH": 1, "DE": 11}, source="platform")


def come(service: StudyService, link: str, *, until: str | None = None) -> Read:
    """What anyone who comes by the link sees in the end, or on the first page of that key."""
    with visiting(service) as visitor:
        page = visitor.get(link)
        while "step" in (read := Read(page.text)).fields:
            if read.fields["step"].value == until:
                break
            page = visitor.send(page, **filled(service.study, page))
    return read


def test_the_link_says_of_what_kind_people_are(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab, between(quotas=(QUOTA,)))
    for country in ("CH", "CH", "DE"):
        come(service, f"/?country={country}")
    assert [participant.status for participant in service.actions.participants()] == [
        "finished",
        "arrived",
        "finished",
    ]
    assert raters_frame(sqlite_lab, "small")["country"].to_list() == ["CH", "DE"]


def test_a_link_that_says_nothing_or_another_kind_has_the_room_of_others(sqlite_lab: Lab) -> None:
    quota = Quota(by="country", counts={"DE": 11}, others=1, source="platform")
    service, _ = opened(sqlite_lab, between(quotas=(quota,)))
    assert "rate/1" in come(service, "/?country=FR", until="rate/1").fields["step"].value
    assert "step" not in come(service, "/").fields


def test_simulated_raters_can_be_of_every_kind(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab, between(quotas=(QUOTA,)))
    link = f"/?visit={visit_token('simulated', service.secret)}"
    come(service, f"{link}&country=DE")
    come(service, link)
    assert [participant.status for participant in service.actions.participants()] == [
        "finished",
        "arrived",
    ]


@pytest.mark.parametrize("value", ["", "x" * 201, "a\x00b", "{{%COUNTRY%}}"])
def test_what_cannot_be_a_kind_is_not_kept(value: str) -> None:
    visit = read_link("sona", {"survey_code": "7", "country": value}, KEY, ("country",))
    assert visit == Visit("7", traits={})


def test_a_link_that_names_two_kinds_is_incomplete() -> None:
    query = QueryParams("survey_code=7&country=CH&country=DE")
    assert read_link("sona", query, KEY, ("country",)) == BadLink("incomplete")


def test_only_what_a_quota_goes_by_is_kept_of_a_link() -> None:
    telling = link_traits(between(quotas=(QUOTA, Quota(by="sex", counts={"female": 12}))))
    visit = read_link("open", {"country": "CH", "sex": "male", "age": "30"}, KEY, telling)
    assert isinstance(visit, Visit)
    assert visit.traits == {"country": "CH"}


@pytest.mark.parametrize("name", ["visit", "PROLIFIC_PID", "marks"])
def test_a_quota_by_a_name_that_links_use_themselves_is_refused(name: str) -> None:
    quota = f"quotas: [{{by: {name}, counts: {{CH: 12}}, source: platform}}]\nrecruitment:"
    with pytest.raises(InputError, match="by a name that links or the lab do not use"):
        parse_study(BETWEEN.replace("recruitment:", quota))


def test_the_check_says_that_links_must_say_it() -> None:
    situations = ids(6)
    replies = {"one": situations, "two": situations}
    plan = needed_raters(between(quotas=(QUOTA,)), situations, replies, scales())
    assert any("with country=… in it (CH, DE)" in note for note in plan.notes)
    assert plan.problems == ()


def test_simulated_people_of_all_kinds_fill_every_quota() -> None:
    half = Quota(by="sex", shares={"female": 0.5}, others=6, source="platform")
    study = between(quotas=(QUOTA, half))
    people = traits_to_fill(study, 12)
    for number, one in enumerate(people):
        assert has_room(study.quotas, 12, people[:number], one)
    assert [person.get("country") for person in people].count("CH") == 1
    assert ["sex" in person for person in people].count(True) == 6


def test_the_rater_link_shows_what_must_be_filled_in() -> None:
    assert _link(between(quotas=(QUOTA,))) == "/?country=…"
    assert _link(between()) == "/"
