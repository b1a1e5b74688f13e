"""Tactics of empathic language, sentence by sentence."""
