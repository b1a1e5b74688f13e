"""The steps from an empty database to today's schema, numbered `0001`, `0002` …"""

from __future__ import annotations

# The newest step; a test compares it with the files in versions/.
HEAD = "0019"
