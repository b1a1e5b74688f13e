"""What a reader sees without scrolling, in labs of every kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser

from empathylab.analysis import conversations, ratings
from empathylab.analysis.overview.first_screen import first_screen
from empathylab.analysis.overview.levels import rating_levels
from empathylab.report import LabOverview, write_report
from empathylab.report.blocks import Fold, Text
from empathylab.report.colours import Colours
from empathylab.report.conversations.section import conversations_section
from empathylab.report.overview.figures import main_figure
from empathylab.report.overview.section import overview_section
from empathylab.report.sections import report_colours
from empathylab.situations.sources.released import Dimension
from empathylab.store import Lab
from empathylab.store.ratings import Study
from tests.helpers.visits import WAYS, opened
from tests.report.lab_kinds import conversed, lab_kinds


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, LabOverview]]:
    with Lab.open(tmp_path_factory.mktemp("kinds")) as lab:
        yield lab_kinds(lab)


def test_the_title_asks_what_the_lab_answers(kinds: dict[str, LabOverview]) -> None:
    asked = {name: first_screen(data).question for name, data in kinds.items()}
    assert asked["none"] == "Nothing has been measured yet"
    assert (
        asked["only ratings"]
        == "How empathetic is a-model-with-a-long-name-1 compared with people?"
    )
    assert asked["ten models"] == "How empathetic are 10 models compared with people?"
    assert asked["only scales"] == "How does person react to emotional situations?"
    assert asked["only conversations"] == "How does a person feel after talking with 3 models?"
    assert (
        asked["only preferences"]
        == "Whose replies do people prefer: a-model-with-a-long-name-1 or people?"
    )
    assert asked["preferences of six"] == "Whose replies do people prefer: 5 models or people?"
    assert asked["only scores"] == "How empathetic is model-0?"


def test_the_title_counts_people_of_any_name_as_people(kinds: dict[str, LabOverview]) -> None:
    ten = kinds["ten models"]
    known = frozenset(ten.ratings[0].arms[:2])
    asked = first_screen(dataclasses.replace(ten, people=known)).question
    assert asked == "How empathetic are 9 models compared with people?"


def test_the_title_names_only_what_the_first_topic_compares(
    kinds: dict[str, LabOverview],
) -> None:
    rated = kinds["only ratings"]
    more = dataclasses.replace(
        rated,
        respondents=("other", *rated.respondents),
        conversations=kinds["only conversations"].conversations,
    )
    assert first_screen(more).question == first_screen(rated).question
    # What is not rated does not count as one that is compared with people.
    scored = dataclasses.replace(kinds["only scores"], respondents=("human", "model-0", "model-1"))
    assert first_screen(scored).question == "How empathetic is model-0?"


def test_conversations_that_have_not_ended_do_not_make_the_title(
    kinds: dict[str, LabOverview],
) -> None:
    begun = dataclasses.replace(conversed(), respondents=())
    data = dataclasses.replace(kinds["only scales"], conversations=begun)
    assert first_screen(data).question == "How does person react to emotional situations?"


def test_the_title_keeps_a_provider_that_is_not_known(kinds: dict[str, LabOverview]) -> None:
    data = kinds["only scores"]
    [result] = data.scores
    [scored] = result.respondents
    mine = dataclasses.replace(scored, respondent="mine/chat")
    own = dataclasses.replace(data, scores=(dataclasses.replace(result, respondents=(mine,)),))
    assert first_screen(own).question == "How empathetic is mine/chat?"


def test_a_conclusion_states_estimate_interval_and_basis(kinds: dict[str, LabOverview]) -> None:
    data = kinds["only ratings"]
    [headline] = first_screen(data).shown
    test = next(
        difference for difference in data.ratings[0].differences if difference.kind == "all"
    )
    difference = test.difference
    assert (
        f"difference {difference.estimate:+.1f} points, 95% CI {difference.low:+.1f} to "
        f"{difference.high:+.1f}; 96 ratings by 16 raters"
    ).replace("-", "−") in str(headline).replace("-", "−")
    assert headline.anchor == "ratings-1"


def test_all_dimensions_of_a_study_are_in_the_chart(kinds: dict[str, LabOverview]) -> None:
    chart = first_screen(kinds["four dimensions"]).chart
    assert chart is not None
    assert list(dict.fromkeys(row.panel for row in chart.rows)) == [
        "warmth",
        "help",
        "tone",
        "trust",
    ]
    assert (chart.lowest, chart.highest, chart.percent) == (1, 5, False)


def test_of_many_respondents_the_highest_and_lowest_are_drawn(
    kinds: dict[str, LabOverview],
) -> None:
    chart = first_screen(kinds["200 respondents"]).chart
    assert chart is not None
    assert len(chart.rows) + chart.omitted == 200
    estimates = [row.estimate for row in chart.rows]
    assert estimates == sorted(estimates, reverse=True)


def test_people_stay_in_the_chart_of_many_models(kinds: dict[str, LabOverview]) -> None:
    chart = first_screen(kinds["ten models"]).chart
    assert chart is not None
    assert "human" in [row.respondent for row in chart.rows]


def test_people_stay_in_the_chart_of_many_models_reactions(kinds: dict[str, LabOverview]) -> None:
    data = kinds["only scales"]
    [first, *_] = (item for item in data.appraisal.changes if item.level == "overall")
    names = [f"model-{place}" for place in range(30)]
    names[15] = "human"  # neither among the highest nor among the lowest
    changes = tuple(
        dataclasses.replace(first, respondent=name, delta=float(place), cluster_delta=float(place))
        for place, name in enumerate(names)
    )
    appraisal = dataclasses.replace(data.appraisal, changes=changes)
    chart = first_screen(dataclasses.replace(data, appraisal=appraisal)).chart
    assert chart is not None
    assert chart.omitted > 0
    assert "human" in [row.respondent for row in chart.rows]


def test_people_who_rated_come_before_judges_simulators_and_scales(
    kinds: dict[str, LabOverview],
) -> None:
    rated = kinds["only ratings"]
    every = dataclasses.replace(
        kinds["one model"],
        ratings=rated.ratings,
        scores=kinds["only scores"].scores,
        conversations=kinds["only conversations"].conversations,
    )
    first = first_screen(every)
    order = list(dict.fromkeys(headline.section for headline in first.headlines))
    assert order == ["ratings", "scores", "conversations", "scales", "style", "replies"]
    # The caveat belongs to the conclusion that stands first, not to the lab's other topics.
    assert first.caveat == first_screen(rated).caveat
    assert first.caveat in rated.ratings[0].conclusions[0].caveats
    # Unless a model's answers mean nothing.
    worse = dataclasses.replace(rated, unrated=("Its answers are meaningless.",))
    assert first_screen(worse).caveat == "Its answers are meaningless."


def test_a_wide_screen_has_conclusions_that_a_phone_has_no_room_for(
    kinds: dict[str, LabOverview],
) -> None:
    every = dataclasses.replace(
        kinds["one model"],
        ratings=kinds["only ratings"].ratings,
        scores=kinds["only scores"].scores,
        conversations=kinds["only conversations"].conversations,
    )
    first = first_screen(every)
    shown, more = ([item.section for item in part] for part in (first.shown, first.shown_wide))
    assert [*shown, *more] == ["ratings", "scores", "conversations", "scales"]
    assert more


def test_all_caveats_are_those_of_every_topic(kinds: dict[str, LabOverview]) -> None:
    rated, talks = kinds["only ratings"], kinds["only conversations"].conversations
    assert talks is not None
    every = dataclasses.replace(rated, conversations=talks, unrated=("Nobody rated it.",))
    caveats = first_screen(every).caveats
    assert len(set(caveats)) == len(caveats)
    assert {*talks.caveats, *first_screen(rated).caveats, "Nobody rated it."} == set(caveats)


def test_doubts_about_scales_come_first_only_beside_a_conclusion_on_scales(
    kinds: dict[str, LabOverview],
) -> None:
    def in_order(data: LabOverview) -> list[str]:
        caveats = first_screen(dataclasses.replace(data, unrated=("Of the lab.",))).caveats
        return [caveat for caveat in caveats if caveat.startswith(("Of the lab", "The result app"))]

    rated = kinds["only ratings"]
    limits, doubt = in_order(rated)
    assert doubt == "Of the lab."
    asked = dataclasses.replace(rated, appraisal=kinds["one model"].appraisal)
    assert in_order(asked) == [doubt, limits]


def test_the_chart_says_what_its_intervals_are(kinds: dict[str, LabOverview]) -> None:
    data = kinds["one model"]
    lengths = dataclasses.replace(data, appraisal=kinds["none"].appraisal)
    titles = {
        name: main_figure(chart).title
        for name, found in {**kinds, "only replies": lengths}.items()
        if (chart := first_screen(found).chart)
    }
    assert titles["only ratings"] == "Replies rated Good on empathy (95% CI)"
    assert titles["only replies"] == "Median words per reply (middle half)"


def test_the_scores_of_one_model_are_all_drawn(kinds: dict[str, LabOverview]) -> None:
    data = kinds["only scores"]
    chart = first_screen(data).chart
    assert chart is not None
    scores = data.scores[0].respondents[0].scores
    assert [(row.panel, row.estimate) for row in chart.rows] == [
        (score.dimension, score.mean) for score in scores
    ]


@pytest.mark.parametrize(("fit", "said"), [(True, ""), (False, "The judge is not fit.")])
def test_scores_of_many_models_say_whether_the_judge_is_fit(
    kinds: dict[str, LabOverview], monkeypatch: pytest.MonkeyPatch, *, fit: bool, said: str
) -> None:
    data = kinds["200 respondents"]
    monkeypatch.setattr(type(data.scores[0]), "fit", property(lambda _: fit))
    assert first_screen(data).shown[0].conclusion.sentence.endswith(said or "replies in all.")


@pytest.mark.browser
@pytest.mark.parametrize("way", WAYS)
def test_it_fits_into_the_viewport(
    kinds: dict[str, LabOverview], browser: Browser, tmp_path: Path, way: str
) -> None:
    for name, data in kinds.items():
        report = write_report(data, tmp_path / name)
        with opened(browser, report, way) as visit:
            page = visit.page
            size = page.viewport_size
            assert size is not None
            parts = page.locator(".first > *")
            found = parts.evaluate_all(
                "parts => parts.map((part) => [part.className || part.tagName, "
                "part.getBoundingClientRect().bottom])"
            )
            assert all(bottom <= size["height"] for _, bottom in found), (name, found)
            shown = {kind for kind, _ in found}
            expected = (
                {"H1", "lead"} if name == "none" else {"H1", "headlines", "main-chart", "caveat"}
            )
            assert shown == expected, name
            if name != "none":
                assert page.locator(".first .chart svg.marks").is_visible()
                link = page.locator(".first .headlines a").first.get_attribute("href")
                assert page.locator(f"{link}").count() == 1
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
            assert page.evaluate("document.documentElement.scrollHeight") <= 12_000
            assert visit.troubles == []


@pytest.mark.browser
def test_names_that_are_cut_on_a_phone_stay_different(
    kinds: dict[str, LabOverview], browser: Browser, tmp_path: Path
) -> None:
    names = [
        *("meta/llama-3.1-70b-instruct", "meta/llama-3.1-8b-instruct"),
        *("mistral/mistral-large-latest", "mistral/mistral-small-latest"),
        *(f"other/model-{number}" for number in range(4)),
    ]
    rows = [
        {"respondent": name, "simulator": "s", "persona": f"p{n}", "final": 40.0 + place + n}
        for place, name in enumerate(names)
        for n in range(4)
    ]
    talks = conversations.from_table(pl.DataFrame(rows))
    data = dataclasses.replace(kinds["none"], conversations=talks, respondents=tuple(names))
    [phone] = [way for way in WAYS if "phone" in way]
    with opened(browser, write_report(data, tmp_path), phone) as visit:
        found = visit.page.locator(".first .chart svg.marks text").all_text_contents()
        cut = [text.split(", ")[-1] for text in found if "…" in text]
        assert len(cut) == 4
        assert len(set(cut)) == 4


def test_conversations_without_a_feeling_say_so(kinds: dict[str, LabOverview]) -> None:
    rows = [
        {"respondent": "model-0", "simulator": "human", "persona": f"p{n}", "final": 50.0 + n}
        for n in range(6)
    ]
    talks = conversations.from_table(pl.DataFrame(rows))
    blank = tuple(dataclasses.replace(found, n=0) for found in talks.respondents)
    data = dataclasses.replace(
        kinds["none"],
        conversations=dataclasses.replace(talks, respondents=blank),
        respondents=("model-0",),
    )
    first = first_screen(data)
    assert first.question == "How does model-0 talk with people?"
    [headline] = first.shown
    assert str(headline).startswith("6 conversations with model-0: how the person felt")
    section = conversations_section(data.conversations, ())
    assert not any(
        isinstance(block, Text) and "0 (worst)" in block.sentences[0] for block in section.blocks
    )
    [table] = [table for table in section.tables() if "by respondent" in table.title]
    assert [(row["conversations"], row["scored"]) for row in table.rows] == [("6", "0")]


def test_the_chart_has_the_intervals_of_the_study(kinds: dict[str, LabOverview]) -> None:
    data = kinds["four dimensions"]
    chart = first_screen(data).chart
    assert chart is not None
    levels = {(level.dimension, level.arm): level for level in rating_levels(data.ratings[0])}
    assert len(chart.rows) == len(levels)
    for row in chart.rows:
        level = levels[row.panel, row.respondent]
        assert (row.low, row.estimate, row.high) == (level.low, level.estimate, level.high)
        assert level.low < level.estimate < level.high


def test_people_who_rated_replies_come_before_people_who_got_them(
    kinds: dict[str, LabOverview],
) -> None:
    both = dataclasses.replace(
        kinds["only ratings"], recipients=kinds["only recipients"].recipients
    )
    assert first_screen(both).chart == first_screen(kinds["only ratings"]).chart


def test_style_is_no_main_conclusion_beside_another_topic(kinds: dict[str, LabOverview]) -> None:
    first = first_screen(kinds["one model"])
    assert {headline.section for headline in first.headlines} > {"scales", "replies"}
    shown = {headline.section for headline in (*first.shown, *first.shown_wide)}
    assert shown == {"scales"}


def test_ratings_without_room_are_not_left_out(kinds: dict[str, LabOverview]) -> None:
    first = first_screen(kinds["four dimensions"])
    assert first.others is not None
    full = {str(headline.conclusion.dimension) for headline in first.shown}
    in_short = {name for name in ("warmth", "help", "tone", "trust") if name in first.others}
    assert full | in_short == {"warmth", "help", "tone", "trust"}
    assert not full & in_short
    assert first_screen(kinds["only ratings"]).others is None


def test_a_proportions_interval_stays_within_0_and_1() -> None:
    words = Dimension("empathy", (1.0, 2.0, 3.0), ("Bad", "Okay", "Good"))
    rows = [
        {
            "rater": f"{arm}-{rater}",
            "arm": arm,
            "respondent": arm,
            "situation": f"s{place}",
            "rating": 3.0 if (rater > 0) == (arm == "a") or not (rater or place) else 1.0,
        }
        for arm in ("human", "a")
        for rater in range(3)
        for place in range(4)
    ]
    study = Study("study", "A study", "between", (words,), "closed")
    result = ratings.from_table(pl.DataFrame(rows), study=study)
    levels = {level.arm: level for level in rating_levels(result)}
    assert levels["human"].low == 0.0
    assert levels["a"].high == 1.0


def test_conclusions_beyond_the_first_screen_are_listed_below_it(
    kinds: dict[str, LabOverview],
) -> None:
    data = kinds["four dimensions"]
    first = first_screen(data)
    assert len(first.headlines) > len(first.shown)
    folds = {getattr(block, "id", ""): block for block in overview_section(data, first).blocks}
    fold = folds["conclusions"]
    assert isinstance(fold, Fold)
    [text] = fold.blocks
    assert isinstance(text, Text)
    assert list(text.sentences) == [str(headline) for headline in first.headlines]


def test_rated_respondents_get_the_first_colours_and_arms_those_of_their_authors(
    kinds: dict[str, LabOverview],
) -> None:
    data = kinds["only ratings"]
    [study] = data.ratings
    [model] = [arm for arm in study.arms if arm != "human"]
    frame = study.ratings.with_columns(
        respondent=pl.when(arm=model).then(pl.lit("its/author")).otherwise(pl.col("respondent"))
    )
    named = dataclasses.replace(
        data,
        ratings=(dataclasses.replace(study, ratings=frame),),
        respondents=("not/rated", "its/author"),
    )
    colours = report_colours(named)
    assert colours.of(model) == colours.of("its/author") == Colours(["first"]).of("first")
    assert colours.of("not/rated") == Colours(["first", "second"]).of("second")
