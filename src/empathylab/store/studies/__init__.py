"""Studies in the database: participants, slots, answers, results."""
