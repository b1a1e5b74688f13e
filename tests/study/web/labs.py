"""Labs with a launched study whose names would be easy to find on a page."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

from empathylab.situations import Situation, SituationSet, builtin_set
from empathylab.store import Lab, schema
from empathylab.store.inserts import add_respondent, add_scale, add_situation_set
from empathylab.study import Study
from empathylab.study.session.service import StudyService, launch
from tests.study.examples import altered
from tests.study.web.desk import scales

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def launched(lab: Lab, study: Study) -> StudyService:
    """The study, open to raters, on the wall's clock."""
    _furnish(lab, study)
    launch(lab, study, now=START)
    return StudyService(lab, study.name)


def telling(study: Study) -> Study:
    """The study with arms and respondents that cannot be overlooked."""
    arms = {
        f"armzeta{number}": altered(arm, respondent=f"vendorxi/modelpsi{number}")
        for number, arm in enumerate(study.arms.values())
    }
    situations = altered(study.situations, set=f"set-lambda-{study.situations.set}")
    return altered(study, arms=arms, name="filename-omega", situations=situations)


def situations_of(name: str) -> SituationSet:
    """A built-in set; where its name is a telling one, so are the ids of its situations."""
    whole = builtin_set(name.removeprefix("set-lambda-"))
    if whole.id == name:
        return whole
    renamed = [
        dataclasses.replace(one, id=f"sitkappa{number}")
        for number, one in enumerate(whole.situations)
    ]
    return dataclasses.replace(whole, id=name, situations=tuple(renamed))


def reply(number: int, situation: Situation) -> str:
    """A reply that tells nothing of its writer."""
    return f"That stays with me. ({number * len(situation.text)})"


def _furnish(lab: Lab, study: Study) -> None:
    chosen = situations_of(str(study.situations.set))
    with lab.writing() as connection:
        for scale in scales().values():
            add_scale(connection, scale)
        ids = add_situation_set(connection, chosen)
        for number, arm in enumerate(study.arms.values()):
            kind = "human" if arm.respondent == "human" else "model"
            row = add_respondent(connection, arm.respondent, kind)
            rows = [
                {
                    "situation_id": ids[situation.id],
                    "respondent_id": row,
                    "sample": 0,
                    "prompt": None,
                    "text": reply(number, situation),
                    "outcome": "valid",
                    "added_at": START,
                }
                for situation in chosen.situations
            ]
            connection.execute(schema.responses.insert(), rows)
