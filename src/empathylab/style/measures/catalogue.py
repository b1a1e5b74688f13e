"""The features by name: what each one counts or measures."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["count", "measure"]


class Feature(NamedTuple):
    """What a feature is."""

    kind: Kind
    """A count is given per response and per 100 words; a measure has a mean only."""
    meaning: str


def _count(meaning: str) -> Feature:
    return Feature("count", meaning)


def _measure(meaning: str) -> Feature:
    return Feature("measure", meaning)


FEATURES: dict[str, Feature] = {
    "words": _count("words"),
    "sentences": _count("sentences"),
    "characters": _count("characters, spaces included"),
    "lines": _count("lines that are not empty"),
    "words_per_sentence": _measure("words per sentence"),
    "letters_per_word": _measure("letters per word"),
    # Punctuation.
    "punctuation": _count("punctuation marks of all kinds"),
    "exclamation_marks": _count("exclamation marks"),
    "question_marks": _count("question marks"),
    "full_stops": _count("full stops, except in ellipses"),
    "commas": _count("commas"),
    "semicolons": _count("semicolons"),
    "colons": _count("colons"),
    "ellipses": _count("ellipses: … or three or more dots"),
    "apostrophes": _count("apostrophes inside words"),
    "straight_quotes": _count('straight double quotation marks (")'),
    "curly_quotes": _count("curly and angled double quotation marks"),
    "hyphens": _count("hyphens"),
    "en_dashes": _count("en dashes (–)"),
    "em_dashes": _count("em dashes (—)"),
    "double_hyphens": _count("two or more hyphens in a row"),
    "spaced_hyphens": _count("hyphens between spaces, as a dash"),
    "dashes": _count("dashes: en, em, double and spaced hyphens"),
    "parentheses": _count("opening parentheses"),
    "brackets": _count("opening square brackets"),
    "slashes": _count("slashes"),
    "ampersands": _count("ampersands (&)"),
    "asterisks": _count("asterisks"),
    "hashes": _count("number signs (#)"),
    "at_signs": _count("at signs (@)"),
    "percent_signs": _count("percent signs"),
    "underscores": _count("underscores"),
    "tildes": _count("tildes"),
    "quotations": _count("quoted passages"),
    "nested_quotations": _count("quoted passages inside others"),
    "exclamations": _count("sentences that end with an exclamation mark"),
    "questions": _count("sentences that end with a question mark"),
    "exclamation_rate": _measure("proportion of sentences that end with an exclamation mark"),
    "question_rate": _measure("proportion of sentences that end with a question mark"),
    # Capitals.
    "words_in_capitals": _count("words of two or more letters, all of them capitals"),
    "capital_share": _measure("proportion of capitals among letters"),
    # Pictures.
    "emoji": _count("emoji; a sequence that is displayed as one emoji counts once"),
    "emoticons": _count("emoticons, like :-)"),
    # Layout.
    "bullets": _count("list items with a bullet"),
    "numbered_items": _count("list items with a number"),
    "headings": _count("markdown headings"),
    "quoted_lines": _count("markdown lines that quote (>)"),
    "bold": _count("bold passages in markdown"),
    "code": _count("code inside a line in markdown"),
    "code_blocks": _count("code blocks in markdown"),
    "links": _count("links in markdown"),
    "addresses": _count("web and e-mail addresses"),
    # Words.
    "first_person_singular": _count("I, me, my …"),
    "first_person_plural": _count("we, us, our …"),
    "second_person": _count("you, your …"),
    "third_person": _count("he, she, it, they …"),
    "apologies": _count("apologies"),
    "thanks": _count("thanks"),
    "hedges": _count("hedges, like maybe and I think"),
    "advice": _count("advice, like should and have you tried"),
    "validation": _count("words that acknowledge a feeling"),
    "self_disclosure": _count("words about the writer's own life"),
    "questions_to_person": _count("questions with the word you"),
    # Diversity, readability, sentiment.
    "mattr": _measure("moving-average type–token ratio (20 words), from 20 words"),
    "mtld": _measure("textual lexical diversity (MTLD), from 30 words"),
    "syllables": _count("syllables, by rule"),
    "flesch_reading_ease": _measure("Flesch's reading ease, from 30 words"),
    "flesch_kincaid_grade": _measure("Flesch–Kincaid grade, from 30 words"),
    "sentiment": _measure("sentiment of the words (VADER compound, -1 to 1); not warmth"),
}
"""Every feature that `features` gives without a user's lexicon, in order."""
