"""How sources of samples become rows, and rows the fields of samples."""
