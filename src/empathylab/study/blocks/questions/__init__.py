"""Question types: one module each, behind the interface `Question`."""
