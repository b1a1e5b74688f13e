"""What leaves a lab: tables with a dictionary, Psych-DS data sets, replication packages."""

from empathylab.export.folders import ExportedLab, WrittenFile, export_lab
from empathylab.export.lab_tables import LabTables, lab_tables
from empathylab.export.reading import exported_tables, read_exported

__all__ = [
    "ExportedLab",
    "LabTables",
    "WrittenFile",
    "export_lab",
    "exported_tables",
    "lab_tables",
    "read_exported",
]
