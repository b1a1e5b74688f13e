"""`empathylab data import`: published files and users' own into the lab."""

from __future__ import annotations

import typer

from empathylab.cli.data.imports import (
    conversations,
    interchange,
    rated_responses,
    recipients,
    situations,
    study,
)

app = typer.Typer(
    no_args_is_help=True,
    help="Imports files into the lab.",
    epilog="Example: `empathylab data import situations mine.csv`",
)
app.command("welivita", epilog=rated_responses.WELIVITA_EXAMPLE)(rated_responses.welivita)
app.command("empatheticdialogues", epilog=rated_responses.DIALOGUES_EXAMPLE)(
    rated_responses.empatheticdialogues
)
app.command("posts", epilog=rated_responses.POSTS_EXAMPLE)(rated_responses.posts)
app.command("responses", epilog=rated_responses.RESPONSES_EXAMPLE)(rated_responses.responses)
app.command("ratings", epilog=rated_responses.RATINGS_EXAMPLE)(rated_responses.ratings)
app.command("recipients", epilog=recipients.EXAMPLE)(recipients.recipients)
app.command("study", epilog=study.EXAMPLE)(study.study)
app.command("emotionbench", epilog=situations.EMOTIONBENCH_EXAMPLE)(situations.emotionbench)
app.command("situations", epilog=situations.SITUATIONS_EXAMPLE)(situations.situations)
app.command("sage", epilog=conversations.SAGE_EXAMPLE)(conversations.sage)
app.command("conversations", epilog=conversations.CONVERSATIONS_EXAMPLE)(
    conversations.conversations
)
app.command("inspect", epilog=interchange.INSPECT_EXAMPLE)(interchange.inspect)
app.command("huggingface", epilog=interchange.HUGGINGFACE_EXAMPLE)(interchange.huggingface)
