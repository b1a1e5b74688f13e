"""The whole lab in one result: who was measured, and what the main findings are."""
