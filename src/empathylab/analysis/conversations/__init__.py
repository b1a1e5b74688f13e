"""Conversations: how people, simulated or real, feel in the course of a talk."""

from empathylab.analysis.conversations.analysis import (
    ConversationsAnalysis,
    from_lab,
    from_table,
    report_conversations,
)

__all__ = ["ConversationsAnalysis", "from_lab", "from_table", "report_conversations"]
