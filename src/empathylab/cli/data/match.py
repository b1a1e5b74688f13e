"""`empathylab data match`: the situations to which respondents replied at the same length."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.tables import print_json
from empathylab.errors import InputError, UnknownName

if TYPE_CHECKING:
    from empathylab.stats.lengths import LengthMatched

EXAMPLE = "Example: `empathylab data match welivita-2024 --name equally-long --ratio 1.2`"


def match(
    name: Annotated[str, argument("The set that was replied to.", metavar="SET")],
    selection: Annotated[str, option("A name for the selection, for --set.", "--name")],
    respondent: Annotated[
        list[str] | None, option("Only these respondents. Default: all who replied.")
    ] = None,
    ratio: Annotated[
        float, option("Maximum ratio of the longest to the shortest reply.", min=1.0)
    ] = 1.25,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Chooses the situations to which all respondents replied at about the same length.

    Longer replies tend to get higher ratings; on these situations, length cannot be the reason. The
    selection is stored under a name that you can use like a set.
    """
    import polars as pl

    from empathylab.stats.lengths import length_matched_situations
    from empathylab.store import Lab, lab_situation_set, responses_frame
    from empathylab.store.selections import save_selection

    with Lab.open(lab, create=False) as opened:
        chosen = lab_situation_set(opened, name)
        replies = responses_frame(opened).filter(set=chosen.id, outcome="valid")
        known = replies["respondent"].unique().sort().to_list()
        for item in respondent or ():
            if item not in known:
                raise UnknownName("respondent", item, known, where=f"replies to {name}")
        names = respondent or known
        if len(names) < 2:
            raise InputError(
                "matching lengths needs at least two respondents",
                where=f"replies to {name}",
                got=", ".join(names) or "none",
                remedy="Let others reply to the same set first.",
            )
        matched = length_matched_situations(
            replies.filter(pl.col("respondent").is_in(names)), ratio=ratio
        )
        situations = matched.replies["situation"].unique(maintain_order=True).to_list()
        if not situations:
            raise InputError(
                "no situation has replies of similar length from all respondents",
                where=f"replies to {name}",
                remedy="Allow more with --ratio.",
            )
        paragraph = _paragraph(matched, name, len(chosen), ratio)
        recipe = {"kind": "equal lengths", "respondents": names, "ratio": ratio}
        change = save_selection(
            opened, selection, chosen, situations, recipe, result={"paragraph": paragraph}
        )
    if json:
        document: dict[str, Any] = {
            "selection": selection,
            "change": change,
            "situations": situations,
            "imbalance_before": matched.imbalance_before,
            "imbalance": matched.imbalance,
            "paragraph": paragraph,
        }
        from empathylab.analysis.json_values import json_value

        print_json(json_value(document))
        return
    from empathylab.analysis.text.apa import counted

    typer.echo(f"{selection}: {change}, {counted(len(situations), 'situation')}\n\n{paragraph}")


def _paragraph(matched: LengthMatched, name: str, size: int, ratio: float) -> str:
    from empathylab.analysis.text.apa import counted, listed
    from empathylab.analysis.text.numbers import number

    whole = counted(size, "situation")
    kept = "1 was kept" if matched.n == 1 else f"{number(matched.n, 0)} were kept"
    return (
        f"Of the {whole} of {name}, {kept}, where {listed(list(matched.respondents))} replied at "
        f"about the same length (the longest reply at most {number(ratio, 2)} times as many words "
        f"as the shortest). {_imbalance(matched.imbalance_before, matched.imbalance)}"
    )


def _imbalance(before: float, after: float) -> str:
    """What the choice did to the largest standardised difference in length."""
    from empathylab.analysis.text.numbers import number

    what = "The largest standardised difference in length between respondents"
    if not math.isfinite(after):
        return (
            f"{what} cannot be computed: there are too few situations, or a respondent's replies "
            "all have the same length."
        )
    if not math.isfinite(before):
        return f"{what} is {number(after, 2)}; it cannot be computed for the whole set."
    if after < before:
        return f"{what} fell from {number(before, 2)} to {number(after, 2)}."
    if after == before:
        return f"{what} is {number(after, 2)}, as it was before."
    return (
        f"{what} did not fall: it was {number(before, 2)} before and is {number(after, 2)} now. A "
        "smaller --ratio may help."
    )
