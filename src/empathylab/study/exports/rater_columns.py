"""Columns of the exported table `raters` that only some studies have."""

from __future__ import annotations

from empathylab.table_specs import ColumnSpec

SIGNAL_NOTE = "Evidence, not proof; empty: the study does not record it, or it was not observed"

FAILED_ATTENTION = ColumnSpec(
    "failed_attention", "whole number", "How many attention checks they failed"
)
"""A column of `raters` that studies with attention checks have."""

SIGNALS = (
    ColumnSpec("pastes", "whole number", f"How often they pasted into an answer. {SIGNAL_NOTE}"),
    ColumnSpec(
        "even_typing", "whole number", f"1: the intervals between keys hardly vary. {SIGNAL_NOTE}"
    ),
    ColumnSpec(
        "hidden_field",
        "whole number",
        f"1: a field was filled in that people cannot see. {SIGNAL_NOTE}",
    ),
    ColumnSpec(
        "instant_pages", "whole number", "How many pages they answered in less than a second"
    ),
)
"""Columns of `raters` that studies with `signals: true` have."""

LIVE = (
    ColumnSpec("author", "text", "Who replied to the participant, by the name in the study file"),
    ColumnSpec("label", "text", "What the participant read about the author"),
    ColumnSpec(
        "reply_outcome",
        "text",
        "Whether the participant saw the author's replies only, or the fallback",
        "valid; fallback",
    ),
)
"""Columns of `raters` that studies with live replies have."""

FOLLOW_UP = (
    ColumnSpec("first_participant", "text", "The participant in the study that is followed up"),
    ColumnSpec("days_after", "number", "Days since they finished that study"),
)
"""Columns of `raters` that follow-ups have, beside those of the first study (`first_…`)."""
