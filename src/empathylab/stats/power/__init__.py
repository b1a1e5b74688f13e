"""Sample size and power, by formula and by simulation."""
