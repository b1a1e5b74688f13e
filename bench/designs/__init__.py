"""The simulated designs of `error_rates.py`, by topic."""
