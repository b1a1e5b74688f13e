"""Recruitment: invitations, and data from Prolific and MTurk about their participants."""
