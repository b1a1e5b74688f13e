"""What changed between two labs, or between two dates of one."""
