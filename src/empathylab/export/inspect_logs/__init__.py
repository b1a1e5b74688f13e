"""Runs as logs of Inspect AI, and logs as runs."""
