"""Vector-valued random effects: their structure, their matrix and how it is solved."""
