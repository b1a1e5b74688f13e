"""The published SAGE files: the leaderboard's figures, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from empathylab.analysis.conversations import ConversationsAnalysis, from_lab
from empathylab.store import Lab
from empathylab.store.conversations import store_conversations
from empathylab.store.imports.conversation_files import ConversationSource, read_conversations
from empathylab.store.imports.sage import read_sage, sage_files

pytestmark = pytest.mark.shared_data

DEEPSEEK = "deepseek-v3-2024-1227_based_simulator"
GPT = "gpt-4o-2024-0806_based_simulator"
# Mean, success and failure as the leaderboard prints them.
PUBLISHED = {
    ("claude3.7", DEEPSEEK): (54.8, 19, 24),
    ("qwen2.5-72b", DEEPSEEK): (19.1, 4, 70),
    ("gpt-4o", DEEPSEEK): (31.75, 7, 51),
    ("gpt-4o", GPT): (52.13, 14, 18),
}


@pytest.fixture(scope="module")
def result(
    tmp_path_factory: pytest.TempPathFactory, shared_data: Path
) -> Iterator[ConversationsAnalysis]:
    names = {"gpt-4o-0806": "gpt-4o", "gpt-4o-0808": "gpt-4o"}
    with Lab.open(tmp_path_factory.mktemp("lab")) as lab:
        for path in sage_files(shared_data / "sage"):
            found = read_sage(path, names=names)
            store_conversations(lab, "sage", found.source, found.conversations)
        talks = read_conversations(
            shared_data / "conversations" / "lend_an_ear.csv", ConversationSource("people")
        )
        store_conversations(lab, "conversations", "lend_an_ear.csv", talks)
        yield from_lab(lab)


def test_the_leaderboard_is_reproduced_exactly(result: ConversationsAnalysis) -> None:
    found = {
        (row["respondent"], row["simulator"]): (row["mean_final"], row["success"], row["failure"])
        for row in result.to_dict()["respondents"]
        if row["n"]
    }
    assert found == PUBLISHED


def test_the_intervals_are_students(result: ConversationsAnalysis) -> None:
    # scipy.stats.t.interval(0.95, 99, mean, sem) of the 100 published scores.
    [claude] = [
        respondent for respondent in result.respondents if respondent.respondent == "claude3.7"
    ]
    assert (claude.low, claude.high) == pytest.approx((47.10750564, 62.49249436), abs=1e-6)


def test_the_same_model_moves_by_20_points_with_the_simulator(
    result: ConversationsAnalysis,
) -> None:
    [moved] = [comparison for comparison in result.comparisons if comparison.kind == "simulators"]
    assert moved.difference.paired
    assert moved.difference.n == 100
    assert abs(moved.difference.estimate) == pytest.approx(20.38)
    assert 0 < result.simulators.variance_share < 1


def test_no_conclusion_lacks_its_simulator(result: ConversationsAnalysis) -> None:
    for conclusion in result.conclusions:
        assert DEEPSEEK in str(conclusion) or GPT in str(conclusion)


def test_people_without_feelings_are_counted_and_not_scored(
    result: ConversationsAnalysis,
) -> None:
    [people] = [respondent for respondent in result.respondents if respondent.simulator == "people"]
    assert (people.n, people.outcomes["completed"], people.success) == (0, 50, None)


def test_repeated_messages_of_a_simulator_are_found(result: ConversationsAnalysis) -> None:
    loops = {
        (respondent.respondent, respondent.simulator): respondent.outcomes.get("loop", 0)
        for respondent in result.respondents
    }
    # One of the two simulators repeats itself in a third of its conversations or more.
    assert min(loops[name, DEEPSEEK] for name in ("claude3.7", "gpt-4o", "qwen2.5-72b")) >= 30
    assert loops["gpt-4o", GPT] <= 10
