"""What respondents are asked, and in which order."""

from empathylab.protocols.appraise import Appraisal, plan_appraisal
from empathylab.protocols.reply_checks import Expected, Verdict, check_reply
from empathylab.protocols.reply_templates import (
    BRIEF_LISTENER,
    EMPATHIC_LISTENER,
    PEER_SUPPORTER,
    PLAIN_LISTENER,
    REPLY_TEMPLATES,
    ReplyTemplate,
    read_reply_template,
    reply_template,
)
from empathylab.protocols.respond import (
    Responding,
    human_lengths,
    plan_responding,
    usual_template,
)
from empathylab.protocols.templates import (
    QUESTIONNAIRE,
    AppraisalTemplate,
    read_appraisal_template,
)

__all__ = [
    "BRIEF_LISTENER",
    "EMPATHIC_LISTENER",
    "PEER_SUPPORTER",
    "PLAIN_LISTENER",
    "QUESTIONNAIRE",
    "REPLY_TEMPLATES",
    "Appraisal",
    "AppraisalTemplate",
    "Expected",
    "ReplyTemplate",
    "Responding",
    "Verdict",
    "check_reply",
    "human_lengths",
    "plan_appraisal",
    "plan_responding",
    "read_appraisal_template",
    "read_reply_template",
    "reply_template",
    "usual_template",
]
