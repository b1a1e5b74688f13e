"""`empathylab study serve`: a study on the network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import (
    DEFAULT_LAB,
    JsonOption,
    LabOption,
    PortOption,
    argument,
    option,
    panel,
)
from empathylab.cli.tables import print_json
from empathylab.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from empathylab.store import Lab
    from empathylab.study import Study

EXAMPLE = (
    "Example: `empathylab study serve my-study.yaml` · `empathylab study serve my-study --workers "
    "4 --behind-proxy --public-url https://lab.example.org/study`"
)
_proxy_option = panel("Behind a proxy")
_NEEDED = ("argon2", "markdown_it", "starlette", "uvicorn")


WorkersOption = Annotated[int, option("Server processes; several need PostgreSQL.", min=1, max=64)]
YesOption = Annotated[bool, option("Launch even if text in [[double brackets]] is left.", "--yes")]


def serve(
    study: Annotated[
        str,
        argument("A study's file, to launch and serve; or a launched study.", metavar="FILE|NAME"),
    ],
    host: Annotated[str, option("The address to listen on.")] = "127.0.0.1",
    port: PortOption = 8000,
    workers: WorkersOption = 1,
    yes: YesOption = False,
    json_logs: Annotated[
        bool | None,
        option(
            "Write one JSON line per request to stderr. Default: only if stderr is not a terminal.",
            "--json-logs/--no-json-logs",
        ),
    ] = None,
    behind_proxy: Annotated[
        bool,
        _proxy_option(
            "Trust X-Forwarded-Proto and X-Forwarded-For, from a proxy on this machine only.",
            "--behind-proxy",
        ),
    ] = False,
    proxy: Annotated[
        list[str] | None,
        _proxy_option(
            "Trust this proxy or network, instead of this machine's; repeatable.", metavar="ADDRESS"
        ),
    ] = None,
    public_url: Annotated[
        str | None, _proxy_option("The address that raters see, for links.", metavar="URL")
    ] = None,
    root_path: Annotated[
        str | None,
        _proxy_option(
            "The path that the proxy removes. Default: that of --public-url.", metavar="PATH"
        ),
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Serves a study: prints its links and accepts raters until you stop it.

    A study file is launched first: from then on, what raters see is frozen, and changes need a new
    version. On SIGTERM or Ctrl-C, the server finishes answers that are being saved.
    """
    require_extra()
    from empathylab.study.session.service import StudyService
    from empathylab.study.web.serving import (
        Serving,
        checked_proxies,
        delete_expired,
        listening,
        serve_study,
    )

    proxies = checked_proxies(proxy or []) if behind_proxy or proxy else ()
    _check_public_url(public_url, proxied=bool(proxies))
    root = _root_path(root_path, public_url)
    definition = _definition(study)
    with _open(lab, definition) as opened:
        _refuse_many_on_sqlite(opened, workers)
        listener = listening(host, port)
        try:
            name = study if definition is None else _launched(opened, definition, study, yes=yes)
            service = StudyService(opened, name)
            _require_models(service.study)
            base = (public_url or _address(host, listener.getsockname()[1]) + root).rstrip("/")
            serving = Serving(
                folder=lab,
                study=service.study,
                secret=service.launched.secret,
                proxies=proxies,
                root_path=root,
                log_requests=not sys.stderr.isatty() if json_logs is None else json_logs,
                public_url=base,
            )
            delete_expired(serving)
            links = _links(opened, service, base)
        except BaseException:
            listener.close()
            raise
    _print(links, as_json=json)
    _warn(links, host, proxied=bool(proxies))
    serve_study(serving, listener, workers=workers)
    typer.echo("Stopped. All answers are kept. Run the same command again to resume.", err=True)


def _require_models(study: Study) -> None:
    """Raises where a model that answers participants cannot be asked, such as without a key."""
    if study.live is not None:
        from empathylab.study.live.engine import open_author

        for author in study.live.authors.values():
            if author.model is not None:
                open_author(author)


def require_extra() -> None:
    """Raises where a package is missing without which no page can be served."""
    import importlib.util

    for package in _NEEDED:
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(package, "study", "A study on the network")


def _definition(given: str) -> Study | None:
    """The study of a file; None where the name of a launched one was given."""
    from empathylab.study import read_study

    path = Path(given)
    if path.suffix in (".yaml", ".yml") or path.is_file() or len(path.parts) > 1:
        return read_study(path)
    return None


def _open(lab: Path, definition: Study | None) -> Lab:
    from empathylab.store import Lab, has_lab

    if definition is not None and not has_lab(lab):
        from empathylab.study.design.checks import check_study

        # A study that cannot be launched must not leave a new lab behind.
        problems = check_study(definition).plan.problems
        if problems:
            raise InputError(
                "the study cannot be launched: " + " ".join(problems).removesuffix("."),
                where=f"study {definition.name}",
                remedy="Run `empathylab study check FILE` for the whole plan.",
            )
        return Lab.open(lab)
    return Lab.open(lab, create=False)


def _launched(lab: Lab, study: Study, file: str, *, yes: bool) -> str:
    """The name of the study, launched now or before."""
    from empathylab.cli.study.preregister import record_beside
    from empathylab.store.inserts import now
    from empathylab.store.studies.records import find_study
    from empathylab.study.design.planning import unfilled_texts
    from empathylab.study.session.service import launch

    with lab.reading() as connection:
        before = find_study(connection, study.name, study.version)
    unfilled = unfilled_texts(study)
    if before is None and unfilled and not yes:
        raise InputError(
            "text in [[double brackets]] is not filled in yet",
            where=Path(file).name,
            got=", ".join(unfilled),
            remedy="Fill it in, or pass --yes to show it to raters unchanged.",
        )
    name = launch(lab, study, now=now(), who=operator())
    if record_beside(lab, study, Path(file)):
        typer.echo("The preregistration beside the file is recorded with the study.", err=True)
    if before is None:
        typer.echo(
            f"Launched {name}, version {study.version}. What raters see is frozen from now on.",
            err=True,
        )
    return f"{name}@{study.version}"


def _refuse_many_on_sqlite(lab: Lab, workers: int) -> None:
    if workers > 1 and lab.engine.dialect.name == "sqlite":
        raise InputError(
            "several server processes need a lab on PostgreSQL",
            where="--workers",
            got=workers,
            remedy="Omit --workers (one process serves hundreds of raters), or set "
            "EMPATHYLAB_DATABASE_URL.",
        )


def _root_path(given: str | None, public_url: str | None) -> str:
    from urllib.parse import urlsplit

    path = urlsplit(public_url or "").path if given is None else given
    path = path.rstrip("/")
    if path and (not path.startswith("/") or not path.isascii() or {"?", "#", " "} & set(path)):
        raise InputError(
            "this must be a path that begins with a slash",
            where="--root-path",
            got=path,
            remedy="For example: /study.",
        )
    return path


def _check_public_url(given: str | None, *, proxied: bool) -> None:
    from urllib.parse import urlsplit

    if given is None:
        return
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise InputError(
            "this must be an address without parameters",
            where="--public-url",
            got=given,
            remedy="For example: https://lab.example.org/study.",
        )
    if parts.scheme == "https" and not proxied:
        raise InputError(
            "an https address needs a proxy that handles TLS",
            where="--public-url",
            got=given,
            remedy="Add --behind-proxy; docs/how-to/deploy-a-study.md shows the proxy's settings.",
        )


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host)  # noqa: S104 - only to be read
    return f"http://{shown or (f'[{host}]' if ':' in host else host)}:{port}"


def _links(lab: Lab, service: Any, base: str) -> dict[str, Any]:
    """What a researcher needs to know once the study is served."""
    from empathylab.store.studies.records import launched_study
    from empathylab.study.web.recruitment import VISIT, visit_token

    study = service.study
    name = f"{study.name}@{study.version}"
    with lab.reading() as connection:
        row = launched_study(connection, name)
    return {
        "study": study.name,
        "version": study.version,
        "status": row.status,
        "protocol_hash": row.protocol_hash,
        "platform": study.recruitment.platform,
        "address": base,
        "rater_link": base + _link(study),
        "test_link": f"{base}/?{VISIT}={visit_token('test', service.launched.secret)}",
        "console_link": _console_link(lab, base),
    }


_LINKS = {
    "open": "/",
    "prolific": "/?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}"
    "&SESSION_ID={{%SESSION_ID%}}",
    "mturk": "/",
    "sona": "/?survey_code=%SURVEY_CODE%",
    "invitation": "/?invitation=…",
}
"""As each platform wants it written, with its placeholders."""


def _link(study: Study) -> str:
    """The link with placeholders for what it says about the person."""
    from urllib.parse import quote

    from empathylab.study.assignment.quotas import link_traits

    link = _LINKS[study.recruitment.platform]
    for name in link_traits(study):
        link += f"{'&' if '?' in link else '?'}{quote(name, safe='')}=…"
    return link


_HINTS = {
    "prolific": "Copy the rater link into Prolific as it is: Prolific fills in the placeholders.",
    "mturk": "Give the rater link as the ExternalURL of an external question; MTurk adds the rest.",
    "sona": "Copy the rater link into SONA as it is: SONA fills in the code.",
    "invitation": "Each participant needs their own link: empathylab study invite {study}",
}


def _console_link(lab: Lab, base: str) -> str | None:
    try:
        from empathylab.study.web.console import first_link
    except ImportError:
        return None
    return first_link(lab, base, renew=False) or f"{base}/console"


def _print(links: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(links, indent=None)
        sys.stdout.flush()  # the caller waits for this line
        return
    typer.echo(f"{links['study']}, version {links['version']}: {links['status']}")
    typer.echo(f"Protocol  {links['protocol_hash']}")
    typer.echo(f"Raters    {links['rater_link']}")
    typer.echo(f"Test      {links['test_link']}")
    if links["console_link"]:
        typer.echo(f"Console   {links['console_link']}")
    sys.stdout.flush()


def _warn(links: dict[str, Any], host: str, *, proxied: bool) -> None:
    hint = _HINTS.get(links["platform"])
    if hint:
        typer.echo(hint.format(study=links["study"]), err=True)
    if links["rater_link"].count("=…") > (links["platform"] == "invitation"):
        typer.echo(
            "Quotas use what the link says: replace each … with one of the quota's groups, and "
            "give each group its own link.",
            err=True,
        )
    if links["status"] != "open":
        typer.echo(f"The study is {links['status']}: it accepts no new participants.", err=True)
    if host not in ("127.0.0.1", "::1", "localhost") and not proxied:
        typer.echo(
            "Without TLS, others on the network can read everything. For participants elsewhere, "
            "use a proxy with TLS (docs/how-to/deploy-a-study.md).",
            err=True,
        )
    if links["console_link"] and "?link=" not in links["console_link"]:
        typer.echo(
            "The link for the first account is printed once. For a new one: empathylab study "
            f"console-link {links['study']}",
            err=True,
        )
    typer.echo("Stop with Ctrl-C.", err=True)
