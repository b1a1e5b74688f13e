"""Questionnaires: change scores, reliability, consistency, validity of self-reports."""
