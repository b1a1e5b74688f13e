"""`empathylab study invite | sync | approvals`."""

from __future__ import annotations

import csv
import json
import stat
from pathlib import Path

import pytest

from empathylab.store import Lab, schema
from empathylab.study.design.definition import Quota
from empathylab.study.design.recruitment import Platform
from empathylab.study.session.service import StudyService
from tests.helpers.command_line import Done, empathylab
from tests.study.examples import altered
from tests.study.recruiting.examples import finished, rating, recruiting, sent, served
from tests.study.recruiting.prolific_server import STUDY, TOKEN, prolific, submission
from tests.study.service_examples import rows_of
from tests.study.web.raters import visiting, walk


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "lab"


def run(folder: Path, *arguments: str) -> Done:
    return empathylab("study", *arguments, "--lab", folder)


def furnished(folder: Path, platform: Platform = "invitation", *names: str) -> None:
    """A lab with a study on the platform, where these people are rating."""
    with Lab.open(folder) as lab:
        service, _ = served(lab, recruiting(platform))
        for name in names:
            rating(service, name)


def invitations(folder: Path) -> list[dict[str, str]]:
    result = run(folder, "invite", "small", "--list", "--json")
    assert result.exit_code == 0, result.output
    found: list[dict[str, str]] = json.loads(result.stdout)["invitations"]
    return found


def with_quota(folder: Path, quota: Quota) -> None:
    """A lab with a study by invitation whose quota goes by what links tell."""
    with Lab.open(folder) as lab:
        served(lab, altered(recruiting("invitation"), quotas=(quota,)))


def test_links_say_what_a_quota_goes_by(folder: Path) -> None:
    with_quota(folder, Quota(by="country", counts={"C H": 4, "DE": 8}, source="platform"))
    result = run(folder, "invite", "small", "--n", "2", "--tell", "country=C H", "--json")
    assert result.exit_code == 0, result.output
    links = [invitation["link"] for invitation in json.loads(result.stdout)["invitations"]]
    assert [link.partition("&")[2] for link in links] == ["country=C+H"] * 2
    with Lab.open(folder) as lab:
        service = StudyService(lab, "small")
        with visiting(service) as visitor:
            visitor.get(links[0].removeprefix("http://127.0.0.1:8000"))
            walk(visitor, service.study, "rate/1")
        (place,) = rows_of(lab, schema.slots)
    assert place["traits"] == {"country": "C H"}


@pytest.mark.parametrize(
    ("tell", "sentence"),
    [
        ([], "links must give the country of each participant"),
        (["country=FR"], "Say country=CH or country=DE"),
        (["contry=CH"], "Did you mean 'country'"),
        (["country"], "as NAME=VALUE"),
        (["country=CH", "country=DE"], "Give each name once"),
    ],
)
def test_links_by_which_nobody_could_come_are_not_made(
    folder: Path, tell: list[str], sentence: str
) -> None:
    with_quota(folder, Quota(by="country", counts={"CH": 4, "DE": 8}, source="platform"))
    told = [part for item in tell for part in ("--tell", item)]
    result = run(folder, "invite", "small", "--n", "2", *told)
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())
    assert invitations(folder) == []


def test_links_need_not_say_it_where_others_have_room(folder: Path) -> None:
    with_quota(folder, Quota(by="country", counts={"CH": 4}, others=8, source="platform"))
    assert run(folder, "invite", "small", "--n", "1").exit_code == 0


def test_links_go_to_stdout_one_on_a_line(folder: Path) -> None:
    furnished(folder)
    result = run(folder, "invite", "small", "--n", "3", "--url", "https://study.test/x")
    assert result.exit_code == 0, result.output
    links = result.stdout.split()
    assert len(set(links)) == 3
    assert all(link.startswith("https://study.test/x?invitation=") for link in links)
    assert [invitation["state"] for invitation in invitations(folder)] == ["unused"] * 3


def test_links_are_written_into_a_file_for_their_owner_only(folder: Path, tmp_path: Path) -> None:
    furnished(folder)
    path = tmp_path / "links.csv"
    given = ("invite", "small", "--n", "2", "--expires", "7", "--csv", str(path))
    result = run(folder, *given, "--label", "=1+1", "--label", "b")
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert [row["label"] for row in rows] == ["'=1+1", "b"]
    assert all(row["link"].startswith("http://127.0.0.1:8000/?invitation=") for row in rows)
    assert all(row["expires_at"] for row in rows)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert result.stdout == ""
    assert "--url" in result.stderr


def test_a_file_is_never_overwritten_and_then_nobody_is_invited(
    folder: Path, tmp_path: Path
) -> None:
    furnished(folder)
    path = tmp_path / "links.csv"
    path.write_text("mine", encoding="utf-8")
    result = run(folder, "invite", "small", "--n", "2", "--csv", str(path))
    assert (result.exit_code, path.read_text(encoding="utf-8")) == (2, "mine")
    assert "never overwritten" in result.stderr
    assert invitations(folder) == []


def test_an_invitation_is_taken_back(folder: Path) -> None:
    furnished(folder)
    link = run(folder, "invite", "small", "--n", "1").stdout.strip()
    assert run(folder, "invite", "small", "--revoke", link).exit_code == 0
    assert [invitation["state"] for invitation in invitations(folder)] == ["revoked"]
    again = run(folder, "invite", "small", "--revoke", link)
    assert again.exit_code == 2
    assert "already revoked or used" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("invite", "small"), "one of --n, --list and --revoke"),
        (("invite", "small", "--n", "1", "--list"), "one of --n, --list and --revoke"),
        (("invite", "small", "--n", "1", "--url", "study.test"), "not the address of a page"),
        (("invite", "small", "--n", "1", "--url", "https://x/?a=b"), "not the address of a page"),
        (("invite", "small", "--n", "1", "--expires", "0"), "more than 0"),
        (("invite", "smal", "--n", "1"), "Did you mean 'small'"),
        (("invite", "small", "--revoke", "x"), "no invitation"),
        (("sync", "small"), "PROLIFIC_API_TOKEN"),
        (("sync", "small", "--keep", "Sex"), "only the export has columns"),
        (("approvals", "small", "out.csv"), "does not pay participants"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROLIFIC_API_TOKEN", raising=False)
    furnished(folder)
    result = run(folder, *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert not (tmp_path / "out.csv").exists()


def test_a_lab_that_is_not_there_is_not_made(folder: Path) -> None:
    assert run(folder, "invite", "small", "--n", "1").exit_code == 2
    assert not folder.exists()


def test_sync_asks_the_api(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    furnished(folder, "prolific", "ann", "bob")
    monkeypatch.setenv("PROLIFIC_API_TOKEN", TOKEN)
    rows = (submission("ann", "RETURNED"), submission("bob", "ACTIVE"), submission("x", "ACTIVE"))
    with prolific(*rows) as platform:
        monkeypatch.setenv("PROLIFIC_BASE_URL", platform.address)
        result = run(folder, "sync", "small")
        again = run(folder, "sync", "small", "--prolific-study", STUDY, "--json")
        platform.studies.clear()
        unknown = run(folder, "sync", "small")
    assert result.exit_code == 0, result.output
    assert "3 submissions, 2 people known here, 2 changed, slots freed: 1" in result.stdout
    assert "1 submission has no visit here: the participant never came" in result.stdout
    assert json.loads(again.stdout)["changed"] == 0
    assert (unknown.exit_code, TOKEN in unknown.output) == (2, False)
    with Lab.open(folder) as lab:
        assert {row["status"] for row in rows_of(lab, schema.slots)} == {"returned", "live"}


def test_sync_reads_the_export(folder: Path, tmp_path: Path) -> None:
    furnished(folder, "prolific", "ann")
    path = tmp_path / "export.csv"
    path.write_text(
        "Participant id,Status,Country\nann,TIMED_OUT,Chile\nbob,Lost,\n", encoding="utf-8"
    )
    result = run(folder, "sync", "small", "--csv", str(path), "--keep", "Country", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["statuses"], found["told_of"], found["unknown"]) == ({"TIMED-OUT": 1}, 1, 1)
    assert len(found["freed"]) == 1
    with Lab.open(folder) as lab:
        assert rows_of(lab, schema.people)[0]["told"] == {"country": "Chile"}


def test_sync_names_who_gave_another_code(folder: Path, tmp_path: Path) -> None:
    with Lab.open(folder) as lab:
        service, _ = served(lab, recruiting("prolific"))
        ann, _ = finished(service, "ann"), finished(service, "bob")
        cleo = sent(service, "cleo")
        sent(service, "dan")
    rows = ("ann,WRONG1", "bob,code-completed-1", "cleo,CODE-COMPLETED-1", "x,NOCODE")
    path = tmp_path / "export.csv"
    lines = ["Participant id,Completion code,Status", *(f"{row},AWAITING REVIEW" for row in rows)]
    path.write_text("\n".join(lines), encoding="utf-8")
    result = run(folder, "sync", "small", "--csv", str(path))
    warned = [line for line in result.stderr.splitlines() if "entered the code" in line]
    assert [line.split(",")[0] for line in warned] == [
        f"{ann} entered the code WRONG1 on Prolific",
        f"{cleo} entered the code CODE-COMPLETED-1 on Prolific",
    ]
    assert "1 visit has no submission on Prolific" in result.stdout
    assert "download Participant IDs" in result.stdout


def test_people_are_paid_for_the_submission_that_prolific_lists(
    folder: Path, tmp_path: Path
) -> None:
    with Lab.open(folder) as lab:
        service, _ = served(lab, recruiting("prolific"))
        finished(service, "ann", session="zz")
    path = tmp_path / "export.csv"
    path.write_text("Participant id,Submission id,Status\nann,a4,APPROVED\n", encoding="utf-8")
    assert run(folder, "sync", "small", "--csv", str(path)).exit_code == 0
    assert run(folder, "approvals", "small", str(tmp_path / "pay.csv")).exit_code == 0
    assert "ann,a4,approve" in (tmp_path / "pay.csv").read_text()


def test_whom_to_pay_is_written_for_mturk(folder: Path, tmp_path: Path) -> None:
    with Lab.open(folder) as lab:
        service, _ = served(lab, recruiting("mturk"))
        finished(service, "W1", session="A1", study="H1")
    path = tmp_path / "approvals.csv"
    result = run(folder, "approvals", "small", str(path))
    assert result.exit_code == 0, result.output
    assert path.read_text(encoding="utf-8") == (
        "HITId,AssignmentId,WorkerId,Approve,Reject\nH1,A1,W1,X,\n"
    )
    assert "W1" not in result.output
