"""Endpoints of many personalities, from the command to the stored text, outcome and exit code."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import Done, empathylab
from tests.helpers.personalities import GERMAN, REPLY, THOUGHT, Met, personalities


@pytest.fixture(scope="module")
def met() -> Iterator[Met]:
    with personalities() as found:
        yield found


def respond(met: Met, lab: Path, who: str, *options: str, model: str = "x/any") -> Done:
    """Six replies, in two emotions."""
    return empathylab(
        *("respond", model, "--base-url", met.base_url(who), "--lab", str(lab)),
        *("--emotion", "sad", "--emotion", "proud", "--situations", "3", "--retries", "0"),
        *options,
    )


def rows(lab: Path, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(lab / "lab.sqlite")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def replies(lab: Path) -> set[tuple[str, str]]:
    return set(rows(lab, "SELECT text, outcome FROM responses"))


def reasons(lab: Path) -> str:
    return str(rows(lab, "SELECT DISTINCT reason FROM responses"))


def test_think_tags_are_no_part_of_the_reply(met: Met, tmp_path: Path) -> None:
    done = respond(met, tmp_path, "think-tags")
    assert done.exit_code == 0, done.output
    assert replies(tmp_path) == {(REPLY, "valid")}
    [(reasoning, tokens)] = rows(
        tmp_path, "SELECT DISTINCT reasoning, reasoning_tokens FROM answers"
    )
    assert reasoning == THOUGHT
    assert tokens == len(THOUGHT) // 4 + 1
    assert THOUGHT not in done.stdout + done.stderr


def test_a_command_says_what_it_did_and_writes_a_report_only_on_request(
    met: Met, tmp_path: Path
) -> None:
    respond(met, tmp_path, "think-tags", model="x/first")
    done = respond(met, tmp_path, "german", "--json", model="x/second")
    content = json.loads(done.stdout)
    assert content["report"] is None
    assert [row["respondent"] for row in content["replies"]] == ["x/second"]
    assert not any("x/first" in caution for caution in content["cautions"])
    assert not (tmp_path / "reports").exists()
    done = respond(met, tmp_path, "german", "--report", model="x/second")
    assert f"Report: {tmp_path / 'reports' / 'report.html'}" in done.stdout
    assert "x/first" in (tmp_path / "reports" / "report.html").read_text()


def test_reasoning_that_eats_the_budget_stops_the_run_and_says_what_to_set(
    met: Met, tmp_path: Path
) -> None:
    done = respond(met, tmp_path, "reasoning-content")
    assert done.exit_code == 2
    assert "--max-tokens 4096" in done.output
    assert "--reasoning-effort" in done.output
    assert replies(tmp_path) == {("", "reasoning_cut_off")}
    assert "--max-tokens" in reasons(tmp_path)


def test_room_for_reasoning_gives_the_reply(met: Met, tmp_path: Path) -> None:
    done = respond(met, tmp_path, "reasoning-content", "--max-tokens", "2000")
    assert done.exit_code == 0, done.output
    assert replies(tmp_path) == {(REPLY, "valid")}
    assert rows(tmp_path, "SELECT DISTINCT reasoning, reasoning_tokens FROM answers") == [
        (THOUGHT, 900)
    ]


def test_a_family_that_is_known_to_reason_gets_the_room_unasked(met: Met, tmp_path: Path) -> None:
    done = respond(met, tmp_path, "reasoning-content", model="x/deepseek-r1")
    assert done.exit_code == 0, done.output
    assert replies(tmp_path) == {(REPLY, "valid")}
    assert met.seen("reasoning-content")["accepted"]["max_tokens"] > 8192


def test_a_few_answers_cut_off_are_said_at_the_end(met: Met, tmp_path: Path) -> None:
    done = respond(met, tmp_path, "reasoning-content", "--situations", "1")
    assert done.exit_code == 0
    assert "2 answers were cut off while the model was reasoning" in done.output


def test_temperature_and_max_tokens_are_sent_as_the_o_series_takes_them(
    met: Met, tmp_path: Path
) -> None:
    done = respond(met, tmp_path, "o-series")
    assert done.exit_code == 0, done.output
    assert replies(tmp_path) == {(REPLY, "valid")}
    assert "max_tokens sent as max_completion_tokens, temperature left out" in done.output
    sent = json.loads(rows(tmp_path, "SELECT sent FROM answers")[0][0])
    assert set(sent) == {"max_completion_tokens", "seed"}
    assert set(sent) == set(met.seen("o-series")["accepted"]) - {"model", "messages"}
    assert rows(tmp_path, "SELECT count(*) FROM failures") == [(0,)]


def test_a_seed_is_renamed_where_the_endpoint_wants_that(met: Met, tmp_path: Path) -> None:
    done = respond(met, tmp_path, "strict-seed")
    assert done.exit_code == 0, done.output
    assert "random_seed" in met.seen("strict-seed")["accepted"]
    assert replies(tmp_path) == {(REPLY, "valid")}


def test_a_seed_is_left_out_where_no_name_for_it_is_known(met: Met, tmp_path: Path) -> None:
    done = respond(met, tmp_path, "no-seed")
    assert done.exit_code == 0, done.output
    assert not {"seed", "random_seed"} & set(met.seen("no-seed")["accepted"])


def test_what_the_user_omits_is_not_sent_and_what_they_add_is(met: Met, tmp_path: Path) -> None:
    options = ("--omit", "seed,temperature", "--param", "top_k=40", "--param", "user=me")
    before = met.seen("no-seed")["calls"]
    done = respond(met, tmp_path, "no-seed", *options)
    assert done.exit_code == 0, done.output
    seen = met.seen("no-seed")
    assert seen["calls"] - before == 6  # nothing was refused
    assert (seen["accepted"]["top_k"], seen["accepted"]["user"]) == (40, "me")
    assert not {"seed", "temperature"} & set(seen["accepted"])


def test_a_value_out_of_range_is_left_to_the_user(met: Met, tmp_path: Path) -> None:
    done = respond(met, tmp_path, "too-much")
    assert done.exit_code == 2
    assert "must be at most 16" in done.output


def test_a_tool_call_is_named_as_such(met: Met, tmp_path: Path) -> None:
    done = respond(met, tmp_path, "tool-calls")
    assert done.exit_code == 0
    assert replies(tmp_path) == {("", "tool_call")}
    assert "look_up" in reasons(tmp_path)


@pytest.mark.parametrize("who", ["streaming", "always-streams"])
def test_a_stream_is_read_where_there_is_nothing_else(met: Met, tmp_path: Path, who: str) -> None:
    done = respond(met, tmp_path, who)
    assert done.exit_code == 0, done.output
    assert replies(tmp_path) == {(REPLY, "valid")}
    assert rows(tmp_path, "SELECT DISTINCT completion_tokens FROM answers") == [(20,)]


def appraise(met: Met, lab: Path, who: str, *options: str, model: str = "x/any") -> Done:
    return empathylab(
        *("appraise", model, "--base-url", met.base_url(who), "--lab", str(lab)),
        *("--situations", "1", "--default-orders", "1", *options),
    )


def outcomes(lab: Path) -> set[tuple[str]]:
    return set(rows(lab, "SELECT outcome FROM administrations"))


def test_without_structured_output_the_words_are_read(met: Met, tmp_path: Path) -> None:
    done = appraise(met, tmp_path, "no-json")
    assert done.exit_code == 0, done.output
    assert "response_format left out" in done.output
    assert outcomes(tmp_path) == {("unparseable",)}


def test_without_probabilities_the_outcome_says_so(met: Met, tmp_path: Path) -> None:
    done = appraise(met, tmp_path, "no-logprobs", "--mode", "logprob")
    assert done.exit_code == 0, done.output
    assert outcomes(tmp_path) == {("no_logprobs",)}


def test_a_rate_limit_is_waited_for(met: Met, tmp_path: Path) -> None:
    done = respond(met, tmp_path, "rate-limited")
    assert done.exit_code == 0, done.output
    assert replies(tmp_path) == {(REPLY, "valid")}


def test_a_slow_endpoint_is_a_failure_not_an_outcome(met: Met, tmp_path: Path) -> None:
    options = ("--timeout", "0.2", "--attempts", "1", "--situations", "1")
    done = respond(met, tmp_path, "slow", *options)
    assert done.exit_code == 1
    assert "2 requests got no answer: 2 × time-out (no answer within 0.2 s)" in done.stderr
    assert replies(tmp_path) == set()


def test_an_empty_answer_is_empty(met: Met, tmp_path: Path) -> None:
    assert respond(met, tmp_path, "empty").exit_code == 0
    assert replies(tmp_path) == {("", "empty")}


def test_a_refusal_keeps_its_words(met: Met, tmp_path: Path) -> None:
    assert respond(met, tmp_path, "refusing").exit_code == 0
    assert replies(tmp_path) == {("I cannot help with that.", "refusal")}


def test_german_is_the_wrong_language_for_an_english_situation(met: Met, tmp_path: Path) -> None:
    assert respond(met, tmp_path, "german").exit_code == 0
    assert replies(tmp_path) == {(GERMAN, "wrong_language")}


def test_german_is_right_where_german_was_asked_for(met: Met, tmp_path: Path) -> None:
    german = ("--language", "de", "--lab", str(tmp_path), "--base-url")
    done = empathylab("evaluate", "x/any", *german, met.base_url("german"))
    assert done.exit_code == 0, done.stderr
    assert "the scale panas has no wording in German" in done.stderr
    assert replies(tmp_path) == {(GERMAN, "valid")}
    asked = met.seen("german")["accepted"]["messages"]
    assert "Antworte auf Deutsch" in asked[0]["content"]

    appraise = ("appraise", "x/any", *german, met.base_url("no-logprobs"))
    done = empathylab(*appraise)
    assert done.exit_code == 2
    assert "empathylab scales import" in done.stderr
    scale = tmp_path / "scale.json"
    words = {"words": ["wach", "traurig"], "items": 2, "anchors": {"1": "gar nicht"}}
    named = {"id": "panas-de", "name": "Zwei Wörter", "citation": "–", "licence": "–"}
    range_ = {"version": 1, "minimum": 1, "maximum": 5, "rule": "sum", "instruction": "Wie sehr?"}
    scale.write_text(json.dumps(named | range_ | words))
    assert empathylab("scales", "import", str(scale), "--lab", str(tmp_path)).exit_code == 0
    done = empathylab(*appraise, "--situations", "1", "--default-orders", "1")
    assert done.exit_code == 0, done.stderr
    assert outcomes(tmp_path) == {("valid",)}
    asked = met.seen("no-logprobs")["accepted"]["messages"]
    assert "Fragebogen" in asked[0]["content"]
    assert "Stell dir vor" in asked[1]["content"]
    assert "Ganze Zahlen von 1 bis 5: 1 = gar nicht.\n\n1. wach" in asked[1]["content"]


def test_situations_in_another_language_are_taken_from_the_lab(met: Met, tmp_path: Path) -> None:
    spanish = ("--language", "es", "--lab", str(tmp_path))
    done = respond(met, tmp_path, "german", "--language", "es")
    assert done.exit_code == 2
    assert "data import situations FILE --name dialogues-es --language es" in done.stderr
    file = tmp_path / "dialogues-es.csv"
    file.write_text(
        "id,text,emotion\na,Mi hijo se fue a vivir a otra ciudad y lo echo de menos.,sad"
    )
    assert empathylab("data", "import", "situations", str(file), *spanish).exit_code == 0
    done = empathylab("respond", "x/any", *spanish, "--base-url", met.base_url("german"))
    assert done.exit_code == 0, done.stderr
    assert "Responde en español" in met.seen("german")["accepted"]["messages"][0]["content"]
    assert {outcome for _, outcome in replies(tmp_path)} == {"wrong_language"}


def test_a_web_page_is_quoted_rather_than_named_by_a_python_error(met: Met, tmp_path: Path) -> None:
    done = respond(met, tmp_path, "web-page", "--attempts", "1")
    assert done.exit_code == 2
    assert "<html><body>Sign in" in done.output
    assert "JSONDecodeError" not in done.output


NATIVE = {
    "anthropic": ("--api", "anthropic", "--api-key-env", "ANT_API_KEY"),
    "gemini": ("--api", "gemini", "--api-key-env", "GEM_API_KEY"),
}


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANT_API_KEY", "ant-key")
    monkeypatch.setenv("GEM_API_KEY", "gem-key")


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("who", "model", "text", "outcome"),
    [
        ("anthropic", "claude-haiku-4-5", REPLY, "valid"),
        ("anthropic", "claude-refuses", "declined by the safety rules", "refusal"),
        ("anthropic", "claude-calls", "", "tool_call"),
        ("gemini", "gemini-2.5-flash", REPLY, "valid"),
        ("gemini", "gemini-blocks", "the prompt was blocked: PROHIBITED_CONTENT", "refusal"),
        ("gemini", "gemini-unsafe", "stopped by the safety rules: SAFETY", "refusal"),
        ("gemini", "gemini-calls", "", "tool_call"),
    ],
)
def test_native_apis_give_their_own_outcomes(
    met: Met, tmp_path: Path, who: str, model: str, text: str, outcome: str
) -> None:
    done = respond(met, tmp_path, who, *NATIVE[who], model=f"x/{model}")
    assert done.exit_code == 0, done.output
    assert replies(tmp_path) == {(text, outcome)}


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("model", ["anthropic", "gemini"])
def test_native_answers_cut_off_while_reasoning_stop_the_run(
    met: Met, tmp_path: Path, model: str
) -> None:
    done = respond(met, tmp_path, model, *NATIVE[model], model=f"x/{model}-cuts")
    assert done.exit_code == 2
    assert "--max-tokens" in done.output
    assert replies(tmp_path) == {("", "reasoning_cut_off")}


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("who", ["anthropic", "gemini"])
def test_native_apis_answer_scales_by_schema(met: Met, tmp_path: Path, who: str) -> None:
    done = appraise(met, tmp_path, who, *NATIVE[who], model=f"x/{who}")
    assert done.exit_code == 0, done.output
    assert outcomes(tmp_path) == {("valid",)}
    assert rows(tmp_path, "SELECT DISTINCT value FROM item_answers") == [(3.0,)]


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-5"])
def test_thinking_is_stored_apart(met: Met, tmp_path: Path, model: str) -> None:
    effort = ("--reasoning-effort", "medium")
    done = respond(met, tmp_path, "anthropic", *NATIVE["anthropic"], *effort, model=f"x/{model}")
    assert done.exit_code == 0, done.output
    assert replies(tmp_path) == {(REPLY, "valid")}
    assert rows(tmp_path, "SELECT DISTINCT reasoning FROM answers") == [(THOUGHT,)]
    asked = met.seen("anthropic")["accepted"]["thinking"]["type"]
    assert asked == ("enabled" if "4-5" in model else "adaptive")


@pytest.mark.usefixtures("keys")
def test_thoughts_are_counted(met: Met, tmp_path: Path) -> None:
    respond(met, tmp_path, "gemini", *NATIVE["gemini"], model="x/gemini-2.5-flash")
    query = "SELECT DISTINCT reasoning, reasoning_tokens, completion_tokens FROM answers"
    assert rows(tmp_path, query) == [(THOUGHT, 100, 120)]


def test_an_address_without_a_scheme_is_refused_with_the_right_one(tmp_path: Path) -> None:
    done = empathylab(
        "respond", "x/any", "--base-url", "localhost:8420/v1", "--lab", str(tmp_path / "lab")
    )
    assert done.exit_code == 2
    assert "--base-url http://localhost:8420/v1" in done.output
    assert not (tmp_path / "lab").exists()


def test_the_list_of_models_cuts_no_name_off() -> None:
    done = empathylab("models", "--timeout", "0.2", COLUMNS="40")
    assert done.exit_code == 0, done.stderr
    assert "…" not in done.stdout
    assert "together/meta-llama/Llama-3.3-70B-Instruct-Turbo" in done.stdout


def test_reasoning_is_shown_only_on_request(met: Met, tmp_path: Path) -> None:
    respond(met, tmp_path, "think-tags")
    listed = json.loads(empathylab("runs", "list", "--lab", str(tmp_path), "--json").stdout)
    [run] = listed["runs"]
    assert (run["run"], run["respondent"], run["answered"], run["shown"]) == (1, "x/any", 6, True)
    show = ("runs", "show", "1", "--answers", "2", "--lab", str(tmp_path))
    plain = empathylab(*show)
    assert plain.exit_code == 0, plain.stderr
    assert plain.stdout.count(REPLY) == 2
    assert THOUGHT not in plain.stdout
    asked = json.loads(empathylab(*show, "--reasoning", "--json").stdout)
    assert asked["outcomes"] == {"valid": 6}
    assert [answer["reasoning"] for answer in asked["answers"]] == [THOUGHT] * 2


def test_an_unknown_run_is_refused_with_those_there_are(met: Met, tmp_path: Path) -> None:
    respond(met, tmp_path, "empty")
    done = empathylab("runs", "show", "7", "--lab", str(tmp_path))
    assert done.exit_code == 2
    assert "runs list" in done.output
