"""What may be wrong with a gold set: checks over its rows, each finding with a row, a reason and a fix. Pure."""
