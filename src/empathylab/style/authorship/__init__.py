"""Whether the author can be identified from the text."""
