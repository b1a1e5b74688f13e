"""Evaluations: by scales, replies and judges, or against the human ratings of a study."""
