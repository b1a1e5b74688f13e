"""What respondents are asked, and in which order."""

from empathylab.protocols.appraise import Appraisal, plan_appraisal
from empathylab.protocols.respond import Responding, plan_responding
from empathylab.protocols.templates import (
    EMPATHIC_LISTENER,
    QUESTIONNAIRE,
    AppraisalTemplate,
    ReplyTemplate,
    read_appraisal_template,
    reply_template,
)

__all__ = [
    "EMPATHIC_LISTENER",
    "QUESTIONNAIRE",
    "Appraisal",
    "AppraisalTemplate",
    "ReplyTemplate",
    "Responding",
    "plan_appraisal",
    "plan_responding",
    "read_appraisal_template",
    "reply_template",
]
