"""Many participants, one transaction: writes that wait for the disk together."""
