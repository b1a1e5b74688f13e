"""The features of style: one row per response."""
