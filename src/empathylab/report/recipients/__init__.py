"""What recipients of replies say, as the report shows it."""
