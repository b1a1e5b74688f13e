"""Where numbers become conclusions: one result per topic, which everything else renders."""
