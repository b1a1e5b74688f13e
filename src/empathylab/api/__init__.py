"""The Python interface, which the command line calls too; `import empathylab` shows its names."""

from empathylab.api.lab import Lab, open_lab
from empathylab.api.run_options import RunOptions
from empathylab.api.studies import load_study
from empathylab.api.tables import Table, from_table
from empathylab.frames import to_pandas

__all__ = [
    "Lab",
    "RunOptions",
    "Table",
    "from_table",
    "load_study",
    "open_lab",
    "to_pandas",
]
