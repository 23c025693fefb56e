"""Exports: a run as a file, an object, or something another system holds. One file an exporter, found by its name."""
