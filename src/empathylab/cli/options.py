"""Options that several commands share."""

from __future__ import annotations

import contextlib
import functools
import inspect
import signal
import threading
import typing
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.api.run_options import RunOptions

if TYPE_CHECKING:
    from empathylab.api.lab import Lab

DEFAULT_LAB = Path("lab")
TableFormat = Literal["markdown", "latex", "csv"]


def option(text: str, *names: str, **settings: Any) -> Any:
    """An option with this help; `names` where it is not called as its parameter."""
    return typer.Option(*names, help=text, **settings)


def argument(text: str, **settings: Any) -> Any:
    """An argument with this help."""
    return typer.Argument(help=text, **settings)


def table_option(what: str) -> Any:
    """The option of commands that can print one table alone."""
    return option(f"Print only {what}, in this format.")


def panel(title: str) -> Callable[..., Any]:
    """`option` for the options that the command's help shows below a title."""
    return functools.partial(option, rich_help_panel=title)


column_option = functools.partial(option, metavar="COLUMN")
file_option = functools.partial(option, metavar="FILE")
folder_option = functools.partial(option, metavar="DIR")
LabOption = Annotated[
    Path, option("The lab's folder.", "--lab", envvar="EMPATHYLAB_LAB", show_envvar=True)
]
JsonOption = Annotated[bool, option("Print the results as JSON.", "--json")]
StudyOption = Annotated[str | None, option("The study. Default: the only one in the lab.")]
PeekOption = Annotated[
    str | None,
    option(
        "Show results of a study of this lab before it is closed. The audit log records the "
        "reason.",
        metavar="REASON",
    ),
]

ModeOption = Annotated[
    Literal["structured", "free", "logprob"],
    option(
        "How scales are answered: as a JSON object, as text that is parsed, or as a JSON object "
        "with the probabilities of its answers."
    ),
]

TrackOption = Annotated[
    Literal["mlflow", "wandb"] | None,
    option(
        "Also log settings, results with intervals and the report to this experiment tracker. "
        "Needs empathylab[mlflow] or empathylab[wandb]."
    ),
]
ConfidenceOption = Annotated[
    float, option("Confidence level of the intervals.", min=0.5, max=0.999)
]
PortOption = Annotated[int, option("The port to listen on; 0 for any free port.", min=0, max=65535)]
WordsOption = Annotated[bool, option("Print only the methods and results paragraphs.", "--words")]
OpenOption = Annotated[bool, option("Open the report in the browser.", "--open")]
ReportOption = Annotated[
    bool, option("Write the report at the end, as `empathylab report` does.", "--report")
]
LanguageOption = Annotated[
    str | None,
    option(
        "Ask in this language: prompts in en, de, es, fr, ja, ko or zh, situations in de and zh. "
        "Other situations, and scales, come from the lab: their ID ends with the language code.",
        metavar="CODE",
    ),
]


_engine_option = functools.partial(
    option, envvar="EMPATHYLAB_ENGINE", metavar="ENGINE", show_envvar=True
)
_workers_option = functools.partial(option, envvar="EMPATHYLAB_WORKERS", min=1, show_envvar=True)
EngineOption = Annotated[
    str | None,
    _engine_option(
        "Where long computations run: processes (on this machine), ray, or ray://host:port. The "
        "results are the same. Ray needs empathylab[ray]."
    ),
]
WorkersOption = Annotated[
    int | None,
    _workers_option("Number of workers. Default: one per core, if the work is long enough."),
]

_endpoint_option = panel("The endpoint")
_LIMITS = "Speed and cost"
_limits_option = panel(_LIMITS)


def add_commands(app: typer.Typer, *modules: ModuleType) -> None:
    """Adds the command of each module, which has the module's name; its class may be `COMMAND`."""
    for module in modules:
        name = module.__name__.rpartition(".")[2]
        kind = getattr(module, "COMMAND", None)
        app.command(name, cls=kind, epilog=module.EXAMPLE)(getattr(module, name))


def command_lab(folder: Path) -> Lab:
    """The lab for the command line; audit logs and errors name it so."""
    from empathylab.api.lab import Lab

    return Lab(folder, interface="command line")


def scale_points(levels: str | None) -> list[str | float] | None:
    """The points of a scale in an option, as numbers where all are, else as words."""
    if levels is None:
        return None
    words = [word.strip() for word in levels.split(",") if word.strip()]
    try:
        return [float(word) for word in words]
    except ValueError:
        return list(words)


class _RunOptions:
    """What every command that asks models understands: the keywords of the Python interface."""

    lab: LabOption
    temperature: Annotated[
        float | None,
        option(
            "The model's temperature. Default: 0 for scales and judges, 0.7 for replies.", min=0.0
        ),
    ]
    seed: Annotated[int, option("Seed of every shuffle, and of the model.")]
    fresh: Annotated[
        bool,
        option(
            "Ask everything again, in new runs. Without it, the same command asks only what is "
            "missing, and answers at temperature 0 are reused.",
            "--fresh",
        ),
    ]
    base_url: Annotated[
        str | None,
        _endpoint_option(
            "Another OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1.", metavar="URL"
        ),
    ]
    api_key_env: Annotated[
        str | None,
        _endpoint_option(
            "The environment variable that holds the models' API key.", metavar="NAME"
        ),
    ]
    api: Annotated[
        Literal["openai", "anthropic", "gemini"] | None,
        _endpoint_option(
            "The API of the endpoint. Default with --base-url: the OpenAI-compatible API."
        ),
    ]
    max_tokens: Annotated[
        int | None,
        _endpoint_option(
            "Maximum output tokens, including reasoning. Default: a few hundred, and more for "
            "models that are known to reason.",
            min=1,
        ),
    ]
    reasoning_effort: Annotated[
        Literal["none", "minimal", "low", "medium", "high"] | None,
        _endpoint_option("How much the model reasons before it answers."),
    ]
    param: Annotated[
        list[str] | None,
        _endpoint_option(
            "An extra setting, as the endpoint names it; repeatable.", metavar="KEY=VALUE"
        ),
    ]
    omit: Annotated[
        str | None,
        _endpoint_option("Settings not to send, such as seed,temperature.", metavar="NAMES"),
    ]
    timeout: Annotated[float, _endpoint_option("Timeout of a request, in seconds.")]
    attempts: Annotated[int, _endpoint_option("Maximum attempts when the endpoint fails.")]
    batch: Annotated[
        bool,
        _limits_option(
            "Send the requests through the provider's batch API: half the price, answered within a "
            "day. You can interrupt the command, and run it again to fetch the answers.",
            "--batch",
        ),
    ]
    shard: Annotated[
        str | None,
        _limits_option(
            "Send only this part of the requests, such as 3/8; run the same command on other "
            "machines for the others. Needs a lab on PostgreSQL.",
            metavar="NUMBER/COUNT",
        ),
    ]
    concurrency: Annotated[int | None, _limits_option("Parallel requests per model.")]
    requests_per_minute: Annotated[
        float | None, _limits_option("Maximum number of requests per minute, per model.")
    ]
    tokens_per_minute: Annotated[
        float | None, _limits_option("Maximum number of tokens per minute, per model.")
    ]
    max_total_tokens: Annotated[
        int | None,
        _limits_option(
            "Stop before a model's runs use more tokens than this, including earlier sessions."
        ),
    ]
    max_cost: Annotated[
        float | None,
        _limits_option(
            "Stop before a model's runs cost more than this, including earlier sessions.",
            metavar="DOLLARS",
        ),
    ]
    prices: Annotated[
        Path | None,
        _limits_option("A price table (TOML) that overrides the built-in one.", metavar="FILE"),
    ]
    engine: Annotated[
        str | None,
        _engine_option(
            "Where local models and long computations run: processes (on this machine), ray, or "
            "ray://host:port. Ray needs empathylab[ray].",
            rich_help_panel=_LIMITS,
        ),
    ]
    workers: Annotated[
        int | None,
        _workers_option(
            "Copies of a local model on a Ray cluster. Default: one per GPU, or one per node if "
            "there is no GPU.",
            rich_help_panel=_LIMITS,
        ),
    ]


class Terminated(KeyboardInterrupt):
    """SIGTERM, with which CI systems and containers stop a command."""

    exit_code = 128 + signal.SIGTERM


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM interrupts like Ctrl-C, so that a command that is stopped says so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    terminated = threading.Event()

    def interrupt(_number: int, frame: FrameType | None) -> None:
        terminated.set()
        own = signal.getsignal(signal.SIGINT)  # an event loop has its own; a background job none
        (own if callable(own) else signal.default_int_handler)(signal.SIGINT, frame)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt as error:
        if terminated.is_set():
            raise Terminated from error
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def with_run_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with the lab and the run options in place of its parameters `lab` and `run`."""
    return _with_options(command, {}, {})


def with_options_of(call: Callable[..., Any], described: type) -> Callable[..., Any]:
    """Gives a command the options of a call, too; it gets them all as `options`.

    `described` says what those of the call mean on the command line. Their names and defaults are
    the call's own.
    """
    own = typing.get_type_hints(described, include_extras=True)
    defaults = {name: inspect.signature(call).parameters[name].default for name in own}
    return functools.partial(_with_options, own=own, defaults=defaults)


def _with_options(
    command: Callable[..., None], own: dict[str, Any], defaults: dict[str, Any]
) -> Callable[..., None]:
    shared = typing.get_type_hints(_RunOptions, include_extras=True)
    hints = typing.get_type_hints(command, include_extras=True)
    several = {
        name for name, default in defaults.items() if default in ((), inspect.Parameter.empty)
    }
    known = defaults | dict.fromkeys(several)  # a list of options has None in place of an empty one
    known |= {option.name: option.default for option in fields(RunOptions)}
    known |= {"lab": DEFAULT_LAB, "param": None, "omit": None, "engine": None, "workers": None}
    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
        for parameter in inspect.signature(command).parameters.values()
        if parameter.name not in ("lab", "run", "options")
    ]
    arguments = [parameter for parameter in parameters if parameter.default is parameter.empty]
    parameters = [
        *arguments,
        *(_option(name, annotation, known) for name, annotation in own.items()),
        *(parameter for parameter in parameters if parameter not in arguments),
        *(_option(name, annotation, known) for name, annotation in shared.items()),
    ]

    @functools.wraps(command)
    def wrapper(**given: Any) -> None:
        from empathylab.compute import choose

        options = {name: given.pop(name) for name in (*own, *shared)}
        options |= {name: options[name] or () for name in several}
        lab = options.pop("lab")
        choose(options.pop("engine"), options.pop("workers"))
        with _terminable():
            command(**given, lab=lab, **{"options" if own else "run": _keywords(options)})

    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return wrapper


def _option(name: str, annotation: Any, defaults: dict[str, Any]) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=defaults[name], annotation=annotation)


def _keywords(options: dict[str, Any]) -> dict[str, Any]:
    """The options as `Lab.evaluate` and the other calls take them."""
    from empathylab.models import RequestOptions

    read = RequestOptions.read(param=options["param"] or (), omit=options["omit"])
    return options | {"param": read.extra, "omit": sorted(read.omit)}
