"""One participant's way through a study: pages, answers, completion."""
