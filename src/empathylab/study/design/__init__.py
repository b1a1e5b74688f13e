"""The study file: reading, checking, planning, previewing."""
