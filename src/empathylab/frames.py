"""Frames of other libraries: pandas in, pandas out, without a further package between them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from empathylab.errors import InputError, MissingExtra

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

P = ParamSpec("P")
R = TypeVar("R")


def to_polars(data: Any) -> pl.DataFrame:
    """The data as a Polars frame: a pandas or Polars frame, a dictionary of columns, or rows."""
    import polars as pl

    if isinstance(data, pl.DataFrame):
        return data
    if isinstance(data, pl.LazyFrame):
        return data.collect()
    if _is_pandas(data, "DataFrame"):
        # Ratings are often spread over an index; what has a name is a column.
        named = [name for name in data.index.names if name is not None]
        table = data.reset_index(level=named) if named else data
        return pl.DataFrame([_series(str(name), table[name]) for name in table.columns])
    if isinstance(data, Mapping | Sequence) and not isinstance(data, str | bytes):
        return pl.DataFrame(data, infer_schema_length=None)
    raise InputError(
        "this is not a table",
        got=type(data).__name__,
        remedy="Give a Polars or pandas frame, a dictionary of columns, or a list of rows.",
    )


def to_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """The frame as a pandas frame; missing values become NaN, NaT or None.

    Polars' own method needs pyarrow; this one does not.

    >>> import polars as pl
    >>> to_pandas(pl.DataFrame({"arm": ["a", "b"], "mean": [1.5, None]}))["mean"].isna().tolist()
    [False, True]
    """
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise MissingExtra("pandas", "pandas", "A pandas frame") from error
    import polars as pl

    columns = {}
    for name in frame.columns:
        series = frame[name]
        if series.null_count() and series.dtype.is_integer():
            series = series.cast(pl.Float64)
        columns[name] = pd.Series(series.to_list(), dtype=_pandas_type(series.dtype))
    return pd.DataFrame(columns, index=range(frame.height))


def accepting_pandas(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which then takes pandas frames and series where it takes Polars'."""

    @functools.wraps(function)
    def wrapper(*given: P.args, **named: P.kwargs) -> R:
        arguments: Any = [_converted(value) for value in given]
        keywords: Any = {name: _converted(value) for name, value in named.items()}
        return function(*arguments, **keywords)

    return wrapper


def _converted(value: Any) -> Any:
    if _is_pandas(value, "DataFrame"):
        return to_polars(value)
    return _series(str(value.name), value) if _is_pandas(value, "Series") else value


def _is_pandas(value: Any, kind: str) -> bool:
    """Without an import: who does not use pandas does not wait for it."""
    return type(value).__module__.partition(".")[0] == "pandas" and type(value).__name__ == kind


def _series(name: str, column: Any) -> pl.Series:
    import polars as pl

    values = column.astype(object).where(column.notna(), None).tolist()
    try:
        return pl.Series(name, values)
    except (TypeError, pl.exceptions.PolarsError) as error:
        kinds = sorted({type(value).__name__ for value in values if value is not None})
        raise InputError(
            "a column has values of several kinds",
            where=f"column {name!r}",
            got=", ".join(kinds),
            remedy="Convert them to one kind, such as numbers or text.",
        ) from error


def _pandas_type(dtype: Any) -> str | None:
    if dtype.is_temporal():
        return None
    return {"Boolean": None, "String": "object"}.get(str(dtype)) if not dtype.is_numeric() else None
