"""Conversations on the report's page."""
