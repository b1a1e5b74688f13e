"""Conversations: a model talks with a person whom another model simulates."""
