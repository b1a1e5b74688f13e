"""The replication package: data, script, tables, versions and checksums."""
