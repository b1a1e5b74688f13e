"""Files that users import: what came from which file."""
