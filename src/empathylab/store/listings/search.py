"""Which responses hold the words that a user searches for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlalchemy import ColumnElement, String, and_, func, literal, select, text, type_coerce
from sqlalchemy import column as plain_column
from sqlalchemy import table as plain_table
from sqlalchemy.dialects.postgresql import TSVECTOR

from empathylab.store.schema import responses

_TERM = re.compile(r'"([^"]*)"|(\S+)')
_WORD = re.compile(r"\w+", re.UNICODE)
# Written without spaces between words, so that an index of words does not find them.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
_MOST_TERMS = 20
_SEARCH = plain_table("response_search", plain_column("rowid"), plain_column("response_search"))


@dataclass(frozen=True, slots=True)
class Term:
    """Words that must stand side by side; the last may go on where it is a `prefix`."""

    words: tuple[str, ...]
    prefix: bool = False


def search_terms(query: str) -> tuple[Term, ...]:
    """What is searched for: words, "phrases in quotes" and beginnings* of words."""
    found = []
    for match in _TERM.finditer(query):
        term = match[1] if match[1] is not None else match[2]
        words = tuple(_WORD.findall(term))
        if words:
            found.append(Term(words, match[2] is not None and term.endswith("*")))
    return tuple(found[:_MOST_TERMS])


def matches(dialect: str, query: str) -> ColumnElement[bool] | None:
    """The rule for responses that hold all terms; None where there is nothing to search for."""
    terms = search_terms(query)
    if not terms:
        return None
    if _UNSPACED.search(query):
        return and_(*(responses.c.text.contains(" ".join(t.words), autoescape=True) for t in terms))
    if dialect == "postgresql":
        return and_(*map(_matches_postgres, terms))
    expression = " AND ".join(_fts_term(term) for term in terms)
    # By the bare value: FTS5 takes its own table's name as the column to match.
    found = select(_SEARCH.c.rowid).where(_SEARCH.c.response_search.op("MATCH")(expression))
    return responses.c.id.in_(found)


def _fts_term(term: Term) -> str:
    return f'"{" ".join(term.words)}"{"*" if term.prefix else ""}'


def _matches_postgres(term: Term) -> ColumnElement[bool]:
    # Written as in the index, so that PostgreSQL uses it.
    indexed = type_coerce(
        func.to_tsvector(text("'simple'"), func.left(responses.c.text, text("100000"))), TSVECTOR
    )
    end = ":*" if term.prefix else ""
    parts = [
        f"'{word}'{end if place == len(term.words) - 1 else ''}"
        for place, word in enumerate(term.words)
    ]
    wanted = func.to_tsquery(text("'simple'"), literal(" <-> ".join(parts), String))
    return indexed.op("@@")(wanted)
