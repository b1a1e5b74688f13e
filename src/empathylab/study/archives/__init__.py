"""Studies as one file: frozen, hashed, and readable by another lab."""

from empathylab.study.archives.members import Archive, read_archive, write_archive
from empathylab.study.archives.packing import pack_study
from empathylab.study.archives.unpacking import ImportedArchive, unpack_study

__all__ = [
    "Archive",
    "ImportedArchive",
    "pack_study",
    "read_archive",
    "unpack_study",
    "write_archive",
]
