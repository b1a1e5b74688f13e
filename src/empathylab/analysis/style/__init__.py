"""How respondents write, from a lab or a table."""
