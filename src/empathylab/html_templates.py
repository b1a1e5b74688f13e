"""The one way in which templates of pages become HTML: values escaped, undefined names refused."""

from __future__ import annotations

from importlib.resources import files

import jinja2


def template_environment(loader: jinja2.BaseLoader) -> jinja2.Environment:
    """The environment of the templates that the loader finds."""
    return jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def package_templates(package: str) -> jinja2.DictLoader:
    """The templates in the folder `templates` of a package and of EmpathyLab, by file name."""
    folders = [files(name).joinpath("templates") for name in ("empathylab", package)]
    found = [file for folder in folders for file in folder.iterdir() if file.name.endswith(".j2")]
    return jinja2.DictLoader({file.name: file.read_text(encoding="utf-8") for file in found})


def turn_style() -> bytes:
    """The style of `turns.html.j2`, for the end of a page's style sheet."""
    return files("empathylab").joinpath("templates", "turns.css").read_bytes()
