"""`empathylab analyze style`: how each respondent writes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.api.run_options import RunOptions
from empathylab.cli.options import (
    DEFAULT_LAB,
    EngineOption,
    JsonOption,
    LabOption,
    TableFormat,
    WordsOption,
    WorkersOption,
    argument,
    file_option,
    folder_option,
    option,
    panel,
    table_option,
)
from empathylab.cli.tables import print_formatted, print_json, print_notes, print_titled
from empathylab.columns import numbers
from empathylab.errors import InputError
from empathylab.tables import TableParts, column_named, read_table

if TYPE_CHECKING:
    import polars as pl

    from empathylab.analysis.style import StyleResult

EXAMPLE = (
    "Example: `empathylab analyze style replies.csv --json` · "
    "`empathylab analyze style --against human --figures figures`"
)

_MOST_DIFFERENCES = 12
_columns_option = panel("The file's columns")
_tagger_option = panel("A model as tagger")


def _write_lists(folder: Path | None) -> None:
    if folder is None:
        return
    from empathylab.style import write_builtin_lists

    try:
        written = write_builtin_lists(folder)
    except OSError as error:
        raise _unwritable("word lists", "--write-lists", folder, error) from None
    for path in written:
        typer.echo(path)
    raise typer.Exit


def style(
    file: Annotated[
        Path | None,
        argument(
            "CSV, JSONL or Parquet with one response per row. Default: the lab's responses.",
            metavar="FILE",
        ),
    ] = None,
    dictionary: Annotated[
        list[Path] | None,
        file_option(
            "Also count these words: LIWC's format (.dic), or one word per line (.txt); repeatable."
        ),
    ] = None,
    lists: Annotated[
        Path | None,
        folder_option(
            "A folder with your own word lists (hedges.txt …), which replace built-in lists of the "
            "same name."
        ),
    ] = None,
    write_lists: Annotated[
        Path | None,
        folder_option(
            "Only write the built-in word lists and tactic rules to this folder, so that you can "
            "edit them.",
            callback=_write_lists,
            is_eager=True,
        ),
    ] = None,
    tactics: Annotated[
        Path | None, file_option("Your own tactic rules, instead of the built-in ones.")
    ] = None,
    tactic_labels: Annotated[
        Path | None,
        file_option(
            "Responses with tactics coded by people (columns respondent, text and tactics), to "
            "correct for tagging errors."
        ),
    ] = None,
    against: Annotated[
        str | None,
        option(
            "Compare the others with this respondent. Default: all pairs, and each with the rest.",
            metavar="RESPONDENT",
        ),
    ] = None,
    folds: Annotated[
        int, option("Folds of the cross-validation that identifies authors.", min=2)
    ] = 5,
    predict: Annotated[
        bool, option("Identify authors. Takes most of the time.", "--predict/--no-predict")
    ] = True,
    seed: Annotated[int, option("Seed of every random draw.")] = 1,
    figures: Annotated[
        Path | None,
        folder_option("Write the charts to this folder, as PNG, SVG and Vega-Lite JSON."),
    ] = None,
    respondent_column: Annotated[
        str, _columns_option("The column with the author.", metavar="NAME")
    ] = "respondent",
    situation_column: Annotated[
        str, _columns_option("The column with the situation.", metavar="NAME")
    ] = "situation",
    text_column: Annotated[
        str, _columns_option("The column with the text.", metavar="NAME")
    ] = "text",
    rating_column: Annotated[
        str | None,
        _columns_option("The column with the rating: a number, higher is better.", metavar="NAME"),
    ] = None,
    tagger: Annotated[
        str | None,
        _tagger_option(
            "Let this model tag the tactics of each sentence, instead of the rules. The lab stores "
            "its answers.",
            metavar="MODEL",
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        _tagger_option("The address of another OpenAI-compatible endpoint.", metavar="URL"),
    ] = None,
    api_key_env: Annotated[
        str | None,
        _tagger_option("The environment variable that holds the API key.", metavar="NAME"),
    ] = None,
    max_total_tokens: Annotated[
        int | None, _tagger_option("Stop before the tagger uses more tokens than this.")
    ] = None,
    words: WordsOption = False,
    table: Annotated[TableFormat | None, table_option("the table of features")] = None,
    engine: EngineOption = None,
    workers: WorkersOption = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Describes how respondents write, and how well authors can be identified.

    Compares length, punctuation, emoji, words, readability and sentiment, with the situation as the
    unit of the tests. Lists distinctive words and phrases, tests whether the author can be
    identified from the text, and tags tactics of empathic language, templates and repetition. If
    there are ratings, shows which features are associated with higher ones.
    """
    from empathylab.analysis.style import Depth
    from empathylab.compute import choose
    from empathylab.style import by_rules, read_lexicon, tactic_rules
    from empathylab.style import tactic_labels as as_labels

    choose(engine, workers)
    options: dict[str, Any] = {
        "dictionaries": [read_lexicon(path) for path in dictionary or ()],
        "lists": lists,
        "against": against,
        "folds": folds,
        "seed": seed,
        "depth": Depth(predict=predict),
    }
    rules = tactic_rules(tactics)
    if tactics is not None:
        options |= {"tagger": by_rules(rules), "tagger_name": tactics.name}
    if tactic_labels is not None:
        options["tactic_labels"] = as_labels(
            read_table(tactic_labels), rules.names, where=tactic_labels.name
        )
    columns = {
        "respondent": respondent_column,
        "situation": situation_column,
        "text": text_column,
    }
    run = RunOptions(base_url=base_url, api_key_env=api_key_env, max_total_tokens=max_total_tokens)
    with _tagging(tagger, lab, run, create=file is not None) as tagging:
        options |= tagging
        if file is None:
            result = _of_lab(lab, options)
        else:
            result = _of_file(file, columns, rating_column, options)
    if figures is not None:
        _write_figures(result, figures)
    _show(result, words=words, table=table, json=json)


@contextlib.contextmanager
def _tagging(
    name: str | None, lab: Path, run: RunOptions, *, create: bool
) -> Iterator[dict[str, Any]]:
    """The options of an analysis with a model as tagger; none without a name.

    Afterwards it says what the model left open, and ends where tags are missing: half of them
    would give wrong numbers.
    """
    if name is None:
        yield {}
        return
    from empathylab.api.progress import Reporter
    from empathylab.api.sessions import Sessions
    from empathylab.cli.model_runs import conclude
    from empathylab.protocols.tagging import ModelTagger
    from empathylab.store import Lab

    [model] = run.open_models([name])
    with Lab.open(lab, create=create) as opened, Reporter().runs() as observe:
        tagger = ModelTagger(opened, model, run.limits(), observe)
        yield {"tagger": tagger, "tagger_name": model.name}
    if tagger.unread:
        typer.echo(
            f"{tagger.unread} answers of {model.name} could not be read; their sentences count as "
            "having no tactic.",
            err=True,
        )
    conclude(Sessions(tuple(tagger.tallies), run))


def _of_lab(folder: Path, options: dict[str, Any]) -> StyleResult:
    from empathylab.analysis import style as analysis
    from empathylab.store import Lab

    with Lab.open_to_analyse(folder) as opened:
        return analysis.from_lab(opened, **options)


def _of_file(
    path: Path, columns: dict[str, str], rating: str | None, options: dict[str, Any]
) -> StyleResult:
    import polars as pl

    from empathylab.analysis import style as analysis

    named = {f"--{role}-column": column for role, column in columns.items()}
    if rating is not None:
        named["--rating-column"] = rating
    parts = []
    for part in TableParts(path):
        for option_name, column in named.items():
            column_named(part, column, where=path.name, option=option_name)
        # Other columns would only take memory.
        kept = [name for name in part.columns if name in (*named.values(), "sample")]
        parts.append(part.select(kept))
    frame = pl.concat(parts)
    ratings = None if rating is None else _ratings(frame, columns, rating, path)
    options |= columns
    return analysis.from_table(frame, ratings=ratings, **options)


def _ratings(frame: pl.DataFrame, columns: dict[str, str], rating: str, path: Path) -> pl.DataFrame:
    """Each row's rating, by its respondent and situation (and sample, where there is one)."""
    import polars as pl

    named = {role: columns[role] for role in ("respondent", "situation")}
    if "sample" in frame.columns:
        named["sample"] = "sample"
    return frame.select(
        *(pl.col(column).alias(role) for role, column in named.items()),
        numbers(frame, rating, where=path.name).alias("rating"),
    )


def _unwritable(what: str, option: str, folder: Path, error: OSError) -> InputError:
    return InputError(
        f"the {what} cannot be written",
        where=option,
        got=f"{folder}: {error.strerror or error}",
        remedy="Name a folder that can be written to.",
    )


def _write_figures(result: StyleResult, folder: Path) -> None:
    from empathylab.report.style.figures import write_figures

    try:
        written = write_figures(result.estimates, folder)
    except OSError as error:
        raise _unwritable("figures", "--figures", folder, error) from error
    typer.echo(f"{len(written)} files written to {folder}", err=True)


def _show(result: StyleResult, *, words: bool, table: str | None, json: bool) -> None:
    if json:
        print_json(result.to_dict())
    elif words:
        from empathylab.analysis.style.prose import paragraphs

        typer.echo("\n\n".join(paragraphs(result.estimates)))
    elif table is not None:
        from empathylab.analysis.style.tables import feature_rows, feature_values

        # A spreadsheet wants numbers, a paper cells with intervals.
        estimates = result.estimates
        rows = feature_values(estimates) if table == "csv" else feature_rows(estimates)
        caption = "Features per response, means with 95% intervals"
        print_formatted(rows, table, caption=caption)
    else:
        _print(result)


def _print(result: StyleResult) -> None:
    from empathylab.analysis.style.feature_titles import main_features
    from empathylab.analysis.style.prose import distinctive_sentences, rated_sentence
    from empathylab.analysis.style.tables import (
        ACCURACY,
        CORRECTED,
        classification_rows,
        corrected_tactic_rows,
        difference_rows,
        overview_rows,
        reuse_rows,
        tactic_accuracy_rows,
        tactic_rows,
    )

    estimates = result.estimates
    _print_rows("Per response", overview_rows(estimates))
    pairs = len(
        {(difference.respondent, difference.against) for difference in estimates.differences}
    )
    most = max(2, _MOST_DIFFERENCES // max(1, pairs))
    _print_rows("Largest differences", difference_rows(estimates, most))
    for sentence in distinctive_sentences(estimates, 10):
        typer.echo(f"\n{sentence}")
    _print_rows("Can the author be identified?", classification_rows(estimates))
    _print_rows("Responses that use a tactic, as tagged", tactic_rows(estimates))
    _print_rows(CORRECTED, corrected_tactic_rows(estimates))
    _print_rows(ACCURACY, tactic_accuracy_rows(estimates))
    _print_rows("Repetition", reuse_rows(estimates))
    titles = main_features(estimates)
    for rated in estimates.rated:
        typer.echo(f"\n{rated_sentence(rated, titles)}")
    print_notes(result.caveats)


def _print_rows(title: str, rows: list[dict[str, str]]) -> None:
    print_titled(title, rows, as_named=[name for row in rows[:1] for name in row])
