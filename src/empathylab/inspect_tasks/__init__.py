"""EmpathyLab inside Inspect AI: tasks, scorers, its models, and runs as logs.

Inspect finds `registry` by the package's entry point; nothing here loads Inspect before it is used.
"""

__all__: list[str] = []
