"""The section on scales: changes from baseline, distances from people, and their validity."""

from __future__ import annotations

from collections.abc import Sequence

from empathylab.analysis.appraisal.result import AppraisalResult, interval_of, place_label
from empathylab.analysis.text.names import first_capital, name_of
from empathylab.analysis.text.numbers import number, p_value, percent, signed
from empathylab.report.appraisal.figures import figures
from empathylab.report.appraisal.tables import side_by_side_tables
from empathylab.report.blocks import Block, Figure, Fold, Row, Section, Table, Text, kept
from empathylab.stats.questionnaires.appraisal import ScaleChange

_MOST_TABLES = 24
_ARROWS = {"up": "↑", "down": "↓", "none": "–"}
_VALIDITY = (
    "A questionnaire score is meaningful only if the answers depend on what the items say. Each "
    "respondent's answers were compared with the items' positions on the page, with other item "
    "orders, and with repeated answers."
)
_DISTANCES = (
    "Rank agreement: do the factors that move people most also move the respondent most "
    "(Spearman)? Factor coherence: the proportion of the variance of situations that is between "
    "factors. A respondent that was asked about different situations than people also differs "
    "from them for that reason."
)
_NUMBERS = (
    "Mean (SD), change from baseline with 95% interval clustered by situation and item order; the "
    "published test with p corrected by Holm's method over rows of the same level; ↑ ↓ – its "
    "direction at α = .01, uncorrected."
)


def scales_section(result: AppraisalResult, lead: Sequence[str]) -> Section:
    """The section; without blocks where nothing was answered."""
    if not result.changes:
        return Section(id="scales", title="Scales", blocks=())
    drawn = list(figures(result))
    main = [figure for figure in drawn if figure.name.startswith(("changes", "distances"))]
    blocks = kept(
        *main[:1],
        *[figure for figure in main[1:] if figure.name == "distances"],
        _believed(result),
        Fold(
            id="scales-others",
            title="Other scales",
            blocks=[figure for figure in main[1:] if figure.name != "distances"],
        ),
        Fold(id="scales-emotions", title="By emotion", blocks=_named(drawn, "emotions")),
        Fold(id="scales-levels", title="Each administration", blocks=_named(drawn, "levels")),
        Fold(id="scales-factors", title="By factor", blocks=_named(drawn, "factors")),
        Fold(
            id="scales-counterparts",
            title="When situations go well",
            blocks=kept(
                Table(
                    title="Change after situations that went well",
                    rows=_counterparts(result),
                    caption="After the positive counterparts of the same situations.",
                    paper=False,
                )
            ),
        ),
        Fold(
            id="scales-people",
            title="How close to people?",
            blocks=kept(
                Table(
                    title="Distance from people",
                    rows=_distances(result),
                    caption=_DISTANCES,
                    paper=False,
                )
            ),
        ),
        Fold(id="scales-numbers", title="The numbers", blocks=_numbers(result)),
    )
    return Section(id="scales", title="Scales", blocks=blocks, lead=lead)


def _named(drawn: Sequence[Figure], name: str) -> list[Block]:
    return [figure for figure in drawn if figure.name.startswith(name)]


def _believed(result: AppraisalResult) -> Fold:
    """The verdicts on the answers, counted in the title."""
    verdicts = [report.validity.verdict for report in result.self_reports]
    worst = next((item for item in ("meaningless", "doubtful", "usable") if item in verdicts), "")
    counts = ", ".join(
        f"{verdicts.count(item)} {item}"
        for item in ("usable", "doubtful", "meaningless")
        if item in verdicts
    )
    verdicts_and_numbers = (
        Table(title="Verdicts", rows=_verdicts(result), caption=_VALIDITY, paper=False),
        Table(title="The numbers behind the verdicts", rows=_validity(result), paper=False),
    )
    return Fold(
        id="scales-validity",
        title="Can these answers be believed?",
        blocks=kept(*verdicts_and_numbers),
        tag=(worst, counts) if counts else None,
        printed=True,
    )


def _verdicts(result: AppraisalResult) -> list[Row]:
    """A row per respondent and scale."""
    return [
        {
            "respondent": report.respondent,
            "scale": report.scale.upper(),
            "verdict": report.validity.verdict,
            "why": " ".join(report.reasons) or "–",
        }
        for report in result.self_reports
    ]


def _validity(result: AppraisalResult) -> list[Row]:
    """What the verdicts rest on."""
    rows: list[Row] = []
    for report in result.self_reports:
        validity = report.validity
        patterns = ", ".join(f"{count} {name}" for name, count in report.patterns.items())
        reliability = ", ".join(
            f"{subscale} {number(alpha.estimate, 2)}" for subscale, alpha in validity.alpha.items()
        )
        rows.append(
            {
                "respondent": report.respondent,
                "scale": report.scale.upper(),
                "valid": f"{number(validity.valid, 0)} of {number(validity.administrations, 0)}",
                "pattern answers": percent(validity.pattern_share)
                + (f" ({patterns})" if patterns else ""),
                "variance by items": _share(validity.content_share),
                "variance by position": _share(validity.position_share),
                "α": reliability or "–",
                "retest r": number(validity.retest.estimate, 2) if validity.retest else "–",
            }
        )
    return rows


def _share(value: float | None) -> str:
    """Corrected for noise, a share may fall a little below 0, which is shown as 0."""
    return percent(None if value is None else max(value, 0.0))


def _counterparts(result: AppraisalResult) -> list[Row]:
    return [
        {
            "respondent": change.respondent,
            "subscale": change.subscale,
            "after": change.emotion or "all situations",
            "n": number(change.n, 0),
            "change": f"{signed(change.delta)} {_ARROWS[change.direction]}",
        }
        for change in result.counterparts
    ]


def _distances(result: AppraisalResult) -> list[Row]:
    rows: list[Row] = []
    for found in sorted(result.summaries, key=lambda summary: summary.distance):
        key = (found.respondent, found.scale)
        ranks = [rank for rank in result.ranks if (rank.respondent, rank.scale) == key]
        coherent = [
            coherence
            for coherence in result.coherences
            if (coherence.respondent, coherence.scale) == key
        ]
        rows.append(
            {
                "respondent": found.respondent,
                "scale": found.scale.upper(),
                "distance over factors": number(found.distance, 2),
                "95% interval": f"{number(found.low, 2)} to {number(found.high, 2)}",
                "rank agreement (ρ)": _parts([(rank.subscale, rank.rho) for rank in ranks]),
                "factor coherence": _parts([(item.subscale, item.coherence) for item in coherent]),
            }
        )
    return rows


def _parts(values: Sequence[tuple[str, float | None]]) -> str:
    return ", ".join(f"{name} {number(value, 2)}" for name, value in values) or "–"


def _numbers(result: AppraisalResult) -> list[Block]:
    """The published layout side by side, then every respondent's own table."""
    blocks: list[Block] = [
        Table(title=table.title, rows=table.rows, caption=table.caption)
        for table in side_by_side_tables(result)
    ]
    names = list(dict.fromkeys(change.respondent for change in result.changes))
    keys = dict.fromkeys((change.respondent, change.scale) for change in result.changes)
    for respondent, scale in keys:
        if respondent not in names[:_MOST_TABLES]:
            continue
        mine = [
            change
            for change in result.changes
            if (change.respondent, change.scale) == (respondent, scale)
        ]
        title = first_capital(f"{name_of(respondent)}, {scale.upper()}")
        table = Table(
            title=title, rows=[_row(item) for item in mine], caption=_NUMBERS, paper=False
        )
        place = list(keys).index((respondent, scale)) + 1
        blocks.append(Fold(id=f"scales-numbers-{place}", title=title, blocks=(table,)))
    left_out = len(names) - _MOST_TABLES
    if left_out > 0:
        text = f"The numbers of {left_out} more respondents: `empathylab analyze appraisal`."
        blocks.append(Text((text,), "note"))
    return blocks


def _row(change: ScaleChange) -> Row:
    interval = interval_of(change)
    return {
        "subscale": change.subscale,
        "after": place_label(change.level, change.emotion, change.factor),
        "n": number(change.n, 0),
        "after situations": f"{number(change.mean)} ({number(change.sd)})",
        "at baseline": f"{number(change.default_mean)} ({number(change.default_sd)})",
        "change": f"{signed(change.cluster_delta)} {_ARROWS[change.direction]}",
        "95% interval": f"{signed(interval.low)} to {signed(interval.high)}" if interval else "–",
        "t": number(change.statistic, 2) if interval else "–",
        "p": p_value(change.p) if interval else "–",
        "p (Holm)": p_value(change.p_holm) if interval else "–",
        "p (clustered)": p_value(change.cluster_p) if interval else "–",
        "g": number(change.effect_size, 2) if interval else "–",
    }
