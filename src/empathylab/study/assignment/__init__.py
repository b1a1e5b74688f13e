"""Who gets which arm and which replies: pure decisions from seeds and counts."""
