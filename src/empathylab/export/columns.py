"""What the tables and columns of an exported lab mean."""

from __future__ import annotations

from collections.abc import Mapping

from empathylab.study.exports.dictionary import MEANINGS as OF_STUDIES

TABLES: Mapping[str, str] = {
    "situation_sets": "Sets of situations",
    "situations": "What somebody goes through, one row per situation",
    "respondents": "Who answers: models and groups of people",
    "responses": "Replies to situations, usable or not",
    "style": "How each usable response is written, one column per feature",
    "scales": "Questionnaires: their structure, without their wording",
    "administrations": "One answering of one scale by one respondent each, usable or not",
    "item_answers": "Answers to the items of those scales, as given",
    "scores": "Scores of those scales, one row per administration and subscale",
    "studies": "Studies in which people rated responses",
    "arms": "The conditions of the studies",
    "raters": "Everybody who came to a study, under a name that tells nothing",
    "ratings": "One rater's value for one response on one dimension each",
    "ratings_of_excluded": "Ratings by raters whom a researcher left out of every result",
    "scale_answers": "Raters' answers to the items of scales, about themselves",
    "written_replies": "What raters wrote as replies of their own",
    "pages": "How long raters took for each page",
    "attention": "How raters answered attention checks",
    "comments": "What raters wrote when they were asked for comments",
    "partial_answers": "What people answered who did not finish",
    "judgements": "One judge model's value for one response on one dimension each, as it was asked "
    "last",
    "preferences": "Which of two responses a judge model preferred, as it was asked last",
    "runs": "Runs of protocols against models, with their settings and versions",
    "imports": "Files whose data the lab holds",
}
"""Every table that an export can hold, in the order of the dictionary."""

_SET = "The set that the situation is from"
_SET_VERSION = "The version of that set"
_SITUATION = "The situation's id in its set"
_RESPONDENT = "Who answered"
_KIND = "A model, or people"
_OUTCOME = "Whether it can be used; anything but valid says what is wrong"
_REASON = "Why it cannot be used"
_DAY = "The day on which the model answered, in UTC; empty where it was imported"
_IMPORTED = "The file that it came from; empty where the lab made it"
_RUN = "The run that it came from, in the table runs; empty where it was imported"
_EMOTION = "The situation's emotion"
_ADMINISTRATION = "The administration's number"
_PHASE = "At rest (default), or after a situation (evoked)"
_COUNTERPART = "Whether the situation was put as it would be had it gone well"
_STUDY = "The study's name; an older version of it is called NAME@VERSION"
_JUDGED: Mapping[str, str] = {
    "judge": "The model that judged",
    "study": "The study whose responses were judged; empty where it was a set",
    "set": _SET,
    "situation": _SITUATION,
    "emotion": _EMOTION,
    "valence": "Whether that emotion is pleasant",
    "topic": "The situation's topic",
    "dimension": "What was judged",
    "repeat": "Which time the same was asked, from 0",
    "order": "In which of the orders it was asked",
    "probabilities": "The probability of each possible answer, as a JSON object, where it is known",
    "entropy": "How undecided the judge was, in bits",
    "mass": "How much of the probability all possible answers together had",
    "said": "The judge's reason, where it was asked for one",
    "outcome": _OUTCOME,
    "reason": _REASON,
}

MEANINGS: Mapping[str, Mapping[str, str]] = {
    "situation_sets": {
        "set": "The set's id",
        "set_version": "Its version",
        "title": "Its title",
        "language": "The language of its texts",
        "licence": "Under which its texts may be used",
        "validated": "Whether people have confirmed the emotions it names",
        "description": "What it is",
        "situations": "How many situations it holds",
    },
    "situations": {"set_version": _SET_VERSION, **OF_STUDIES["situations"]},
    "respondents": {
        "respondent": "The respondent's name: provider/name of a model, or a group of people",
        "kind": _KIND,
        "responses": "How many responses the lab holds",
        "administrations": "How many administrations the lab holds",
    },
    "responses": {
        "response": "The response's number, the same in all tables",
        "run": _RUN,
        "respondent": "Who wrote it",
        "kind": _KIND,
        "set": _SET,
        "set_version": _SET_VERSION,
        "situation": _SITUATION,
        "sample": "Which of the respondent's replies to the situation, from 0",
        "prompt": "The template that it was asked for by, with its version",
        "text": "The reply",
        "outcome": _OUTCOME,
        "reason": "Which check the reply failed, and how",
        "finish_reason": "Why the model stopped, as its endpoint says",
        "reported_model": "What the endpoint calls the model that answered",
        "prompt_tokens": "Tokens of the request",
        "completion_tokens": "Tokens of the answer",
        "seconds": "From asking to having the whole answer",
        "day": _DAY,
        "imported_from": _IMPORTED,
        "counted": "Whether analyses count it: usable, and imported or of the run used last",
    },
    "style": {
        "response": "The response's number in the table responses",
        "respondent": "Who wrote it",
        "set": _SET,
        "situation": _SITUATION,
        "sample": "Which of the respondent's replies to the situation, from 0",
    },
    "scales": {
        "scale": "The scale's id",
        "scale_version": "Its version",
        "name": "Its full name",
        "items": "How many items it has, numbered from 1",
        "minimum": "The lowest answer",
        "maximum": "The highest answer",
        "reversed": "Items that count as minimum + maximum - answer, as a JSON list",
        "rule": "How answers become a score",
        "subscales": "The items of each subscale, as a JSON object",
        "has_total": "Whether all items together make a score",
        "citation": "Where it was published",
        "licence": "Under which its wording may be used",
        "fingerprint": "A hash of the whole definition, wording included",
    },
    "administrations": {
        "administration": _ADMINISTRATION,
        "run": _RUN,
        "respondent": _RESPONDENT,
        "kind": _KIND,
        "scale": "The scale",
        "scale_version": "The scale's version",
        "phase": _PHASE,
        "counterpart": _COUNTERPART,
        "mode": "How the model was made to answer",
        "set": _SET,
        "set_version": _SET_VERSION,
        "situation": f"{_SITUATION}; empty at rest",
        "emotion": _EMOTION,
        "factor": "What brings that emotion about",
        "order": "In which of the item orders it was asked",
        "repeat": "Which time the same was asked, from 0",
        "subject": "Which of a group's people answered; pairs their administrations",
        "outcome": _OUTCOME,
        "reason": _REASON,
        "day": _DAY,
        "imported_from": _IMPORTED,
        "used": "Whether analyses look at it: imported, or of the run used last",
        "counted": "Whether analyses count it: used, and usable",
    },
    "item_answers": {
        "administration": _ADMINISTRATION,
        "item": "The item's number in the scale",
        "position": "In which place the item was shown, from 1",
        "value": "The answer; where it was read from probabilities, its expectation. Reversed "
        "items are not turned round",
        "entropy": "How undecided the model was, in bits, where probabilities are known",
    },
    "scores": {
        "administration": _ADMINISTRATION,
        "respondent": _RESPONDENT,
        "kind": _KIND,
        "scale": "The scale",
        "phase": _PHASE,
        "counterpart": _COUNTERPART,
        "set": _SET,
        "situation": f"{_SITUATION}; empty at rest",
        "emotion": _EMOTION,
        "factor": "What brings that emotion about",
        "subject": "Which of a group's people answered; pairs their administrations",
        "subscale": "The subscale, or total",
        "score": "The score by the scale's own rule, reversed items turned round",
        "counted": "Whether analyses count it: of the run used last, or imported",
    },
    "studies": {
        "study": _STUDY,
        "version": "The study's version",
        "title": "Its title",
        "design": "Between subjects: a rater sees one arm; within: several",
        "status": "Whether it takes people",
        "results_hidden": "Whether how responses were rated, and in which arm, is left out, "
        "because the study is not closed",
        "dimensions": "What was rated, on which points, with which words, as a JSON list",
        "protocol_hash": "A hash of the frozen protocol",
        "launched": "The day it began; empty where it was imported",
        "closed": "The day it was closed",
    },
    "judgements": {
        **_JUDGED,
        "response": "The response's number in the table responses",
        "respondent": "Who wrote the response",
        "value": "The point that the judge chose; empty unless the outcome is valid",
        "label": "The words beside that point",
        "expected": "The mean of the points by their probabilities",
        "turned": "Whether the highest point was shown first",
        "position": "The dimension's place among those asked at once, from 1",
    },
    "preferences": {
        **_JUDGED,
        "first_response": "The number of the response that was shown first",
        "second_response": "The number of the response that was shown second",
        "first": "Who wrote the response that was shown first",
        "second": "Who wrote the response that was shown second",
        "preferred": "Which was preferred; empty unless the outcome is valid",
        "pair": "The pair's name; both orders of a pair share it",
    },
    "runs": {
        "run": "The run's number",
        "protocol": "What was done",
        "respondent": "The model that was asked",
        "settings": "Everything that the run was told, as a JSON object",
        "planned": "How many requests it consists of",
        "software": "The version of EmpathyLab that made it",
        "started_at": "When it began, in UTC",
        "finished_at": "When it was complete, in UTC",
        "answered": "How many requests have an answer",
        "reused": "How many of those answers were taken over from an earlier run",
        "prompt_tokens": "Tokens of its own requests",
        "completion_tokens": "Tokens of the answers to them",
        "cost": "What they cost, in US dollars; empty where a price is not known",
        "attempts": "How often endpoints were asked",
        "first_answer_at": "When the first answer came, in UTC",
        "last_answer_at": "When the last answer came, in UTC",
        "reported_model": "What the endpoint calls the model that answered",
    },
    "imports": {
        "kind": "What kind of file it was",
        "imported_from": "Its name",
        "fingerprint": "A hash of its content",
    },
    **{
        name: {"study": _STUDY, **OF_STUDIES["ratings" if "ratings" in name else name]}
        for name in (
            "arms",
            "raters",
            "ratings",
            "ratings_of_excluded",
            "scale_answers",
            "written_replies",
            "pages",
            "attention",
            "comments",
            "partial_answers",
        )
    },
}
VALUES: Mapping[str, str] = {
    "valence": "positive; negative; mixed",
    "phase": "default; evoked",
    "day": "YYYY-MM-DD",
    "launched": "YYYY-MM-DD",
    "closed": "YYYY-MM-DD",
    "started_at": "YYYY-MM-DDTHH:MM:SSZ",
    "finished_at": "YYYY-MM-DDTHH:MM:SSZ",
    "first_answer_at": "YYYY-MM-DDTHH:MM:SSZ",
    "last_answer_at": "YYYY-MM-DDTHH:MM:SSZ",
    "design": "between; within",
    "status": "draft; open; paused; closed",
    "preferred": "first; second; tie",
}
"""Of columns whose values are the same in every lab."""
