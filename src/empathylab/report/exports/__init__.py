"""What leaves a lab: tables with a dictionary, Psych-DS data sets, replication packages."""

from empathylab.report.exports.exporting import ExportedLab, WrittenFile, export_lab
from empathylab.report.exports.lab_tables import LabTables, lab_tables
from empathylab.report.exports.reading import exported_tables, read_exported

__all__ = [
    "ExportedLab",
    "LabTables",
    "WrittenFile",
    "export_lab",
    "exported_tables",
    "lab_tables",
    "read_exported",
]
