"""The question types that a study file may use, distinguished by their key `kind`."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field

from empathylab.study.blocks.questions.choice import ChoiceQuestion, DropdownQuestion
from empathylab.study.blocks.questions.interface import Question
from empathylab.study.blocks.questions.matrix import MatrixQuestion
from empathylab.study.blocks.questions.multi_select import MultiSelectQuestion
from empathylab.study.blocks.questions.number import NumberQuestion
from empathylab.study.blocks.questions.ranking import RankingQuestion
from empathylab.study.blocks.questions.slider import SliderQuestion
from empathylab.study.blocks.questions.text import OpenTextQuestion, TextQuestion

AnyQuestion = Annotated[
    ChoiceQuestion
    | DropdownQuestion
    | MatrixQuestion
    | MultiSelectQuestion
    | NumberQuestion
    | OpenTextQuestion
    | RankingQuestion
    | SliderQuestion
    | TextQuestion,
    Field(discriminator="kind"),
]
QUESTION_TYPES: tuple[type[Question], ...] = get_args(get_args(AnyQuestion)[0])
