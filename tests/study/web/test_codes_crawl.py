"""A completion code is in no page, header, cookie, script or log before the end it is for."""

from __future__ import annotations

import logging
from collections.abc import Callable

import httpx
import pytest

from empathylab.store import Lab
from empathylab.study.blocks.interface import Outcome
from empathylab.study.blocks.tutorial import Tutorial
from empathylab.study.design.definition import Quota, Study
from empathylab.study.design.recruitment import Platform
from empathylab.study.recruiting.invitations import invite
from empathylab.study.session.service import StudyService, launch
from empathylab.study.web.assets import asset_paths
from tests.study.examples import altered
from tests.study.recruiting.examples import CODES, recruiting, served
from tests.study.web.raters import Read, Visitor, app_of, filled
from tests.study.web.test_blinding_crawl import sent

PLATFORMS: tuple[Platform, ...] = ("prolific", "mturk", "sona", "open", "invitation")
RETURN = "https://credit.test/secret-path?code={code}"


def study_for(platform: Platform, outcome: Outcome) -> Study:
    """A study in which checks end it, with room for as many people as the outcome needs."""
    study = recruiting(platform)
    blocks = []
    for block in study.blocks:
        if isinstance(block, Tutorial) and block.check:
            check = altered(block.check, on_failure="end")
            blocks.append(altered(block, check=check))
        elif block.kind == "attention":
            blocks.append(altered(block, on_failure="end"))
        else:
            blocks.append(block)
    recruitment = study.recruitment
    if platform in ("sona", "open"):
        recruitment = altered(recruitment, return_url=RETURN)
    quotas = (Quota(by="sex", counts={"male": 12}),) if outcome == "screened-out" else ()
    return altered(study, blocks=tuple(blocks), recruitment=recruitment, quotas=quotas)


def link_for(service: StudyService, name: str) -> str:
    """The link by which the study's platform sends someone."""
    platform = service.study.recruitment.platform
    if platform == "prolific":
        return f"/?PROLIFIC_PID={name}&STUDY_ID=s&SESSION_ID=x"
    if platform == "mturk":
        to = "https%3A%2F%2Fwww.mturk.com"
        return f"/?assignmentId=A&hitId=H&workerId={name}&turkSubmitTo={to}"
    if platform == "sona":
        return f"/?survey_code={name}"
    if platform == "invitation":
        return f"/?invitation={invite(service, 1)[0].token}"
    return "/"


def answers_for(outcome: Outcome) -> Callable[[Study, httpx.Response], dict[str, str]]:
    """How someone answers who comes to that end."""

    def answer(study: Study, page: httpx.Response) -> dict[str, str]:
        given = filled(study, page)
        fields = Read(page.text).fields
        step = fields["step"].value
        wrong = (
            (outcome == "no-consent" and step == "consent")
            or (outcome == "failed-comprehension" and "/check/" in step)
            or (outcome == "failed-attention" and step == "attention")
        )
        if wrong:
            options = {name: fields[f"answer-{name}"].options for name in given}
            given = {
                name: next(option for option in options[name] if option != value)
                for name, value in given.items()
            }
        return given

    return answer


def visit_to_the_end(
    service: StudyService, visitor: Visitor, link: str, outcome: Outcome
) -> httpx.Response:
    """The last page, having asked for all that can be asked for on the way."""
    answer = answers_for(outcome)
    page = visitor.get(link)
    for served_name in asset_paths().values():
        visitor.get(f"/static/{served_name}")
    for _ in range(60):
        step = Read(page.text).fields.get("step")
        if step is None:
            return page
        for path in (
            "/leave",
            "/left",
            f"/back?from={step.value}",
            "/nowhere",
            "/health",
            "/ready",
        ):
            visitor.get(path)
        if outcome == "withdrawn" and step.value.startswith("rate"):
            form = Read(visitor.get("/leave").text).fields["form"].value
            gone = visitor.ask("POST", "/leave", data={"form": form, "answers": "keep"})
            return visitor.get(gone.headers["location"])
        if step.value != "comment":  # which may be left empty
            visitor.send(page, nonsense="99")
        page = visitor.send(visitor.get("/page"), **answer(service.study, page))
    raise AssertionError("the study has no end")


def fill(service: StudyService) -> None:
    """Takes all places."""
    app = app_of(service)
    for number in range(12):
        visitor = Visitor(app)
        page = visitor.get(link_for(service, f"other{number}"))
        for _ in range(30):
            step = Read(page.text).fields.get("step")
            if step is None or step.value.startswith("rate"):
                break
            page = visitor.send(page, **filled(service.study, page))
        visitor.close()


CASES = [
    *((platform, "completed") for platform in PLATFORMS),
    *(("prolific", outcome) for outcome in CODES if outcome != "completed"),
    *(("mturk", outcome) for outcome in ("no-consent", "failed-attention")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("platform", "outcome"), CASES)
def test_a_code_is_sent_at_its_own_end_and_nowhere_else(
    sqlite_lab: Lab, caplog: pytest.LogCaptureFixture, platform: Platform, outcome: Outcome
) -> None:
    service, _ = served(sqlite_lab, study_for(platform, outcome))
    if outcome == "full":
        fill(service)
    visitor = Visitor(app_of(service))
    with caplog.at_level(logging.DEBUG, "empathylab"):
        end = visit_to_the_end(service, visitor, link_for(service, "ann"), outcome)
    assert CODES[outcome] in end.text
    for other, code in CODES.items():
        assert other == outcome or code not in sent(end)
    for item in visitor.sent[:-1]:
        found = [code for code in (*CODES.values(), "secret-path") if code in sent(item)]
        assert found == [], (item.request.url, found)
    logged = str([vars(record) for record in caplog.records])
    assert "/page" in logged
    assert not [code for code in CODES.values() if code in logged]
    visitor.close()
    assert len(visitor.sent) > 5


@pytest.mark.slow
def test_who_took_part_before_gets_the_code_for_that_and_no_other(sqlite_lab: Lab) -> None:
    service, clock = served(sqlite_lab, recruiting("prolific"))
    visitor = Visitor(app_of(service))
    visit_to_the_end(service, visitor, link_for(service, "ann"), "completed")
    visitor.close()
    launch(sqlite_lab, recruiting("prolific", version=2), now=clock())
    later = StudyService(sqlite_lab, "small", clock=clock)
    again = Visitor(app_of(later))
    end = again.get(link_for(later, "ann"))
    found = [code for code in CODES.values() if code in sent(end)]
    assert found == [CODES["screened-out"]]
    again.close()
