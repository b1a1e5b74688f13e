"""No byte that a rater is sent tells whose replies they rate."""

from __future__ import annotations

import base64
import re

import httpx
import pytest

from empathylab.store import Lab
from empathylab.study.web.assets import asset_paths
from tests.study.examples import SITUATION_PRESETS
from tests.study.web.desk import preset
from tests.study.web.labs import launched, telling
from tests.study.web.raters import Read, Visitor, visiting, walk

TELLING = re.compile(
    r"armzeta|vendorxi|modelpsi|sitkappa|set-lambda|filename-omega|\.sqlite|\.yaml", re.I
)

WORK = {
    "appraisal": "imagine",
    "between-subjects": "rate/2",
    "norming": "norm/2",
    "within-subjects": "rate/2",
}
"""By preset, a page of its work."""


def sent(response: httpx.Response) -> str:
    """All that came back, with what the cookie says."""
    headers = "\n".join(f"{name}: {value}" for name, value in response.headers.multi_items())
    cookies = [
        base64.urlsafe_b64decode(cookie.partition(".")[0] + "==").decode()
        for cookie in response.cookies.values()
    ]
    return "\n".join([headers, response.text, *cookies])


def everything(visitor: Visitor, name: str) -> None:
    """Asks for all there is: every page to the end, ways back, errors, leaving, files."""
    study = preset(name)
    visitor.get("/")
    for path in ("/nowhere", "/static/", "/static/study.css", "/health", "/ready", "/left"):
        visitor.get(path)
    for served in asset_paths().values():
        assert visitor.get(f"/static/{served}").status_code == 200
    page = walk(visitor, study, WORK[name])
    step = Read(page.text).fields["step"].value
    visitor.send(page, empathy="99")
    visitor.get(f"/back?from={step}")
    visitor.get("/leave")
    if name != "appraisal":  # there the least time for imagining would be waited for
        walk(visitor, study)
    form = Read(visitor.get("/leave").text).fields["form"].value
    visitor.ask("POST", "/leave", data={"form": form, "answers": "delete"})
    visitor.get("/left")


@pytest.mark.slow
@pytest.mark.parametrize("name", SITUATION_PRESETS)
def test_nothing_sent_tells_arm_respondent_situation_or_file(sqlite_lab: Lab, name: str) -> None:
    service = launched(sqlite_lab, telling(preset(name)))
    answers = []
    for _ in range(2):
        with visiting(service) as visitor:
            everything(visitor, name)
        answers += visitor.sent
    assert len(answers) > 40
    assert {answer.status_code for answer in answers} <= {200, 204, 303, 403, 404, 405}
    for answer in answers:
        found = TELLING.search(sent(answer))
        assert found is None, (answer.request.url, found)
